import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { ChangeId } from '../../src/domain/change.ts';
import { listEvents } from '../../src/log/old/append.ts';
import { insertFreeze } from '../../src/log/old/freezes.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { currentPolicy } from '../../src/workflow/old/current-policy.ts';
import { createFreezeService } from '../../src/workflow/old/freeze-service.ts';
import { workflowJobs } from '../../src/workflow/old/maintenance.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { acceptGap } from '../storage/accept-gap.ts';
import { ENGINES, type Engine, freshDatabase } from '../storage/engines.ts';
import { ana, minutes, NOON, user } from '../storage/example-change.ts';
import { operatorsNotices } from '../storage/notices.ts';
import { createTestContext } from './context.ts';

const KEY = Buffer.alloc(32, 7);
const ID = 'FREEZE' as ChangeId;
const BY = { id: ID, by: ana, reason: 'launch' };
const PROD = { scope: { tag: 'prod' }, until: minutes(60) };

async function started(engine: Engine = 'sqlite', auditKey: Buffer | null = KEY) {
  const { context, clock } = await createTestContext();
  const database = await freshDatabase(engine);
  const own: WorkflowContext = { ...context, database, auditKey };
  const freezes = createFreezeService(own);
  const active = async (as: WorkflowContext = own) =>
    (await currentPolicy(database.db, as)).freezes.map(({ made, until }) => [made?.id, until]);
  const attack = (statement: string) =>
    database.transaction(async (tx) => void (await sql.raw(statement).execute(tx)));
  const check = () =>
    workflowJobs(own)
      .find(({ name }) => name === 'check freezes')
      ?.work();
  clock.now = NOON;
  return { context: own, database, clock, freezes, active, attack, check };
}

const IN_FORCE = [[ID, minutes(60)]];

test.for(
  ENGINES.flatMap((engine) =>
    [
      'delete from change_freeze',
      "update change_freeze set lifted_at = from_at, lifted_by = 'UEVE'",
      'update change_freeze set until_at = from_at',
      `update change_freeze set scope = '{"tag":"dev"}'`,
    ].map((statement) => [statement, engine] as const),
  ),
)('after “%s” on %s the freeze stays in force and is restored', async ([statement, engine]) => {
  const { database, freezes, active, attack, check } = await started(engine);
  await freezes.make(BY, PROD);
  await attack(statement);
  expect(await active()).toEqual(IN_FORCE);
  expect((await freezes.madeInSlack())[0]?.scope).toEqual(PROD.scope);

  await check();
  await check();
  const row = await database.db.selectFrom('change_freeze').selectAll().executeTakeFirst();
  expect(row).toMatchObject({ id: ID, scope: '{"tag":"prod"}', lifted_at: null });
  expect(row?.until_at).toBe(minutes(60).toISOString());
  expect(await operatorsNotices(database)).toEqual([
    expect.stringContaining(`Freeze ${ID} was deleted or changed in the database`),
  ]);
  const events = await listEvents(database.db, { afterSeq: 0, limit: 10 });
  expect(events.map(({ kind }) => kind)).toEqual(['freeze-created', 'freeze-restored']);
  expect(await verifyChain(database.db, KEY)).toMatchObject({ ok: true });
});

test('a freeze without a row can be lifted in Slack, and a lifted one stays lifted', async () => {
  const { clock, freezes, active, attack, check, database } = await started();
  await freezes.make(BY, PROD);
  await attack('delete from change_freeze');
  await freezes.lift(BY, ID);
  expect(await active()).toEqual([]);
  await expect(freezes.lift(BY, ID)).rejects.toThrow('has ended or was lifted');
  await freezes.make({ ...BY, id: 'SECOND' as ChangeId }, PROD);
  await freezes.lift(BY, 'SECOND' as ChangeId);
  await attack('update change_freeze set lifted_at = null, lifted_by = null');
  expect(await active()).toEqual([]);
  clock.now = minutes(61);
  await check();
  expect(await operatorsNotices(database)).toEqual([]);
});

test('a lift that was inserted without the key does not end a freeze', async () => {
  const { context, freezes, active } = await started();
  await freezes.make(BY, PROD);
  const forger = createFreezeService({ ...context, auditKey: Buffer.alloc(32, 9) });
  await expect(forger.lift({ ...BY, by: user('UEVE') }, ID)).rejects.toThrow('was modified');
  for (const key of [null, Buffer.alloc(32, 9)]) {
    const { recordFreezeLift } = await import('../../src/log/old/freeze-events.ts');
    const lift = { id: ID, by: user('UEVE'), at: NOON };
    await context.database.transaction((tx) => recordFreezeLift(tx, key, lift));
  }
  expect(await active()).toEqual(IN_FORCE);
});

test('nothing is decided after the event of a freeze was modified', async () => {
  const { freezes, active, attack } = await started();
  await freezes.make(BY, PROD);
  await attack('drop trigger audit_event_no_update');
  await attack(`update audit_event set body = replace(body, '"tag":"prod"', '"tag":"test"')`);
  await expect(active()).rejects.toThrow('Event 1 of the audit trail, which records freeze FREEZE');
});

test('after its modified event was accepted as a gap, the row of a freeze counts', async () => {
  const { database, freezes, active, attack } = await started();
  await freezes.make(BY, PROD);
  await freezes.make({ ...BY, id: 'SECOND' as ChangeId }, PROD);
  await attack('drop trigger audit_event_no_update');
  await attack(`update audit_event set body = replace(body, 'prod', 'test') where seq = 1`);
  await expect(active()).rejects.toThrow('Event 1 of the audit trail');
  await acceptGap(database, KEY);
  expect(await active()).toEqual([...IN_FORCE, ['SECOND', minutes(60)]]);
});

test('a freeze of an earlier release gets its event and is protected from then on', async () => {
  const { context, database, active, attack, check } = await started();
  const stored = { id: ID, scope: PROD.scope, reason: '', createdBy: ana, from: NOON };
  await database.transaction((tx) => insertFreeze(tx, { ...stored, until: PROD.until }));
  expect(await active()).toEqual(IN_FORCE);
  await check();
  await check();
  expect(await listEvents(database.db, { afterSeq: 0, limit: 10 })).toHaveLength(1);
  await attack('delete from change_freeze');
  expect(await active()).toEqual(IN_FORCE);
  expect(await operatorsNotices(context.database)).toEqual([]);
});

test('a freeze from before the key was set stays in force, and can be lifted', async () => {
  const { context, freezes, active } = await started('sqlite', null);
  await freezes.make(BY, PROD);
  const keyed = { ...context, auditKey: KEY };
  expect(await active(keyed)).toEqual(IN_FORCE);
  await createFreezeService(keyed).lift(BY, ID);
  expect(await active(keyed)).toEqual([]);
});
