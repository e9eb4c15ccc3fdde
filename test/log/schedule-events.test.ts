import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import type { ChangeId } from '../../src/domain/change.ts';
import { listEvents } from '../../src/log/old/append.ts';
import {
  recordedSchedule,
  recordedSchedules,
  recordSchedule,
} from '../../src/log/old/schedule-events.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { freshDatabase } from '../storage/engines.ts';
import { ana, minutes, NOON } from '../storage/example-change.ts';

const KEY = Buffer.alloc(32, 7);
const ID = 'SCHED7' as ChangeId;
const until = minutes(9_000);

type Kind = Parameters<typeof recordSchedule>[3]['kind'];
type Step = readonly [kind: Kind, at: Date, facts?: JsonObject];
const STARTED: Step = ['schedule-started', NOON, { until: until.toISOString() }];
const occurrence = (at: Date) => ({ occurrence: at.toISOString() });

async function recorded(steps: readonly Step[], key: Buffer | null = KEY): Promise<Database> {
  const database = await freshDatabase('sqlite');
  await database.transaction(async (tx) => {
    for (const [kind, at, facts = {}] of steps)
      await recordSchedule(tx, key, ID, { kind, by: ana, at, facts });
  });
  return database;
}

const IN_FORCE = { until, isPaused: false, ended: null, since: NOON };

test.for<[string, readonly Step[], object | null]>([
  ['was never put into force', [], null],
  ['was only paused', [['schedule-paused', NOON]], null],
  ['is in force', [STARTED], IN_FORCE],
  ['is paused', [STARTED, ['schedule-paused', minutes(1)]], { ...IN_FORCE, isPaused: true }],
  [
    'was resumed: what was due before does not run',
    [STARTED, ['schedule-paused', minutes(1)], ['schedule-resumed', minutes(9)]],
    { ...IN_FORCE, since: minutes(9) },
  ],
  [
    'has ended',
    [STARTED, ['schedule-ended', minutes(1), { why: 'removed' }]],
    { ...IN_FORCE, ended: 'removed' },
  ],
  [
    'has ended, and is resumed afterwards',
    [STARTED, ['schedule-ended', minutes(1), { why: 'removed' }], ['schedule-resumed', minutes(2)]],
    { ...IN_FORCE, ended: 'removed', since: minutes(2) },
  ],
  [
    'has run',
    [STARTED, ['schedule-run', minutes(31), occurrence(minutes(30))]],
    { ...IN_FORCE, since: minutes(30) },
  ],
  [
    'skipped an earlier occurrence after a later one',
    [
      STARTED,
      ['schedule-run', minutes(31), occurrence(minutes(30))],
      ['schedule-skipped', minutes(32), occurrence(minutes(20))],
    ],
    { ...IN_FORCE, since: minutes(30) },
  ],
  [
    'was started twice',
    [STARTED, ['schedule-started', minutes(5), { until: minutes(99_999).toISOString() }]],
    IN_FORCE,
  ],
])('the trail says of a schedule that it %s', async ([, steps, expected]) => {
  const { db } = await recorded(steps);
  expect(await recordedSchedule(db, KEY, ID)).toEqual(expected);
});

test('readers of the trail see who did what', async () => {
  const { db } = await recorded([STARTED]);
  const [event] = await listEvents(db, { afterSeq: 0, limit: 1 });
  expect(event).toMatchObject({
    kind: 'schedule-started',
    changeId: ID,
    body: { by: ana, did: 'put into force', until: until.toISOString() },
  });
});

test('an event that is not signed with the key puts no schedule into force', async () => {
  const { db } = await recorded([STARTED], Buffer.alloc(32, 8));
  expect(await recordedSchedule(db, KEY, ID)).toBeNull();
});

test('a forged event stops a schedule', async () => {
  const database = await recorded([STARTED, ['schedule-paused', minutes(1)]]);
  const { db } = database;
  expect(await recordedSchedule(db, KEY, ID)).not.toBeNull();
  await database.transaction(async (tx) => {
    const rows = tx.selectFrom('audit_event').selectAll().where('seq', '=', 2);
    const { body, ...paused } = await rows.executeTakeFirstOrThrow();
    const resumed = body.replace('schedule-paused', 'schedule-resumed');
    const forged = { ...paused, seq: 3, kind: 'schedule-resumed', hash: 'forged', body: resumed };
    await tx.insertInto('audit_event').values(forged).execute();
  });
  expect(await recordedSchedule(db, KEY, ID)).toBeNull();
});

test('a list of schedules reads the pauses and the end, and none of the runs', async () => {
  const run: Step = ['schedule-run', minutes(31), occurrence(minutes(30))];
  const { db } = await recorded([STARTED, run, ['schedule-paused', minutes(40)]]);
  const recordOf = await recordedSchedules(db, KEY, [ID]);
  expect(recordOf(ID)).toEqual({ ...IN_FORCE, isPaused: true });
});
