import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { listEvents } from '../../src/log/old/append.ts';
import { storeClick } from '../../src/log/old/inbox.ts';
import { clickKeys } from '../../src/log/old/verify-click.ts';
import { handleInbox } from '../../src/workflow/old/handle-inbox.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { ENGINES, type Engine, freshDatabase } from '../storage/engines.ts';
import { ben, minutes, NOON } from '../storage/example-change.ts';
import { operatorsNotices, userNotices } from '../storage/notices.ts';
import { createTestContext } from './context.ts';
import { ignoredMeasures } from './ignored-measures.ts';

const KEY = Buffer.alloc(32, 7);
const APPROVE: JsonObject = { verb: 'approve', change: 'K3M9QD', by: ben, text: '' };

/** A workflow whose log and counters are recorded, and a way to put clicks into its inbox. */
async function inboxOf(engine: Engine) {
  const { context: base, clock } = await createTestContext();
  const database = await freshDatabase(engine);
  const logged: string[] = [];
  const refused: string[] = [];
  const pressed: string[] = [];
  const context: WorkflowContext = {
    ...base,
    database,
    auditKey: KEY,
    measures: { ...ignoredMeasures, refused: (reason) => void refused.push(reason) },
    log: pino({ level: 'error' }, { write: (line) => void logged.push(JSON.parse(line).problem) }),
    incidents: {
      ...base.incidents,
      press: async ({ id }) => {
        pressed.push(id);
        return { ok: true, answer: { title: '', parts: [] } };
      },
    },
    messenger: { ...base.messenger, answerIncidentClick: async () => undefined },
  };
  /** Stores a click as an attacker without the key, or as this Signalbox. */
  const put = (click: { key?: string; kind?: string; body?: JsonObject; by?: 'signalbox' }) =>
    database.transaction(async (tx) => {
      const { key = 'a', kind = 'click', body = APPROVE } = click;
      const keys = await clickKeys(tx, click.by ? KEY : null, clock.now);
      return storeClick(tx, keys, { key, kind, body, at: clock.now });
    });
  const events = () => listEvents(database.db, { afterSeq: 0, limit: 100 });
  const isRetired = async () => {
    const rows = await database.db.selectFrom('inbox').selectAll().execute();
    return rows.every(({ handled_at, body }) => handled_at !== null && body === null);
  };
  const notices = async () => [await userNotices(database), await operatorsNotices(database)];
  return { context, clock, database, put, events, isRetired, notices, logged, refused, pressed };
}

test.for(ENGINES)(
  'a click without a signature has no effect and is reported on %s',
  async (engine) => {
    const { context, put, events, isRetired, notices, logged, refused } = await inboxOf(engine);
    await put({});
    await handleInbox(context);
    expect(await events()).toMatchObject([
      {
        kind: 'click-unverified',
        changeId: 'K3M9QD',
        version: null,
        body: {
          by: 'signalbox',
          tried: 'approve',
          did: 'rejected a stored click “approve” that has no signature',
        },
      },
    ]);
    expect(await notices()).toEqual([
      [
        'UBEN: Your click “approve” on K3M9QD had no effect: Signalbox could not verify it. If you ' +
          'pressed the button, press it again. If you did not, inform an operator.',
      ],
      [expect.stringContaining('A stored click has no signature, so Signalbox did not handle it.')],
    ]);
    expect([logged, refused]).toEqual([['unsigned'], ['click-unverified']]);
    expect(await isRetired()).toBe(true);
    expect(await handleInbox(context)).toBe(0);
  },
);

test.for(ENGINES)('a modified click has no effect and is reported on %s', async (engine) => {
  const { context, database, put, events, isRetired, notices, logged } = await inboxOf(engine);
  await put({ by: 'signalbox' });
  const body = JSON.stringify({ ...APPROVE, change: 'OTHER1' });
  await database.transaction((tx) => tx.updateTable('inbox').set({ body }).execute());
  await handleInbox(context);
  expect(await events()).toMatchObject([{ kind: 'click-unverified', changeId: 'OTHER1' }]);
  expect((await notices())[1]).toEqual([expect.stringContaining('has a wrong signature')]);
  expect(logged).toEqual(['signature-differs']);
  expect(await isRetired()).toBe(true);
});

test.for(ENGINES)(
  'a click on an anomaly without a signature has no effect on %s',
  async (engine) => {
    const { context, put, events, notices, pressed } = await inboxOf(engine);
    const replyTo = { url: null, user: ben, channel: null, replaces: false };
    const body = { verb: 'expected', id: 'anomaly 1', by: ben, replyTo };
    await put({ key: 'forged', kind: 'incident', body });
    await put({
      key: 'real',
      kind: 'incident',
      body: { ...body, id: 'anomaly 2' },
      by: 'signalbox',
    });
    await handleInbox(context);
    expect(pressed).toEqual(['anomaly 2']);
    expect(await events()).toMatchObject([{ body: { tried: 'expected', anomaly: 'anomaly 1' } }]);
    expect((await notices())[0]).toEqual([
      expect.stringContaining('UBEN: Your click “expected” on anomaly 1 had no effect'),
    ]);
  },
);

test.for(ENGINES)(
  'the operators get one report in an hour, not one for each click, on %s',
  async (engine) => {
    const { context, clock, put, events, notices, refused } = await inboxOf(engine);
    for (let n = 0; n < 10; n += 1) await put({ key: `key ${n}` });
    await handleInbox(context);
    await handleInbox(context);
    expect([(await events()).length, refused.length]).toEqual([10, 10]);
    expect((await notices())[1]).toHaveLength(1);
    clock.now = minutes(59);
    await put({ key: 'later' });
    await handleInbox(context);
    expect((await notices())[1]).toHaveLength(1);
    clock.now = minutes(60);
    await put({ key: 'an hour later' });
    await handleInbox(context);
    expect((await notices())[1]).toHaveLength(2);
  },
);

test('a report whose commit failed is made with the next attempt', async () => {
  const { context, clock, put, notices } = await inboxOf('sqlite');
  await put({});
  const calls = { count: 0 };
  const transaction: WorkflowContext['database']['transaction'] = (work) => {
    calls.count += 1;
    if (calls.count === 2) return Promise.reject(new Error('the database is unavailable'));
    return context.database.transaction(work);
  };
  const failing = { ...context, database: { ...context.database, transaction } };
  await handleInbox(failing);
  expect((await notices())[1]).toEqual([]);
  clock.now = new Date(NOON.getTime() + 5_000);
  await handleInbox(failing);
  expect((await notices())[1]).toHaveLength(1);
});

test.for(ENGINES)(
  'a click that was stored more than an hour ago has no effect on %s',
  async (engine) => {
    const { context, clock, put, events, isRetired, notices, refused } = await inboxOf(engine);
    await put({ by: 'signalbox' });
    clock.now = minutes(61);
    await handleInbox(context);
    expect(await events()).toMatchObject([
      {
        kind: 'click-expired',
        body: { by: ben, did: 'pressed “approve”, which expired and had no effect' },
      },
    ]);
    expect(await notices()).toEqual([
      [
        'UBEN: Your click “approve” on K3M9QD had no effect: Signalbox could not handle it within ' +
          '1 hour. Press the button again.',
      ],
      [],
    ]);
    expect(refused).toEqual(['click-expired']);
    expect(await isRetired()).toBe(true);
  },
);

test('a forged click sends no message to a channel, and its texts are cut', async () => {
  const { context, put, events, notices } = await inboxOf('sqlite');
  await put({ body: { verb: 'x'.repeat(5_000), change: 'y'.repeat(5_000), by: 'C0123ABCD' } });
  await handleInbox(context);
  expect((await notices())[0]).toEqual([]);
  const [event] = await events();
  expect([event?.changeId, event?.body.tried]).toEqual(['y'.repeat(60), 'x'.repeat(60)]);
});

test('one unreadable click is reported, and the next one is handled', async () => {
  const { context, database, put, notices, pressed } = await inboxOf('sqlite');
  const replyTo = { url: null, user: ben, channel: null, replaces: false };
  const unkeyed = { ...context, auditKey: null };
  await put({ key: 'bad' });
  await put({
    key: 'good',
    kind: 'incident',
    body: { verb: 'expected', id: '1', by: ben, replyTo },
  });
  await database.transaction((tx) =>
    tx.updateTable('inbox').set({ body: '{half' }).where('dedup_key', '=', 'bad').execute(),
  );
  await handleInbox(unkeyed);
  expect(pressed).toEqual(['1']);
  expect(await notices()).toEqual([[], [expect.stringContaining('A stored click cannot be read')]]);
});
