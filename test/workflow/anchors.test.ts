import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Answer } from '../../src/domain/answer.ts';
import type { ChannelId } from '../../src/domain/change.ts';
import { anchorLine } from '../../src/log/old/anchor.ts';
import { appendEvent, auditHead } from '../../src/log/old/append.ts';
import { openCheckpoint } from '../../src/storage/old/checkpoint.ts';
import { anchorDaily, anchorHourly, postedAnchors } from '../../src/workflow/old/anchors.ts';
import { deliver } from '../../src/workflow/old/deliver.ts';
import type { Messenger } from '../../src/workflow/old/messenger-port.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { createTrail } from '../../src/workflow/old/trail.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';
import { NOON } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const CHANNEL = '#db-audit';

async function worldWithChannel() {
  const { context, clock } = await createTestContext();
  const posted: Answer[] = [];
  const messenger: Partial<Messenger> = {
    findChannels: async ([name = '']) => {
      const room = { id: 'C0AUDIT' as ChannelId, name, outside: false, joined: true };
      return new Map([[name, { ok: true, room }]]);
    },
    postToChannel: async (channel, answer) => {
      posted.push(answer);
      return { ok: true, at: { channel, ts: `${posted.length}.0` } };
    },
  };
  // The other calls are not reached by an anchor.
  const own: WorkflowContext = { ...context, messenger: messenger as Messenger };
  return { context: own, clock, posted };
}

test('the end of the trail is posted once per day by two replicas', async () => {
  const { context, clock, posted } = await worldWithChannel();
  const replicas = [context, { ...context, instance: 'another' }];
  const look = async () => {
    await Promise.all(replicas.map((one) => anchorDaily(one, CHANNEL)));
    for (const one of replicas) await deliver(one);
  };
  await look();
  await look();
  expect(posted).toHaveLength(1);
  expect(JSON.stringify(posted[0])).toContain(`audit 0 ${'0'.repeat(64)}`);

  // Nothing happened meanwhile, and it is said all the same.
  clock.now = new Date(clock.now.getTime() + 86_400_000);
  await look();
  expect(posted).toHaveLength(2);
  expect(posted[1]?.title).toBe('Audit trail on 2026-08-15');
});

test('a stored anchor starts its delivery at once, and only then', async () => {
  const { context } = await worldWithChannel();
  let wakes = 0;
  const counted = {
    ...context,
    wake: () => {
      wakes += 1;
    },
  };
  await anchorDaily(counted, CHANNEL);
  expect(wakes).toBe(1);
  await anchorDaily(counted, CHANNEL);
  expect(wakes).toBe(1);
});

test('without an audit channel nothing is posted', async () => {
  const { context, posted } = await worldWithChannel();
  await anchorDaily(context, null);
  await deliver(context);
  expect(posted).toEqual([]);
});

const KEY = Buffer.alloc(32, 7);
const OLD = { installation: null };
const end = { seq: 1234, hash: 'ab'.repeat(32), ...OLD };
const earlier = { seq: 12, hash: 'cd'.repeat(32), ...OLD };
const posted = (line: string) => `Audit trail on 2026-08-14\n${line}`;

/** Reads anchors from a channel with these texts of Signalbox, newest first. */
async function lastOf(texts: readonly string[], auditKey: Buffer | null = KEY) {
  const findOwnMessages = async (pattern: RegExp) => {
    return { ok: true, texts: texts.filter((text) => pattern.test(text)) } as const;
  };
  const read = await postedAnchors({ findOwnMessages }, auditKey);
  return read.ok ? read.anchors[0] : read;
}

test.for<[string, readonly string[], Buffer | null]>([
  ['the newest', [posted(anchorLine(end, KEY))], KEY],
  ['unsigned, without a key', [posted(anchorLine(end, null))], null],
  ['the highest of several', [earlier, end].map((head) => posted(anchorLine(head, KEY))), KEY],
  [
    'the highest although an older one was posted again',
    [earlier, end, earlier].map((head) => posted(anchorLine(head, KEY))),
    KEY,
  ],
])('the last anchor is %s', async ([, texts, key]) => {
  expect(await lastOf(texts, key)).toEqual(end);
});

const forged = { seq: 9999, hash: 'ef'.repeat(32), ...OLD };
const named = { ...end, installation: '77'.repeat(8) };

test.for<[string, string]>([
  ['has no signature', posted(anchorLine(forged, null))],
  ['is signed with another key', posted(anchorLine(forged, Buffer.alloc(32, 8)))],
  ['has the signature of another event', posted(anchorLine(end, KEY).replace('1234', '9999'))],
  [
    'has the signature of another installation',
    posted(anchorLine({ ...named, seq: 9999 }, KEY).replace('77', '88')),
  ],
  ['stands in a reason', `Break-glass by Ana\n${posted(anchorLine(forged, KEY))}`],
  ['is followed by other text', `${posted(anchorLine(forged, KEY))} and more`],
  ['is in the middle of a message', `x\n${posted(anchorLine(forged, KEY))}\ny`],
])('an anchor that %s does not count', async ([, text]) => {
  expect(await lastOf([text, posted(anchorLine(end, KEY))])).toEqual(end);
});

test('an anchor names its installation', async () => {
  expect(await lastOf([posted(anchorLine(named, KEY))])).toEqual(named);
  expect(await lastOf([posted(anchorLine(named, null))], null)).toEqual(named);
});

test('an audit channel that cannot be read is not a channel without anchors', async () => {
  const closed = { ok: false, why: 'missing_scope', passing: false } as const;
  const messenger = { findOwnMessages: async () => closed };
  expect(await postedAnchors(messenger, KEY)).toEqual(closed);
});

test('the end of the trail is logged and written to the checkpoint every hour', async () => {
  const { context } = await worldWithChannel();
  const url = await freshUrl('sqlite');
  const path = url.slice('file:'.length);
  const database = await openForTest(url);
  const trail = createTrail({ ...context, database });
  const logged: unknown[] = [];
  // Only this one of pino's methods is called.
  const log = { info: (facts: unknown) => logged.push(facts) } as unknown as WorkflowContext['log'];
  await database.transaction((tx) => appendEvent(tx, null, { kind: 'x', at: NOON, body: {} }));
  await anchorHourly({ ...context, database, trail, log });

  const end = await auditHead(database.db);
  expect(logged).toEqual([end]);
  expect(readFileSync(`${path}.head`, 'utf8')).toBe(`1 ${end.hash}\n`);
  expect(statSync(`${path}.head`).mode & 0o777).toBe(0o600);
  expect(openCheckpoint(path).read()).toEqual(end);
});

test('an unreadable checkpoint is an error', async () => {
  const url = await freshUrl('sqlite');
  const path = url.slice('file:'.length);
  expect(openCheckpoint(path).read()).toBeNull();
  writeFileSync(`${path}.head`, '12 ab');
  expect(() => openCheckpoint(path).read()).toThrow('signalbox audit restored');
});
