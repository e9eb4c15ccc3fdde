import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import type { ChangeId } from '../../src/domain/change.ts';
import { appendEvent, listEvents } from '../../src/log/old/append.ts';
import { storeClick } from '../../src/log/old/inbox.ts';
import { receiveClick } from '../../src/workflow/old/click.ts';
import { handleInbox } from '../../src/workflow/old/handle-inbox.ts';
import { receiveIncidentClick } from '../../src/workflow/old/incident-click.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { aChange, ben, stored } from '../storage/example-change.ts';
import { operatorsNotices, userNotices } from '../storage/notices.ts';
import { createTestContext } from './context.ts';
import { ignoredMeasures } from './ignored-measures.ts';

const nowhere = { url: null, channel: null, ts: null, thread: null };
const replyTo = { ...nowhere, user: ben, replaces: false, home: false };

/** A workflow in which no click can be handled, because of a defect. */
async function broken() {
  const { context, clock } = await createTestContext();
  const logged: { msg: string; [field: string]: unknown }[] = [];
  const refused: string[] = [];
  const fail = async () => {
    throw new Error('a defect');
  };
  const own: WorkflowContext = {
    ...context,
    people: { ...context.people, identify: fail },
    incidents: { ...context.incidents, press: fail },
    measures: { ...ignoredMeasures, refused: (reason) => void refused.push(reason) },
    log: pino({ level: 'error' }, { write: (line) => void logged.push(JSON.parse(line)) }),
  };
  /** Runs the loop every 5 s; returns the events and notices afterwards. */
  const attempt = async (times: number) => {
    for (let n = 0; n < times; n += 1) {
      await handleInbox(own);
      clock.now = new Date(clock.now.getTime() + 5_000);
    }
    const events = await listEvents(own.database.db, { afterSeq: 0, limit: 10 });
    return { events, notices: await userNotices(own.database) };
  };
  return { context: own, logged, refused, attempt };
}

test('a click that fails ten times is reported to its user, recorded, logged and counted', async () => {
  const { context, logged, refused, attempt } = await broken();
  const change = aChange();
  await stored(context.database, change);
  const click = { verb: 'approve', change: change.id, by: ben, text: '', replyTo } as const;
  await receiveClick(context, 'key 1', click);
  expect(await attempt(9)).toEqual({ events: [], notices: [] });

  const { events, notices } = await attempt(20);
  expect(notices).toEqual([
    `UBEN: Your click “approve” on ${change.id} had no effect: an internal error occurred ` +
      '10 times. Press the button again. If that fails, ask an operator.',
  ]);
  expect(events).toMatchObject([
    {
      kind: 'click-failed',
      changeId: change.id,
      version: null,
      body: {
        by: 'UBEN',
        tried: 'approve',
        did: 'pressed “approve”, which failed and had no effect',
      },
    },
  ]);
  const lost = logged.filter(({ msg }) => msg === 'click was given up');
  expect(lost).toMatchObject([{ key: 'key 1', change: change.id, attempts: 10 }]);
  expect(refused).toEqual(['click-failed']);
  const messages = await context.database.db.selectFrom('outbox').select('body').execute();
  expect(messages.map(({ body }) => JSON.parse(body ?? '{}').title)).toEqual(['Click failed']);
});

test.for<[string, JsonObject, object, string[]]>([
  [
    'nothing else',
    { by: ben },
    { by: 'UBEN', tried: 'click' },
    ['UBEN: Your click “click” on a message had no effect'],
  ],
  [
    'its request id',
    { by: ben, verb: 'approve', change: 'K3M9QD', request: 'req-1' },
    { by: 'UBEN', tried: 'approve' },
    ['UBEN: Your click “approve” on K3M9QD had no effect'],
  ],
  ['no user', { verb: 7, by: null, id: 8 }, { by: null, tried: 'click' }, []],
])('an unreadable click with %s is reported as far as possible', async (row) => {
  const [, body, recorded, expected] = row;
  const { context, attempt } = await broken();
  const click = { key: 'key 1', kind: 'click', body, at: context.now() };
  await context.database.transaction((tx) => storeClick(tx, { signing: null }, click));
  const { events, notices } = await attempt(10);
  expect(notices).toEqual(expected.map((text) => expect.stringContaining(text)));
  expect(await operatorsNotices(context.database)).toEqual([]);
  for (const notice of notices)
    expect(notice.endsWith(' Reference: req-1')).toBe('request' in body);
  expect(events).toMatchObject([{ kind: 'click-failed', body: recorded }]);
  expect(events[0]?.body).not.toHaveProperty('anomaly');
  expect(events[0]?.changeId ?? null).toBe(body.change ?? null);
});

test('a failing click on an anomaly is reported as well', async () => {
  const { context, attempt } = await broken();
  const press = { verb: 'expected', id: 'anomaly 1', by: ben, key: 'key 1' } as const;
  await receiveIncidentClick(context, press, replyTo);
  const { events, notices } = await attempt(10);
  expect(notices).toEqual([
    expect.stringContaining('Your click “expected” on anomaly 1 had no effect'),
  ]);
  expect(events).toMatchObject([
    { changeId: null, body: { tried: 'expected', anomaly: 'anomaly 1' } },
  ]);
});

test('a click that was handled before an error of its tenth attempt is not reported', async () => {
  const { context, attempt, logged, refused } = await broken();
  const change = aChange({ id: 'CHANGE' as ChangeId });
  await stored(context.database, change);
  const click = { verb: 'approve', change: change.id, by: ben, text: '', replyTo } as const;
  await receiveClick(context, 'key 1', click);
  await attempt(9);
  const identify: WorkflowContext['people']['identify'] = async () => {
    await context.database.transaction(async (tx) => {
      const handled = { handled_at: context.now().toISOString(), body: null };
      await tx.updateTable('inbox').set(handled).execute();
      await appendEvent(tx, null, { kind: 'approved', at: context.now(), body: { by: ben } });
    });
    throw new Error('the answer failed');
  };
  await handleInbox({ ...context, people: { ...context.people, identify } });
  const { events, notices } = await attempt(1);
  expect(notices).toEqual([]);
  expect(events.map(({ kind }) => kind)).toEqual(['approved']);
  expect(logged.map(({ msg }) => msg)).not.toContain('click was given up');
  expect(refused).toEqual([]);
});
