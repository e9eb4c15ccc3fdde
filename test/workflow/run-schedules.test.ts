import { describe, expect, test } from 'vitest';
import type { ChangeId } from '../../src/domain/change.ts';
import { auditRefusal } from '../../src/log/old/matches-audit-trail.ts';
import { lockTarget } from '../../src/log/old/permits.ts';
import type { ActivityReading } from '../../src/servers/cloud-readings.ts';
import { claimDueMessages, markDone } from '../../src/storage/old/outbox.ts';
import { createScheduleRunner } from '../../src/workflow/old/run-schedules.ts';
import { stopOpenChanges } from '../../src/workflow/old/stop-open-changes.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { ENGINES } from '../storage/engines.ts';
import {
  aChange,
  ana,
  ben,
  cleo,
  minutes,
  NOON,
  newId,
  STAGING,
  stored,
} from '../storage/example-change.ts';
import { BODY, type ScheduledOptions, START, STOP, scheduled } from './scheduled.ts';
import { RULE } from './stored-change.ts';

const DAY = 24 * 60;

test.for(ENGINES)(
  'an occurrence becomes one change, also with three replicas (%s)',
  async (engine) => {
    const { context, clock, handled, runs, schedule, events } = await scheduled({ engine });
    clock.now = STOP;
    const replicas = [1, 2, 3].map(() => createScheduleRunner(context));
    await Promise.all(replicas.map((run) => run()));
    await Promise.all(replicas.map((run) => run()));
    const [run, ...others] = await runs();
    expect(others).toEqual([]);
    expect(run).toMatchObject({
      ...{ command: 'service stop', state: 'approved', requester: ana, reason: schedule.reason },
      ...{ approvals: schedule.approvals, requires: schedule.requires, parent: null },
      ...{ notBefore: STOP, expiresAt: minutes(420), breakGlass: null, revertAt: null },
      plan: {
        target: { kind: 'service', id: schedule.plan.target.id },
        body: { command: 'stop' },
        timing: { startAt: STOP.toISOString(), revert: null, schedule: schedule.id },
      },
    });
    expect(await handled()).toMatchObject([
      { occurrence: STOP.toISOString(), change_id: run?.id, skipped: null },
    ]);
    expect((await events()).map(({ kind }) => kind)).toEqual(['schedule-started', 'schedule-run']);
    expect(run && (await auditRefusal(context.database.db, null, run))).toBeNull();
  },
);

test('a schedule stops on Friday evening and starts on Monday morning', async () => {
  const { at, execute, sent, current } = await scheduled();
  expect(await at(minutes(359))).toBe(0);
  await at(STOP);
  await execute();
  expect(await current()).toMatchObject([{ nextAt: START }]);
  await at(minutes(360 + DAY));
  expect(sent).toEqual(['stop']);
  await at(START);
  await execute();
  expect(sent).toEqual(['stop', 'start']);
});

test('the requester is reminded once 7 days before the end, and once at the end', async () => {
  const { at, begun, clock, database, schedule } = await scheduled();
  const deliver = () =>
    database.transaction(async (tx) => {
      const due = await claimDueMessages(tx, {
        owner: 'x',
        now: clock.now,
        leaseMs: 1,
        limit: 999,
      });
      for (const { id } of due) await markDone(tx, [id], clock.now);
    });
  const reminders = async (id = schedule.id) => {
    const { db } = database;
    const own = db.selectFrom('outbox').selectAll().where('change_id', '=', id);
    const rows = await own.where('kind', '=', 'schedule-reminder').execute();
    return rows.map(({ not_before }) => not_before);
  };
  const remindAt = minutes(83 * DAY).toISOString();
  expect(await reminders()).toEqual([remindAt]);
  await at(STOP);
  await at(minutes(83 * DAY));
  await deliver();
  await at(minutes(83 * DAY + 1));
  await deliver();
  expect(await reminders()).toEqual([remindAt]);
  await at(minutes(90 * DAY));
  await deliver();
  await at(minutes(91 * DAY));
  expect(await reminders()).toEqual([remindAt, minutes(90 * DAY).toISOString()]);
  const renewed = await begun();
  expect(await reminders(renewed.id)).toEqual([minutes((91 + 83) * DAY).toISOString()]);
});

test('a process that crashed before its commit leaves the occurrence to another one', async () => {
  const { context, clock, run, runs } = await scheduled();
  clock.now = STOP;
  const crashing = { ...context.database, transaction: () => Promise.reject(new Error('crash')) };
  expect(await createScheduleRunner({ ...context, database: crashing })()).toBe(0);
  expect(await runs()).toEqual([]);
  await run();
  expect(await runs()).toHaveLength(1);
});

const activity = (over: Partial<ActivityReading>): ScheduledOptions => ({
  reads: {
    activities: async () => ({
      ...{ known: true, readAt: NOON },
      value: [
        {
          ...{ id: 'a', type: 'service_start', actorType: 'user', actorDetails: 'x' },
          ...{ serviceId: STAGING.slice('service:'.length), isOwnKey: false },
          createdAt: '2026-08-14T07:00:00Z',
          ...over,
        },
      ],
    }),
  },
});

describe('an occurrence is skipped with a note', () => {
  const DONE = {
    how: 'succeeded',
    at: minutes(30),
    tookMs: 1,
    requestId: null,
    reported: [],
  } as const;

  test.for<[string, Date, string | null]>([
    ['an hour late', minutes(420), null],
    ['later', minutes(421), 'Signalbox could not run it within an hour'],
  ])('that is due %s', async ([, time, why]) => {
    const { at, skipped, runs } = await scheduled();
    await at(time);
    expect(await skipped()).toBe(why);
    expect(await runs()).toHaveLength(why ? 0 : 1);
  });

  test('while a freeze holds, and runs again after it', async () => {
    const { context, clock, skipped, messages, runs } = await scheduled();
    clock.now = STOP;
    const freeze = { from: '2026-08-14T00:00Z', until: '2026-08-15T00:00Z', reason: 'launch' };
    await createScheduleRunner({ ...context, policy: policyOf([RULE], [freeze]) })();
    expect(await skipped()).toBe('a freeze holds (launch)');
    expect(await messages()).toEqual([
      'Skipped the stop of Fri 14 Aug, 20:00 (Europe/Berlin): a freeze holds (launch).',
    ]);
    clock.now = START;
    await createScheduleRunner({ ...context, policy: policyOf([RULE], [freeze]) })();
    expect(await runs()).toHaveLength(1);
  });

  test('while an outcome of the service is unknown', async () => {
    const { database, at, skipped } = await scheduled();
    const unknown = aChange({ state: 'unknown' });
    await stored(database, unknown);
    await database.transaction((tx) => lockTarget(tx, STAGING, unknown.id, NOON));
    await at(STOP);
    expect(await skipped()).toBe(`the outcome of change ${unknown.id} is unknown`);
  });

  test('on a day on which a person changed the service, until midnight of its zone', async () => {
    const { database, at, skipped, runs } = await scheduled({
      body: { ...BODY, stop: 'daily 20:00' },
    });
    const manual = aChange({ state: 'succeeded', outcome: DONE });
    await stored(database, manual);
    await at(STOP);
    expect(await skipped()).toBe(`a person changed the service on that day (${manual.id})`);
    await at(minutes(360 + DAY));
    expect(await runs()).toHaveLength(1);
  });

  test('its own earlier run on that day is no change of a person', async () => {
    const { at, execute, runs } = await scheduled({ body: { ...BODY, start: 'fri 22:00' } });
    await at(STOP);
    await execute();
    await at(minutes(480));
    expect(await runs()).toHaveLength(2);
  });

  test.for<[string, Partial<ActivityReading>, boolean]>([
    ['by a person', {}, true],
    ['by another key', { actorType: 'api' }, true],
    ['with the key of Signalbox', { isOwnKey: true }, false],
    ['by the server', { actorType: 'system' }, false],
    ['on the day before', { createdAt: '2026-08-13T21:59:59Z' }, false],
    ['right after midnight in Berlin', { createdAt: '2026-08-13T22:00:00Z' }, true],
    ['of another service', { serviceId: 'other' }, false],
    ['that was no change', { type: 'service_idle' }, false],
    ['without a time', { createdAt: null }, false],
  ])('after a change elsewhere %s: %s', async ([, over, isSkipped]) => {
    const { at, skipped, runs } = await scheduled(activity(over));
    await at(STOP);
    const why = 'the service was changed outside Signalbox on that day';
    expect(await skipped()).toBe(isSkipped ? why : null);
    expect(await runs()).toHaveLength(isSkipped ? 0 : 1);
  });

  test('when the service is stopped already, by a read', async () => {
    const { context, clock, skipped, schedule } = await scheduled();
    clock.now = STOP;
    const stop = context.commands.get('service stop');
    if (!stop) throw new Error('There is no such command');
    const fields = { state: 'stopped' };
    const read = async () => ({
      before: { fields, seenAt: NOON, source: 'read', wasRead: true as const },
    });
    const commands = new Map([...context.commands, ['service stop', { ...stop, observe: read }]]);
    await createScheduleRunner({ ...context, commands })();
    expect(await skipped()).toBe('the service is stopped already');
    expect(schedule.state).toBe('succeeded');
  });

  test('when Signalbox does not know the service any more', async () => {
    const { at, services, skipped } = await scheduled();
    services.length = 0;
    await at(STOP);
    expect(await skipped()).toBe('Signalbox does not know the service any more');
  });

  test('of several that were missed, only the last one counts', async () => {
    const { at, handled, runs, messages } = await scheduled({
      body: { ...BODY, stop: 'daily 20:00' },
    });
    await at(minutes(360 + 3 * DAY + 30));
    expect(await handled()).toHaveLength(1);
    const [run] = await runs();
    expect(run?.notBefore).toEqual(minutes(360 + 3 * DAY));
    expect(await messages()).toEqual(['card', 'Earlier runs were missed: 4.']);
  });
});

describe('what is in force decides', () => {
  test('a paused schedule does not run, and what was due meanwhile does not run later', async () => {
    const { schedules, schedule, at, runs, current } = await scheduled();
    await schedules.pause({ schedule: schedule.id, by: ben });
    expect(await at(STOP)).toBe(0);
    await schedules.resume({ schedule: schedule.id, by: ben });
    await at(minutes(390));
    expect(await runs()).toEqual([]);
    expect(await current()).toMatchObject([{ nextAt: START }]);
    await at(START);
    expect(await runs()).toHaveLength(1);
  });

  test('a pause while a run is planned stops that run', async () => {
    const { context, clock, schedules, schedule, runs } = await scheduled();
    clock.now = STOP;
    // Read while the change of the occurrence is planned.
    const activities = async () => {
      await schedules.pause({ schedule: schedule.id, by: ben });
      return { known: false, gap: 'off', why: 'it is off', status: null } as const;
    };
    const around = context.commandContext();
    const reads = { ...around.reads, cloud: { ...around.reads.cloud, activities } };
    await createScheduleRunner({ ...context, commandContext: () => ({ ...around, reads }) })();
    expect(await runs()).toEqual([]);
  });

  test('a restored database pauses every schedule', async () => {
    const { context, database, schedules, at, runs, messages } = await scheduled();
    const { db, transaction: inTx } = database;
    await stopOpenChanges(context, { why: 'restored', db, inTx });
    expect(await schedules.all()).toMatchObject([{ isPaused: true, next: null }]);
    await at(STOP);
    expect(await runs()).toEqual([]);
    expect(await messages()).toEqual([
      'The schedule is paused, because the database was restored from an older copy. Check it, then resume it.',
    ]);
  });

  test('a removed schedule does not run, and cannot be paused', async () => {
    const { schedules, schedule, at, runs, events } = await scheduled();
    await schedules.remove({ schedule: schedule.id, by: ben });
    await at(STOP);
    expect(await runs()).toEqual([]);
    expect(await schedules.all()).toEqual([]);
    expect((await events()).at(-1)).toMatchObject({ kind: 'schedule-ended', body: { by: ben } });
    const pause = schedules.pause({ schedule: schedule.id, by: ben });
    await expect(pause).rejects.toThrow('has ended');
  });

  test('a new schedule replaces the current one of its service', async () => {
    const { begun, schedule, at, runs, current } = await scheduled();
    const next = await begun({ ...BODY, stop: 'daily 19:00' });
    expect(await current()).toMatchObject([{ id: next.id }]);
    await at(STOP);
    expect((await runs()).map(({ plan }) => plan.timing?.schedule)).toEqual([next.id]);
    expect(next.id).not.toBe(schedule.id);
  });

  test('a change puts its schedule into force once', async () => {
    const { schedules, schedule, events } = await scheduled();
    expect(await schedules.hasBegun(schedule.id)).toBe(true);
    expect(await schedules.hasBegun(newId())).toBe(false);
    await schedules.remove({ schedule: schedule.id, by: ben });
    await schedules.begin(schedule.id);
    expect(await schedules.all()).toEqual([]);
    expect(await events()).toHaveLength(2);
  });

  test('a schedule expires after 90 days, also while it is paused', async () => {
    const { schedules, schedule, at, messages, runs, events } = await scheduled();
    await schedules.pause({ schedule: schedule.id, by: ben });
    await at(minutes(90 * DAY - 1));
    expect(await schedules.all()).toHaveLength(1);
    await messages();
    await at(minutes(90 * DAY));
    expect(await schedules.all()).toEqual([]);
    expect((await events()).at(-1)).toMatchObject({ body: { why: 'expired', by: 'signalbox' } });
    expect(await messages()).toContain('schedule-reminder');
    expect(await runs()).toEqual([]);
  });

  test('a schedule whose next time is after its end expires at its end', async () => {
    const { schedules, at, runs } = await scheduled({
      body: { ...BODY, stop: 'fri 20:00', start: null },
    });
    for (let week = 0; week < 13; week += 1) await at(minutes(420 + week * 7 * DAY));
    expect(await runs()).toHaveLength(13);
    await at(minutes(90 * DAY));
    expect(await schedules.all()).toEqual([]);
  });

  test('the requester is reminded seven days before', async () => {
    const { clock, messages } = await scheduled();
    clock.now = minutes(83 * DAY - 1);
    expect(await messages()).toEqual([]);
    clock.now = minutes(83 * DAY);
    expect(await messages()).toEqual(['schedule-reminder']);
  });
});

describe('a run is decided again at its time', () => {
  const denied = async (
    over: Parameters<Awaited<ReturnType<typeof scheduled>>['execute']>[0],
    prepare: (one: Awaited<ReturnType<typeof scheduled>>) => unknown = () => undefined,
  ) => {
    const one = await scheduled();
    await one.at(STOP);
    await prepare(one);
    await one.execute(over);
    expect(one.sent).toEqual([]);
    const [run] = await one.runs();
    return run?.stopReason;
  };
  const never = [{ commands: ['service stop'], reason: 'the shop reads from it' }];

  test('by the list of what must never run', async () => {
    expect(await denied({ policy: policyOf([RULE], [], never) })).toBe('never');
  });

  test('by a freeze', async () => {
    const freeze = { from: '2026-08-14T00:00Z', until: '2026-08-15T00:00Z', reason: 'launch' };
    expect(await denied({ policy: policyOf([RULE], [freeze]) })).toBe('frozen');
  });

  test('by the rule of its command', async () => {
    const stricter = { ...RULE, approvals: { from: 'approver', count: 3 } };
    const policy = policyOf([{ ...stricter, allow: ['service stop'] }, RULE]);
    expect(await denied({ policy })).toBe('approvals-missing');
  });

  test('by the rule of the schedule', async () => {
    const others = { allow: ['service schedule'], to: 'approver' };
    expect(await denied({ policy: policyOf([others, RULE]) })).toBe('not-a-requester');
  });

  test('by the roles of the requester', async () => {
    expect(await denied({}, ({ roles }) => roles.delete(ana))).toBe('not-a-requester');
  });

  test('by the roles of the approvers', async () => {
    expect(await denied({}, ({ roles }) => roles.delete(cleo))).toBe('approvals-missing');
  });

  test('by the tags of the service', async () => {
    const strict = { ...RULE, on: { tags: ['prod'] }, approvals: { from: 'approver', count: 3 } };
    const retag = ({ services }: Awaited<ReturnType<typeof scheduled>>) => {
      const [service] = services;
      if (service) services[0] = { ...service, tags: ['prod'] };
    };
    const why = await denied({ policy: policyOf([strict, RULE]) }, retag);
    expect(why).toBe('tags-changed');
  });

  test.for<['pause' | 'remove']>([['pause'], ['remove']])(
    'by a %s of the schedule',
    async ([verb]) => {
      const why = await denied({}, ({ schedules, schedule }) =>
        schedules[verb]({ schedule: schedule.id, by: ben }),
      );
      expect(why).toBe('schedule-ended');
    },
  );

  test('by the schedule that replaced it', async () => {
    expect(await denied({}, ({ begun }) => begun())).toBe('schedule-ended');
  });
});

describe('a direct write to the database runs nothing', () => {
  type One = Awaited<ReturnType<typeof scheduled>>;
  const write = ({ database }: One, set: object, id: ChangeId) =>
    database.transaction(async (tx) => {
      await tx.updateTable('service_schedule').set(set).where('id', '=', id).execute();
    });

  test('an earlier next time', async () => {
    const one = await scheduled();
    await write(one, { next_at: NOON.toISOString() }, one.schedule.id);
    await one.at(minutes(1));
    expect(await one.runs()).toEqual([]);
    expect(await one.current()).toMatchObject([{ nextAt: STOP }]);
  });

  test('a run whose row was deleted', async () => {
    const one = await scheduled();
    await one.at(STOP);
    await one.database.transaction((tx) => tx.deleteFrom('schedule_run').execute());
    await write(one, { next_at: STOP.toISOString() }, one.schedule.id);
    await one.at(minutes(361));
    expect(await one.runs()).toHaveLength(1);
  });

  test('a removed schedule whose row was restored', async () => {
    const one = await scheduled();
    await one.schedules.remove({ schedule: one.schedule.id, by: ben });
    await write(one, { ended_at: null, next_at: STOP.toISOString() }, one.schedule.id);
    await one.at(STOP);
    expect(await one.runs()).toEqual([]);
    expect(await one.schedules.all()).toEqual([]);
  });

  test('a schedule with other times', async () => {
    const one = await scheduled();
    const plan = JSON.stringify({ ...one.schedule.plan, body: { ...BODY, stop: 'daily 15:00' } });
    await one.database.transaction(async (tx) => {
      const kept = plan.replace('"unchangedFields"', '"keptAsIs"');
      await tx
        .updateTable('change')
        .set({ plan: kept })
        .where('id', '=', one.schedule.id)
        .execute();
    });
    await write(one, { next_at: NOON.toISOString() }, one.schedule.id);
    await one.at(minutes(61));
    expect(await one.runs()).toEqual([]);
    expect(await one.current()).toEqual([]);
  });

  test('the row of a run that did not take place', async () => {
    const one = await scheduled();
    const row = {
      schedule_id: one.schedule.id,
      occurrence: STOP.toISOString(),
      action: 'stop',
    } as const;
    await one.database.transaction((tx) =>
      tx
        .insertInto('schedule_run')
        .values({ ...row, change_id: null, skipped: null, at: STOP.toISOString() })
        .execute(),
    );
    await one.at(STOP);
    expect(await one.runs()).toEqual([]);
    expect(await one.current()).toMatchObject([{ nextAt: START }]);
  });

  test('while the audit trail has a problem', async () => {
    const one = await scheduled();
    one.clock.now = STOP;
    const trail = { ...one.context.trail, problem: async () => 'event 3 was modified' };
    expect(await createScheduleRunner({ ...one.context, trail })()).toBe(0);
    expect(await one.runs()).toEqual([]);
  });
});
