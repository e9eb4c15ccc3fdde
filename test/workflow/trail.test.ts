import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { appendEvent } from '../../src/log/old/append.ts';
import { clearTrailError, recordTrailMark } from '../../src/log/old/trail-marks.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { createTrail, nightly } from '../../src/workflow/old/trail.ts';
import { ENGINES, freshDatabase } from '../storage/engines.ts';
import { NOON } from '../storage/example-change.ts';
import { operatorsNotices } from '../storage/notices.ts';
import { createTestContext } from './context.ts';

const KEY = Buffer.alloc(32, 7);

async function write(database: Database, count: number): Promise<void> {
  await database.transaction(async (tx) => {
    for (let n = 0; n < count; n += 1) {
      await appendEvent(tx, KEY, { kind: 'refused', at: NOON, body: { by: 'UANA', n } });
    }
  });
}

async function tamper(database: Database, seq: number): Promise<void> {
  const disarm =
    database.engine === 'postgres'
      ? 'drop trigger if exists audit_event_only_added on audit_event'
      : 'drop trigger if exists audit_event_no_update';
  const edit = `update audit_event set body = replace(body, 'UANA', 'UBEN') where seq = ${seq}`;
  await database.transaction(async (tx) => {
    for (const statement of [disarm, edit]) await sql.raw(statement).execute(tx);
  });
}

async function mend(database: Database, seq: number): Promise<void> {
  const mended = `update audit_event set body = replace(body, 'UBEN', 'UANA') where seq = ${seq}`;
  await database.transaction((tx) => sql.raw(mended).execute(tx));
}

async function trailOn(engine: (typeof ENGINES)[number]) {
  const { context } = await createTestContext();
  const database = await freshDatabase(engine);
  const open = () => createTrail({ ...context, database, auditKey: KEY });
  return { database, open };
}

test.for(ENGINES)(
  'an edited trail is reported once, and stays a problem until it is correct, on %s',
  async (engine) => {
    const { database, open } = await trailOn(engine);
    await write(database, 20);
    const trail = open();
    await trail.verifyRecent();
    expect(await trail.problem(database.db)).toBeNull();

    await tamper(database, 7);
    await trail.verifyAll();
    await trail.verifyAll();
    expect(await trail.problem(database.db)).toContain('Event 7 does not match its hash');
    expect(await operatorsNotices(database)).toEqual([
      expect.stringContaining('executes no change until an operator has checked it'),
    ]);

    // A replica that has not looked by itself holds back all the same.
    const other = open();
    expect(await other.problem(database.db)).toContain('Event 7');

    // A restart does not forget it, and looks at all of it.
    const again = open();
    await again.verifyRecent();
    expect(await again.problem(database.db)).toContain('Event 7');
    await mend(database, 7);
    await again.verifyAll();
    expect(await again.problem(database.db)).toBeNull();
    const third = open();
    await third.verifyRecent();
    expect(await third.problem(database.db)).toBeNull();
  },
);

test('the deleted record of a broken trail is noticed, and the whole trail is verified', async () => {
  const { database, open } = await trailOn('sqlite');
  await write(database, 10_050);
  await tamper(database, 7);
  await open().verifyAll();
  await database.transaction((tx) => clearTrailError(tx));
  await database.transaction((tx) =>
    recordTrailMark(tx, null, 'trail-verified', { problem: null, at: NOON }),
  );
  const restarted = open();
  await restarted.verifyRecent();
  expect(await restarted.problem(database.db)).toContain('Event 7 does not match its hash');
  expect((await operatorsNotices(database))[1]).toContain('was deleted from the database');
});

test('the end of a problem is recorded, so that later starts report nothing', async () => {
  const { database, open } = await trailOn('sqlite');
  await write(database, 20);
  await tamper(database, 7);
  await open().verifyAll();
  await mend(database, 7);
  await open().verifyRecent();
  const reported = await operatorsNotices(database);
  await open().verifyRecent();
  expect(await open().problem(database.db)).toBeNull();
  expect(await operatorsNotices(database)).toEqual(reported);
  expect(reported).toHaveLength(1);
});

test('the start verifies the last ten thousand events, and all where it finds a problem', async () => {
  const { database, open } = await trailOn('sqlite');
  await write(database, 10_050);
  await tamper(database, 50);
  const trail = open();
  await trail.verifyRecent();
  expect(await trail.problem(database.db)).toBeNull();
  await tamper(database, 51);
  await trail.verifyRecent();
  expect(await trail.problem(database.db)).toContain('events 50 to 51');
});

test('the whole trail is verified once per night', async () => {
  const clock = { now: new Date('2026-11-20T12:00:00Z') };
  let looks = 0;
  const look = nightly(
    () => clock.now,
    async () => {
      looks += 1;
    },
  );
  const at = async (time: string) => {
    clock.now = new Date(time);
    await look();
    return looks;
  };
  expect(await at('2026-11-20T13:00:00Z')).toBe(0);
  expect(await at('2026-11-21T01:59:00Z')).toBe(0);
  expect(await at('2026-11-21T02:01:00Z')).toBe(1);
  expect(await at('2026-11-21T23:00:00Z')).toBe(1);
  expect(await at('2026-11-22T02:30:00Z')).toBe(2);
});
