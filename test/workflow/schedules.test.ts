import { expect, test } from 'vitest';
import type { UserId } from '../../src/domain/change.ts';
import type { ActivityReading } from '../../src/servers/cloud-readings.ts';
import { addJobs, transaction } from '../../src/storage/index.ts';
import { ownJobs } from '../../src/workflow/own.ts';
import { runSchedule } from '../../src/workflow/schedules.ts';
import { messageKinds } from '../../src/workflow/show.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import {
  aChange,
  ana,
  cleo,
  dueJobs,
  eventsOf,
  loaded,
  minutes,
  moved,
  NOON,
  notices,
  RULE,
  STAGING,
} from './context.ts';
import { jobsFor, runDue } from './due.ts';
import { BODY, type ScheduledOptions, START, STOP, scheduled } from './scheduled.ts';

const DAY = 24 * 60;

test('an occurrence becomes one change, also with three processes', async () => {
  const { context, clock, runs, schedule, events, run } = await scheduled();
  clock.now = STOP;
  const runOnce = () => runSchedule(context, schedule.id);
  expect(await Promise.all([1, 2, 3].map(runOnce))).toEqual([START, START, START]);
  await run();
  const [planned, ...others] = await runs();
  expect(others).toEqual([]);
  expect(planned).toMatchObject({
    ...{ command: 'service stop', state: 'approved', requester: ana, reason: schedule.reason },
    ...{ approvals: schedule.approvals, requires: schedule.requires, parent: null },
    ...{ notBefore: STOP, expiresAt: minutes(480), breakGlass: null, revertAt: null },
    plan: {
      target: { kind: 'service', id: schedule.plan.target.id },
      body: { command: 'stop' },
      timing: { startAt: STOP.toISOString(), revert: null, schedule: schedule.id },
    },
  });
  expect((await events()).map(({ type }) => type)).toEqual(['created', 'run']);
  expect((await events()).at(-1)).toMatchObject({
    ...{ change: planned?.id, verb: 'stop', occurrence: STOP, missed: 0 },
  });
  // A run has no card of its own: that of its schedule is drawn again.
  expect(planned && (await jobsFor(context, planned.id))).toEqual(['run', 'expire']);
  expect(await jobsFor(context, schedule.id)).toContain('card');
});

test('a schedule stops on Friday evening and starts on Monday morning', async () => {
  const { at, execute, sent, schedules } = await scheduled();
  await at(minutes(419));
  await execute();
  expect(sent).toEqual([]);
  await at(STOP);
  await execute();
  expect(await schedules.all()).toMatchObject([{ next: { action: 'start', at: START } }]);
  await at(minutes(420 + DAY));
  await execute();
  expect(sent).toEqual(['stop']);
  await at(START);
  await execute();
  expect(sent).toEqual(['stop', 'start']);
});

test('the requester is reminded 7 days before the end', async () => {
  const { context, schedule } = await scheduled();
  expect(await jobsFor(context, schedule.id, minutes(83 * DAY - 1))).not.toContain(
    'schedule-reminder',
  );
  expect(await jobsFor(context, schedule.id, minutes(83 * DAY))).toContain('schedule-reminder');
});

test('an occurrence whose planning failed is planned again', async () => {
  const { context, at, run, runs, clock } = await scheduled();
  const commandContext = () => {
    throw new Error('The API is down');
  };
  expect(await at(STOP, { ...context, commandContext })).toBe(1);
  expect(await runs()).toEqual([]);
  clock.now = new Date(STOP.getTime() + 30_000);
  await run();
  expect(await runs()).toHaveLength(1);
});

const ACTIVITY: ActivityReading = {
  ...{ id: 'a', type: 'service_start', actorType: 'user', actorDetails: 'x', isOwnKey: false },
  ...{ serviceId: STAGING.id, createdAt: '2026-11-20T07:00:00Z' },
};
const activity = (over: Partial<ActivityReading>): ScheduledOptions => {
  const value = [{ ...ACTIVITY, ...over }];
  return { reads: { activities: async () => ({ known: true, readAt: NOON, value }) } };
};

test.for<[string, Date, string[]]>([
  ['an hour late', minutes(480), []],
  ['later', minutes(481), ['Signalbox could not run it within an hour']],
])('an occurrence is skipped with a note that is due %s', async ([, time, why]) => {
  const { at, skipped, runs } = await scheduled();
  await at(time);
  expect(await skipped()).toEqual(why);
  expect(await runs()).toHaveLength(why.length > 0 ? 0 : 1);
});

test('an occurrence is skipped with a note while a freeze holds, and runs again after it', async () => {
  const { context, at, skipped, runs, schedule, inLog } = await scheduled();
  const freeze = { from: '2026-11-20T00:00Z', until: '2026-11-21T00:00Z', reason: 'launch' };
  const frozen = { ...context, policy: policyOf([RULE], [freeze]) };
  await at(STOP, frozen);
  expect(await skipped()).toEqual(['a freeze holds (launch)']);
  // The third event of the log's stream does not exist: the second one is the note.
  expect(await jobsFor(context, schedule.id)).toContain('schedule-note/2');
  expect(await inLog()).toMatchObject({ last: { verb: 'stop', change: null } });
  await at(START, frozen);
  expect(await runs()).toHaveLength(1);
});

test('an occurrence is skipped with a note while an outcome of the service is unknown', async () => {
  const { context, at, skipped } = await scheduled();
  const unknown = await aChange(context, { state: 'unknown' });
  await at(STOP);
  expect(await skipped()).toEqual([`the outcome of change ${unknown.id} is unknown`]);
});

test('an occurrence is skipped with a note on a day on which a person changed the service, until midnight of its zone', async () => {
  const { context, at, skipped, runs } = await scheduled({
    body: { ...BODY, stop: 'daily 20:00' },
  });
  const manual = await aChange(context, { state: 'succeeded' });
  await at(STOP);
  expect(await skipped()).toEqual([`a person changed the service on that day (${manual.id})`]);
  await at(minutes(420 + DAY));
  expect(await runs()).toHaveLength(1);
});

test('an occurrence is skipped with a note its own earlier run on that day is no change of a person', async () => {
  const { at, execute, runs } = await scheduled({ body: { ...BODY, start: 'fri 22:00' } });
  await at(STOP);
  await execute();
  await at(minutes(540));
  expect(await runs()).toHaveLength(2);
});

test.for<[string, Partial<ActivityReading>, boolean]>([
  ['by a person', {}, true],
  ['by another key', { actorType: 'api' }, true],
  ['with the key of Signalbox', { isOwnKey: true }, false],
  ['by the server', { actorType: 'system' }, false],
  ['on the day before', { createdAt: '2026-11-19T22:59:59Z' }, false],
  ['right after midnight in Berlin', { createdAt: '2026-11-19T23:00:00Z' }, true],
  ['of another service', { serviceId: 'other' }, false],
  ['that was no change', { type: 'service_idle' }, false],
  ['without a time', { createdAt: null }, false],
])(
  'an occurrence is skipped with a note after a change elsewhere %s: %s',
  async ([, over, isSkipped]) => {
    const { at, skipped, runs } = await scheduled(activity(over));
    await at(STOP);
    const why = 'the service was changed outside Signalbox on that day';
    expect(await skipped()).toEqual(isSkipped ? [why] : []);
    expect(await runs()).toHaveLength(isSkipped ? 0 : 1);
  },
);

test('an occurrence is skipped with a note when the service is stopped already, by a read', async () => {
  const { context, at, skipped } = await scheduled();
  const stop = context.commands.get('service stop') ?? expect.fail('no such command');
  const read = {
    fields: { state: 'stopped' },
    seenAt: NOON,
    source: 'read',
    wasRead: true,
  } as const;
  const observe = async () => ({ before: read });
  const commands = new Map([...context.commands, ['service stop', { ...stop, observe }]]);
  await at(STOP, { ...context, commands });
  expect(await skipped()).toEqual(['the service is stopped already']);
});

test('an occurrence is skipped with a note when Signalbox does not know the service any more', async () => {
  const { at, services, skipped } = await scheduled();
  services.length = 0;
  await at(STOP);
  expect(await skipped()).toEqual(['Signalbox does not know the service any more']);
});

test('an occurrence is skipped with a note of several that were missed, only the last one counts', async () => {
  const { context, at, runs, events, schedule } = await scheduled({
    body: { ...BODY, stop: 'daily 20:00' },
  });
  await at(minutes(420 + 3 * DAY + 30));
  const [run, ...others] = await runs();
  expect(others).toEqual([]);
  expect(run?.notBefore).toEqual(minutes(420 + 3 * DAY));
  expect((await events()).at(-1)).toMatchObject({ type: 'run', missed: 4 });
  expect(await jobsFor(context, schedule.id)).toContain('schedule-note/2');
});

test('a paused schedule does not run, and what was due meanwhile does not run later', async () => {
  const { act, at, runs, schedules } = await scheduled();
  await act('pause');
  expect(await schedules.all()).toMatchObject([{ isPaused: true, next: null }]);
  await at(STOP);
  await act('resume');
  await at(minutes(450));
  expect(await runs()).toEqual([]);
  expect(await schedules.all()).toMatchObject([{ next: { at: START } }]);
  await at(START);
  expect(await runs()).toHaveLength(1);
});

test('a pause while a run is planned stops that run', async () => {
  const one = await scheduled();
  const { context, act, at, runs } = one;
  // Read while the change of the occurrence is planned.
  const activities = async () => {
    await act('pause');
    return { known: false, gap: 'off', why: 'it is off', status: null } as const;
  };
  const around = context.commandContext();
  const reads = { ...around.reads, cloud: { ...around.reads.cloud, activities } };
  await at(STOP, { ...context, commandContext: () => ({ ...around, reads }) });
  expect(await runs()).toEqual([]);
});

test('a removed schedule does not run, and cannot be paused', async () => {
  const { schedules, act, at, runs, events } = await scheduled();
  await act('remove');
  await at(STOP);
  expect(await runs()).toEqual([]);
  expect(await schedules.all()).toEqual([]);
  expect((await events()).at(-1)).toMatchObject({ type: 'removed', by: ana, why: 'removed' });
  await expect(act('pause')).rejects.toThrow('schedule: schedule has ended');
  expect(await events()).toHaveLength(2);
});

test('a new schedule replaces the current one of its service in the same append', async () => {
  const { begun, schedule, schedules, at, runs, events } = await scheduled();
  const next = await begun({ ...BODY, stop: 'daily 19:00' });
  expect(await schedules.all()).toMatchObject([{ change: next.id }]);
  const [ended] = (await events()).slice(-1);
  const [begins] = await events(next.id);
  expect(ended).toMatchObject({ type: 'removed', why: `replaced by ${next.id}` });
  expect(begins?.seq).toBe((ended?.seq ?? 0) + 1);
  await at(STOP);
  expect((await runs()).map(({ plan }) => plan.timing?.schedule)).toEqual([next.id]);
  expect(next.id).not.toBe(schedule.id);
});

test('a schedule expires after 90 days, also while it is paused', async () => {
  const { context, schedules, schedule, act, at, runs, events } = await scheduled();
  await act('pause');
  await at(minutes(90 * DAY - 1));
  expect(await schedules.all()).toHaveLength(1);
  await at(minutes(90 * DAY));
  expect(await schedules.all()).toEqual([]);
  expect((await events()).at(-1)).toMatchObject({ why: 'expired', by: 'signalbox' });
  expect(await jobsFor(context, schedule.id, minutes(90 * DAY))).toContain('schedule-reminder');
  expect(await runs()).toEqual([]);
});

test('a schedule whose next time is after its end expires at its end', async () => {
  const { schedules, at, runs } = await scheduled({
    body: { ...BODY, stop: 'fri 20:00', start: null },
  });
  for (let week = 0; week < 13; week += 1) await at(minutes(480 + week * 7 * DAY));
  expect(await runs()).toHaveLength(13);
  await at(minutes(90 * DAY));
  expect(await schedules.all()).toEqual([]);
});

type One = Awaited<ReturnType<typeof scheduled>>;
const denied = async (
  over: Parameters<One['execute']>[0],
  prepare: (one: One) => unknown = () => undefined,
) => {
  const one = await scheduled();
  await one.at(STOP);
  await prepare(one);
  await one.execute(over);
  expect(one.sent).toEqual([]);
  const [run] = await one.runs();
  return { ...one, why: run?.stopReason };
};
const never = [{ commands: ['service stop'], reason: 'the shop reads from it' }];
const stricter = { ...RULE, approvals: { from: 'approver', count: 3 } };

test('a run is decided again at its time by a freeze, which passes: the schedule continues', async () => {
  const freeze = { from: '2026-11-20T00:00Z', until: '2026-11-21T00:00Z', reason: 'launch' };
  const { why, inLog } = await denied({ policy: policyOf([RULE], [freeze]) });
  expect(why).toBe('frozen');
  expect(await inLog()).toMatchObject({ isPaused: false });
});

test('a run is decided again at its time by the tags of the service', async () => {
  const strict = { ...stricter, on: { tags: ['prod'] } };
  const retag = ({ services }: One) => {
    const [service] = services;
    if (service) services[0] = { ...service, tags: ['prod'] };
  };
  expect((await denied({ policy: policyOf([strict, RULE]) }, retag)).why).toBe('tags-changed');
});

test.for<[string, (one: One) => unknown]>([
  ['a pause of the schedule', ({ act }) => act('pause')],
  ['a removal of the schedule', ({ act }) => act('remove')],
  ['the schedule that replaced it', ({ begun }) => begun()],
])('a run is decided again at its time by %s', async ([, prepare]) => {
  expect((await denied({}, prepare)).why).toBe('schedule-ended');
});

const withoutRole = (user: UserId) => (one: One) => void one.roles.set(user, []);
const under = (...policy: Parameters<typeof policyOf>) => ({ policy: policyOf(...policy) });
const OF_RUNS = { ...stricter, allow: ['service stop'] };
const OF_SCHEDULES = { allow: ['service schedule'], to: 'approver' };
test.for<[string, string, Parameters<One['execute']>[0], ((one: One) => unknown)?]>([
  ['the list of what must never run', 'never', under([RULE], [], never)],
  ['the rule of its command', 'approvals-missing', under([OF_RUNS, RULE])],
  ['the rule of the schedule', 'not-a-requester', under([OF_SCHEDULES, RULE])],
  ['a policy without a rule', 'no-rule', under([{ ...RULE, allow: ['alert edit'] }])],
  ['the roles of the requester', 'not-a-requester', {}, withoutRole(ana)],
  ['a requester who left', 'deactivated', {}, ({ roles }) => roles.set(ana, 'deactivated')],
  ['the roles of the approvers', 'approvals-missing', {}, withoutRole(cleo)],
])(
  'a run is decided again at its time by %s, which will not pass: it pauses the schedule',
  async ([, refusal, over, prepare]) => {
    const { context, why, inLog, events, schedule, at, runs } = await denied(over, prepare);
    expect(why).toBe(refusal);
    expect(await inLog()).toMatchObject({ isPaused: true });
    expect((await events()).at(-1)).toMatchObject({ type: 'paused', by: 'signalbox' });
    expect(await jobsFor(context, schedule.id)).toContain('schedule-note/3');
    const line = `service schedule ${STAGING.id} stop="weekdays 20:00" start="weekdays 07:00"`;
    expect(await notices(context)).toEqual([
      expect.objectContaining({
        to: null,
        text: expect.stringContaining(`The schedule of staging (${schedule.id}) is paused: `),
        actions: [
          expect.objectContaining({ label: 'Take over', value: `${line} zone=Europe/Berlin` }),
        ],
      }),
    ]);
    await at(START);
    expect(await runs()).toHaveLength(1);
  },
);

test.for(['a run', 'a drawing'])(
  'a schedule whose card was deleted is paused once, and says so once: seen by %s',
  async (seenBy) => {
    const gone = { readThread: async () => null, readCard: async () => null };
    const one = await scheduled({ messages: gone });
    const { context, at, execute, schedule, inLog, events, sent, act } = one;
    const draw = async () => {
      const card = { kind: 'card', key: schedule.id, dueAt: 0 };
      await transaction(context.store, (tx) => addJobs(tx, card));
      await runDue(context, { card: messageKinds(context).card ?? expect.fail('no cards') });
    };
    for (const time of [STOP, START]) {
      await at(time);
      await (seenBy === 'a run' ? execute() : draw());
      expect(await inLog()).toMatchObject({ isPaused: true });
    }
    expect(sent).toEqual([]);
    const paused = (await events()).filter(({ type }) => type === 'paused');
    expect(paused).toMatchObject([{ by: 'signalbox', why: 'its card was deleted' }]);
    const jobs = await dueJobs(context);
    expect(jobs.filter((job) => job.startsWith('notice '))).toHaveLength(1);
    // Its thread is gone as well.
    expect(jobs.filter((job) => job.startsWith('schedule-note '))).toEqual([]);
    await act('resume');
    expect(await inLog()).toMatchObject({ isPaused: false });
  },
);

const lost = async (options: ScheduledOptions = {}) => {
  const one = await scheduled(options);
  await one.at(STOP);
  const stop = (await one.runs())[0] ?? expect.fail('no run');
  const until = minutes(422);
  const nonce = 'attempt-1';
  await moved(one.context, stop.id, { type: 'claimed', by: 'x', nonce, attempt: 1, until });
  const call = { nonce, answeredAt: minutes(421), tookMs: 1, requestId: null };
  await moved(one.context, stop.id, { type: 'unknown', ...call, status: null, text: '?' });
  return { ...one, stop };
};

test('the opposite run of an unknown one passes its lock, and leaves it open', async () => {
  const { context, at, execute, sent, runs, stop } = await lost();
  await at(START);
  await execute();
  expect(sent).toEqual(['start']);
  const start = (await runs()).find(({ command }) => command === 'service start');
  expect(start).toMatchObject({ state: 'succeeded' });
  expect(await loaded(context, stop.id)).toMatchObject({ state: 'unknown' });
  const target = await eventsOf(context, `target/acme/service/${STAGING.id}`);
  expect(target.slice(1)).toMatchObject([
    { type: 'taken', change: start?.id, over: stop.id },
    { type: 'released', change: start?.id },
  ]);
});

test.for<[string, string, string]>([
  ['starting', 'succeeded', 'it had stopped the service'],
  ['running', 'unknown', 'nothing is proved'],
])(
  'the opposite run of an unknown one settles it where the server answers %s: %s, %s',
  async ([state, settled]) => {
    const learned = { id: STAGING.id, name: 'staging', fields: { state } };
    const send = async () => ({ requestId: null, reported: [state], learned });
    const { context, at, execute, stop, runs } = await lost({ send });
    await at(START);
    await execute();
    expect(await loaded(context, stop.id)).toMatchObject({ state: settled });
    const start = (await runs()).find(({ command }) => command === 'service start');
    const target = await eventsOf(context, `target/acme/service/${STAGING.id}`);
    const released = target.flatMap((each) => (each.type === 'released' ? each.change : []));
    expect(released).toEqual(settled === 'succeeded' ? [start?.id, stop.id] : [start?.id]);
  },
);

test('the opposite run of an unknown one does not pass it before ten minutes after its lease', async () => {
  const { at, execute, sent, clock } = await lost({ body: { ...BODY, start: 'fri 20:05' } });
  await at(minutes(425));
  for (const minute of [425, 431.9]) {
    clock.now = minutes(minute);
    await execute();
    expect(sent).toEqual([]);
  }
  clock.now = minutes(432.1);
  await execute();
  expect(sent).toEqual(['start']);
});

test('a run in the same direction does not', async () => {
  const { at, skipped, runs, stop } = await lost();
  await at(minutes(420 + 3 * DAY));
  expect(await skipped()).toEqual([`the outcome of change ${stop.id} is unknown`]);
  expect(await runs()).toHaveLength(1);
});

test('the start that a person requests stays locked out', async () => {
  const { context, clock, execute, sent, stop } = await lost();
  clock.now = START;
  const manual = await aChange(context, { command: 'service start', state: 'approved' });
  await execute();
  expect(sent).toEqual([]);
  expect(await loaded(context, manual.id)).toMatchObject({ state: 'approved' });
  expect(await loaded(context, stop.id)).toMatchObject({ state: 'unknown' });
});

test('what is due for a schedule is found again from the log alone', async () => {
  const { context, clock, schedule, at, act } = await scheduled();
  const { id } = schedule;
  const due = async () => {
    const all = await ownJobs(context.events, `schedule/${id}`, clock.now);
    return all.map(({ kind, key, dueAt }) => [`${kind}${key.slice(id.length)}`, new Date(dueAt)]);
  };
  const reminder = ['schedule-reminder', minutes(83 * DAY)];
  expect(await due()).toEqual([['schedule', STOP], reminder]);
  // Too late for the stop.
  const late = minutes(540);
  await at(late);
  expect(await due()).toEqual([['schedule', START], reminder, ['schedule-note/2', late]]);
  clock.now = new Date(late.getTime() + 24 * 3_600_000);
  expect(await due()).toEqual([['schedule', START], reminder]);
  await act('pause');
  clock.now = minutes(85 * DAY);
  const end = minutes(90 * DAY);
  expect(await due()).toEqual([['schedule', end]]);
  await at(end);
  expect(await due()).toEqual([['schedule-reminder', end]]);
});

test('nothing is due for a removed schedule', async () => {
  const { context, schedule, act } = await scheduled();
  await act('remove');
  expect(await ownJobs(context.events, `schedule/${schedule.id}`, NOON)).toEqual([]);
});

test('operators read nothing about a schedule that a person paused before the refusal', async () => {
  const { context, at, act, roles, execute } = await scheduled();
  await at(STOP);
  roles.set(ana, []);
  await act('pause');
  await execute();
  expect(await notices(context)).toEqual([]);
});
