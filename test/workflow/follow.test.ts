import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { ChangeId } from '../../src/domain/change.ts';
import { appendEvent } from '../../src/log/old/append.ts';
import { linkAfter } from '../../src/log/old/chain.ts';
import type { AuditKey } from '../../src/log/old/key-ring.ts';
import { announcedRestore } from '../../src/log/old/restore-mark.ts';
import type { Database } from '../../src/storage/old/database.ts';
import type { AuditEventTable } from '../../src/storage/old/schema.ts';
import { adoptKey } from '../../src/workflow/old/key-change.ts';
import { createTrail } from '../../src/workflow/old/trail.ts';
import { ENGINES, type Engine, freshDatabase } from '../storage/engines.ts';
import { ana, NOON } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const KEY = Buffer.alloc(32, 7);
const NEW_KEY = Buffer.alloc(32, 8);
const [ID, OTHER, PARENT] = ['CHANGE', 'OTHERS', 'PARENT'] as ChangeId[] as [
  ChangeId,
  ChangeId,
  ChangeId,
];

/** Writes versions of two changes, a freeze, and a pause of a schedule: events 1 to 6. */
async function written(engine: Engine) {
  const { context } = await createTestContext();
  const database = await freshDatabase(engine);
  await disarm(database);
  await move(database, ID, 1);
  await move(database, OTHER, 1);
  await append(database, { kind: 'freeze-created', changeId: 'FREEZE' as ChangeId });
  await move(database, ID, 2);
  await move(database, OTHER, 2);
  await append(database, { kind: 'schedule-paused', changeId: ID });
  const open = (auditKey: AuditKey = KEY) => createTrail({ ...context, database, auditKey });
  const trail = open();
  await trail.verifyRecent();
  const problem = async (id = ID, of = trail) => {
    await of.follow(id);
    return of.problem(database.db);
  };
  return { context, database, open, problem, trail };
}

/** The owner of the tables can remove the protection of the events. */
async function disarm(database: Database): Promise<void> {
  const statements =
    database.engine === 'postgres'
      ? ['alter table audit_event disable trigger all']
      : ['drop trigger audit_event_no_update', 'drop trigger audit_event_no_delete'];
  for (const statement of statements) await attack(database, statement);
}

async function attack(database: Database, statement: string): Promise<void> {
  await database.transaction(async (tx) => void (await sql.raw(statement).execute(tx)));
}

type Event = Parameters<typeof linkAfter>[2];

async function append(database: Database, event: Partial<Event>, key: AuditKey = KEY) {
  const full = { kind: 'refused', at: NOON, body: { by: ana }, ...event };
  await database.transaction((tx) => appendEvent(tx, key, full));
}

async function move(database: Database, changeId: ChangeId, version: number): Promise<void> {
  await append(database, { kind: 'confirmed', changeId, version });
}

test.for(ENGINES)('an intact trail has no problem while it grows on %s', async (engine) => {
  const { database, problem } = await written(engine);
  expect(await problem()).toBeNull();
  await move(database, ID, 3);
  await append(database, { kind: 'freeze-lifted', changeId: 'FREEZE' as ChangeId });
  expect(await problem()).toBeNull();
  expect(await problem(OTHER)).toBeNull();
  expect(await problem('UNHEARD' as ChangeId)).toBeNull();
});

test.for(
  ENGINES.flatMap((engine) =>
    [
      ['deletes the last event of the change', 'delete from audit_event where seq = 4'],
      [
        'hides the last event of the change',
        "update audit_event set change_id = 'OTHERS', version = 7 where seq = 4",
      ],
      ['makes it no version', 'update audit_event set version = null where seq = 4'],
      ['deletes the event of a freeze', 'delete from audit_event where seq = 3'],
      ['hides a freeze', "update audit_event set kind = 'freeze-noted' where seq = 3"],
      ['deletes the pause of a schedule', 'delete from audit_event where seq = 6'],
      [
        'hides the pause of a schedule',
        "update audit_event set kind = 'schedule-noted' where seq = 6",
      ],
      ['changes the hash of a freeze', "update audit_event set hash = 'x' where seq = 3"],
    ].map(([what = '', statement = '']) => [what, engine, statement] as const),
  ),
)('an attacker who %s on %s is noticed', async ([, engine, statement]) => {
  const { database, problem } = await written(engine);
  expect(await problem()).toBeNull();
  await attack(database, statement);
  expect(await problem()).toContain('Event');
});

test.for(ENGINES)('a trail that was cut and continued counts as restored on %s', async (engine) => {
  const { database, problem, open, trail } = await written(engine);
  const { rows } = await database.transaction((tx) =>
    sql<AuditEventTable>`select * from audit_event where seq = 3`.execute(tx),
  );
  await attack(database, 'delete from audit_event where seq > 3');
  await attack(database, `update audit_head set seq = 3, hash = '${rows[0]?.hash}'`);
  expect(await announcedRestore(database.db)).toBeNull();
  await move(database, OTHER, 3);
  await append(database, {});
  await append(database, {});
  expect(await problem()).toContain('differs from the stored anchor');
  // After a restart the chain looks intact, so that the open changes must be stopped.
  expect(await announcedRestore(database.db)).toBe(NOON.toISOString());
  const other = open();
  expect(await other.problem(database.db)).not.toBeNull();
  // The nightly verification finds an intact chain, and does not let the process continue.
  await trail.verifyAll();
  expect(await trail.problem(database.db)).not.toBeNull();
});

test.for(ENGINES)(
  'an event of an earlier key that replaces another one is noticed on %s',
  async (engine) => {
    const { context, database, open } = await written(engine);
    const keys = { current: NEW_KEY, previous: [KEY] };
    await adoptKey({ ...context, database, auditKey: keys });
    await append(database, { kind: 'drafted', changeId: PARENT, version: 1 }, keys);
    const trail = open(keys);
    await trail.verifyRecent();
    await trail.follow(PARENT);
    expect(await trail.problem(database.db)).toBeNull();
    await forge(database, { kind: 'approved', changeId: PARENT, version: 2 });
    await trail.follow(PARENT);
    expect(await trail.problem(database.db)).toContain('Event');
  },
);

test('a lift of a freeze that an earlier key signed later is noticed', async () => {
  const { context, database, open } = await written('sqlite');
  const keys = { current: NEW_KEY, previous: [KEY] };
  await adoptKey({ ...context, database, auditKey: keys });
  const trail = open(keys);
  await trail.verifyRecent();
  await forge(database, { kind: 'freeze-lifted', changeId: 'FREEZE' as ChangeId });
  await trail.follow(ID);
  expect(await trail.problem(database.db)).toContain('Event');
});

/** Replaces event 5 with one that is signed with the earlier key, which leaked. */
async function forge(database: Database, event: Partial<Event>): Promise<void> {
  const full = { at: NOON, body: { by: ana }, kind: 'refused', ...event };
  await database.transaction(async (tx) => {
    const before = await tx
      .selectFrom('audit_event')
      .selectAll()
      .where('seq', '=', 4)
      .executeTakeFirstOrThrow();
    await tx.deleteFrom('audit_event').where('seq', '=', 5).execute();
    await tx
      .insertInto('audit_event')
      .values(linkAfter(before, KEY, full))
      .execute();
  });
}

test('a change that began before the verified part is verified from its beginning', async () => {
  const { database, open, problem } = await written('sqlite');
  await database.transaction(async (tx) => {
    for (let n = 0; n < 10_000; n += 1) {
      await appendEvent(tx, KEY, { kind: 'refused', at: NOON, body: { by: ana } });
    }
  });
  const restarted = open();
  await restarted.verifyRecent();
  expect(await problem(ID, restarted)).toBeNull();
  await attack(database, 'delete from audit_event where seq = 4');
  expect(await problem(ID, restarted)).toContain('Event 4 is missing');
});

test('a planned revert is remembered when its events are gone', async () => {
  const { database, problem, trail } = await written('sqlite');
  expect(trail.isRevertPlanned(ID)).toBe(false);
  const planned = { kind: 'planned-return', changeId: 'REVERT' as ChangeId, version: 1 };
  await append(database, { ...planned, body: { by: 'signalbox', parent: ID } });
  expect(await problem()).toBeNull();
  await attack(database, 'delete from audit_event where seq = 6');
  expect(trail.isRevertPlanned(ID)).toBe(true);
});

test('while the record of a broken trail is deleted, nothing is executed', async () => {
  const { database, open, problem, trail } = await written('sqlite');
  const other = open();
  await other.verifyRecent();
  await attack(
    database,
    "update audit_event set body = replace(body, 'UANA', 'UBEN') where seq = 2",
  );
  await trail.verifyAll();
  await attack(database, "delete from meta where key = 'audit-broken'");
  expect(await problem()).toContain('Event 2');
  expect(await other.problem(database.db)).toContain('was deleted from the database');
});
