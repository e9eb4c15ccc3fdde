import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Change } from '../../src/domain/change.ts';
import { eventsOf } from '../../src/log/old/append.ts';
import { loadChange } from '../../src/log/old/changes.ts';
import { claimDueClicks, storeClick } from '../../src/log/old/inbox.ts';
import { lockHolder, lockTarget, writePermit } from '../../src/log/old/permits.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { expireDue, recover, stopOutdated, takeOver } from '../../src/workflow/old/recover.ts';
import { aChange, elsewhere, minutes, NOON, STAGING, stored } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';
import { recordSpans } from './recorded-spans.ts';

/** A context whose log is an array of the change ids and messages of errors. */
async function recoveryContext() {
  const { context: base, clock } = await createTestContext();
  const logged: unknown[] = [];
  const write = (line: string) => {
    const { change, kind, msg } = JSON.parse(line);
    logged.push([change, kind, msg]);
  };
  const context: WorkflowContext = { ...base, log: pino({ level: 'warn' }, { write }) };
  const stateOf = async ({ id }: Change) => (await loadChange(context.database.db, id))?.state;
  return { context, clock, logged, stateOf };
}

function executing(over: Partial<Change> = {}): Change {
  return elsewhere({ state: 'executing', lease: { owner: 'other', until: minutes(2) }, ...over });
}

const makeUnreadable = ({ database }: WorkflowContext, { id }: Change) =>
  database.transaction((tx) =>
    sql`update change set plan = 'no plan' where id = ${id}`.execute(tx),
  );

test('a change that cannot be read does not delay the next one, and is logged', async () => {
  const { context, clock, logged, stateOf } = await recoveryContext();
  const broken = elsewhere({ createdAt: minutes(-2), expiresAt: minutes(1) });
  const sound = elsewhere({ createdAt: minutes(-1), expiresAt: minutes(1) });
  await stored(context.database, broken, sound);
  await makeUnreadable(context, broken);
  clock.now = minutes(2);
  expect(await expireDue(context)).toBe(1);
  expect(await stateOf(sound)).toBe('expired');
  expect(logged).toEqual([[broken.id, 'expired', 'change could not be moved; it is tried again']]);
});

test('an execution becomes unknown when its lease ends, and its target stays locked', async () => {
  const { context, clock, stateOf } = await recoveryContext();
  const { database } = context;
  const change = executing({ plan: aChange().plan });
  await stored(database, change);
  await database.transaction(async (tx) => {
    await lockTarget(tx, STAGING, change.id, NOON);
    await writePermit(tx, { changeId: change.id, single: false, owner: 'other', at: NOON });
  });
  clock.now = new Date(minutes(2).getTime() - 1);
  expect(await recover(context)).toBe(0);
  expect(await stateOf(change)).toBe('executing');

  clock.now = minutes(2);
  expect(await recover(context)).toBe(1);
  expect(await stateOf(change)).toBe('unknown');
  expect(await eventsOf(database.db, change.id)).toMatchObject([
    { kind: 'unknown', from: 'executing', to: 'unknown', body: { by: 'signalbox' } },
  ]);
  const permits = await database.db.selectFrom('send_permit').select('outcome').execute();
  expect(permits).toEqual([{ outcome: 'unknown' }]);
  expect(await lockHolder(database.db, STAGING)).toBe(change.id);
});

test('an open permit of a change that expires stays open', async () => {
  const { context, clock } = await recoveryContext();
  const { database } = context;
  const change = elsewhere({ state: 'approved', expiresAt: minutes(1) });
  await stored(database, change);
  await database.transaction((tx) =>
    writePermit(tx, { changeId: change.id, single: false, owner: 'other', at: NOON }),
  );
  clock.now = minutes(1);
  expect(await expireDue(context)).toBe(1);
  expect(await eventsOf(database.db, change.id)).toMatchObject([
    { kind: 'expired', from: 'approved', to: 'expired', body: { by: 'signalbox' } },
  ]);
  const permits = await database.db.selectFrom('send_permit').select('outcome').execute();
  expect(permits).toEqual([{ outcome: null }]);
});

test('a change whose clock shows an earlier time again is left to the next pass', async () => {
  const { context, logged, stateOf } = await recoveryContext();
  const change = executing();
  await stored(context.database, change);
  const times = [minutes(3), minutes(1)];
  await recover({ ...context, now: () => times.shift() ?? minutes(1) });
  expect(await stateOf(change)).toBe('executing');
  expect(await eventsOf(context.database.db, change.id)).toEqual([]);
  expect(logged).toEqual([]);
});

test('a start records each execution that it takes over, and closes its permit', async () => {
  const { context } = await recoveryContext();
  const { database } = context;
  const change = executing();
  await stored(database, change);
  await database.transaction((tx) =>
    writePermit(tx, { changeId: change.id, single: false, owner: 'other', at: NOON }),
  );
  const { named } = recordSpans();
  await takeOver(context);
  expect(await eventsOf(database.db, change.id)).toMatchObject([
    { kind: 'unknown', to: 'unknown', body: { by: 'signalbox' } },
  ]);
  const permits = await database.db.selectFrom('send_permit').select('outcome').execute();
  expect(permits).toEqual([{ outcome: 'unknown' }]);
  const facts = { 'signalbox.change': change.id, 'signalbox.to': 'unknown' };
  expect(named('sweep')).toMatchObject([{ facts }]);
});

test('a start takes over every execution of the previous process, whatever its lease', async () => {
  const { context, logged, stateOf } = await recoveryContext();
  const changes = Array.from({ length: 52 }, (_, n) => executing({ createdAt: minutes(-n) }));
  await stored(context.database, ...changes);
  await takeOver(context);
  for (const change of changes) expect(await stateOf(change)).toBe('unknown');
  expect(logged).toEqual([]);
});

test('a start does not wait for an execution that cannot be read', async () => {
  const { context, logged, stateOf } = await recoveryContext();
  const [broken, sound] = [executing(), executing()];
  await stored(context.database, broken, sound);
  await makeUnreadable(context, broken);
  await takeOver(context);
  expect(await stateOf(sound)).toBe('unknown');
  expect(logged).toHaveLength(1);
});

test('a start takes over the clicks that the previous process was handling', async () => {
  const { context } = await recoveryContext();
  const { database } = context;
  const claim = (owner: string) =>
    database.transaction((tx) =>
      claimDueClicks(tx, null, { owner, now: NOON, leaseMs: 10_000, limit: 9 }),
    );
  await database.transaction((tx) =>
    storeClick(tx, { signing: null }, { key: 'a', kind: 'click', body: {}, at: NOON }),
  );
  await claim('crashed');
  expect(await claim('tests')).toEqual([]);
  await takeOver(context);
  expect(await claim('tests')).toHaveLength(1);
});

test('an open change of release 1.0 becomes stale', async () => {
  const { context, stateOf } = await recoveryContext();
  const [outdated, current] = [elsewhere({ digest: 'a digest of release 1.0' }), elsewhere()];
  await stored(context.database, outdated, current);
  expect(await stopOutdated(context)).toBe(1);
  expect(await loadChange(context.database.db, outdated.id)).toMatchObject({
    state: 'stale',
    stopReason: 'upgraded',
  });
  expect(await eventsOf(context.database.db, outdated.id)).toMatchObject([
    { kind: 'stale', body: { by: 'signalbox' } },
  ]);
  expect(await stateOf(current)).toBe('pending');
});
