import { expect, test } from 'vitest';
import { appendEvent, eventsOf } from '../../src/log/old/append.ts';
import { dueReverts } from '../../src/log/old/change-due.ts';
import { markRevertPlanned } from '../../src/log/old/changes.ts';
import { workflowJobs } from '../../src/workflow/old/maintenance.ts';
import { ENGINES, type Engine, freshDatabase } from '../storage/engines.ts';
import { elsewhere, minutes, NOON, stored } from '../storage/example-change.ts';
import { operatorsNotices } from '../storage/notices.ts';
import { tamper } from '../storage/tamper.ts';
import { createTestContext } from './context.ts';

const KEY = Buffer.alloc(32, 7);
const outcome = { how: 'succeeded', at: NOON, tookMs: 1, requestId: null, reported: [] } as const;

/** A change with a time to revert and the mark that its revert is planned. */
async function marked(engine: Engine = 'sqlite') {
  const { context } = await createTestContext();
  const database = await freshDatabase(engine);
  const own = { ...context, database, auditKey: KEY, now: () => NOON };
  const parent = elsewhere({ state: 'succeeded', outcome, revertAt: minutes(30) });
  await stored(database, parent);
  await database.transaction((tx) => markRevertPlanned(tx, parent.id, NOON));
  const check = () =>
    workflowJobs(own)
      .find(({ name }) => name === 'check reverts')
      ?.work();
  const due = () => dueReverts(database.db, { limit: 9 });
  return { database, parent, check, due };
}

test.for(ENGINES)(
  'the revert of a change that was marked in the database on %s is planned, and operators are notified once',
  async (engine) => {
    const { database, parent, check, due } = await marked(engine);
    expect(await due()).toEqual([]);
    await check();
    expect(await due()).toEqual([parent.id]);
    await check();
    const kinds = (await eventsOf(database.db, parent.id)).map(({ kind }) => kind);
    expect(kinds).toEqual(['revert-mark-removed']);
    expect(await operatorsNotices(database)).toEqual([
      expect.stringContaining(`The revert of change ${parent.id} was marked as planned`),
    ]);
  },
);

test.for<[string, 'kept' | 'removed', { hasRow: boolean; isForged: boolean }]>([
  ['the signed event of the revert', 'kept', { hasRow: true, isForged: false }],
  ['the signed event of a deleted revert', 'kept', { hasRow: false, isForged: false }],
  ['an event that was modified to name it', 'removed', { hasRow: true, isForged: true }],
])('a mark with %s is %s', async ([, result, { hasRow, isForged }]) => {
  const { database, parent, check, due } = await marked();
  const revert = elsewhere({ state: 'approved', parent: parent.id });
  if (hasRow) await stored(database, revert);
  const body = { by: 'signalbox', parent: isForged ? 'ANOTHER' : parent.id };
  const event = { kind: 'planned-return', changeId: revert.id, version: 1, at: NOON, body };
  await database.transaction((tx) => appendEvent(tx, KEY, event));
  await tamper(database, `update audit_event set body = replace(body, 'ANOTHER', '${parent.id}')`);
  await check();
  expect(await due()).toEqual(result === 'removed' ? [parent.id] : []);
});

test('a revert row without an event is reported once', async () => {
  const { database, parent, check } = await marked();
  await stored(database, elsewhere({ state: 'cancelled', parent: parent.id }));
  await check();
  await database.transaction((tx) => markRevertPlanned(tx, parent.id, NOON));
  await check();
  expect(await operatorsNotices(database)).toHaveLength(1);
});
