import { z } from 'zod';
import { formatDate } from '../base/calendar.ts';
import { timeOfDay, timesOfDay } from '../base/moments.ts';
import { addDays, dayOf } from '../base/time.ts';
import {
  contradiction,
  nextOccurrence,
  readWeeklyTimes,
  type WeeklyPlan,
  type WeeklyTime,
  weeklyDaysText,
  weeklyTimesText,
} from '../base/weekly-times.ts';
import { countWords, slashCommand } from '../domain/answer.ts';
import { type PlanRow, type Snapshot, type Target, upperFirst } from '../domain/change.ts';
import {
  SCHEDULE_DAYS,
  scheduleCommandLine,
  scheduleLineWords,
  scheduleOffers,
  scheduleText,
  timesOf,
} from '../domain/schedules.ts';
import { type Service, serviceTarget } from '../domain/targets.ts';
import { ServiceName, textField, ZoneName } from './arguments.ts';
import {
  type ChangeCommand,
  type CommandContext,
  changeCommand,
  type Phrase,
  type PhraseState,
  queryCommand,
  type Reading,
  type TargetObservation,
} from './define.ts';

const WeeklyTimes = z.string().transform((typed, context): readonly WeeklyTime[] => {
  const times = readWeeklyTimes(typed);
  if (times) return times;
  const message = 'must be days and a time, for example weekdays 20:00 (no line of cron)';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** `every day 8pm` → `daily 20:00`; null for what has no days or no time. */
function weeklyText(typed: string): string | null {
  const words = typed
    .replace(/\bat\b/gi, ' ')
    .split(/[\s,]+/)
    .filter((word) => word !== '');
  const { days, times, taken } = weeklyWords(words);
  const [one, ...others] = times;
  const [time, ...more] = one?.hours ?? [];
  if (time && others.length + more.length === 0 && taken === words.length && days)
    return `${days} ${time}`;
  const read = readWeeklyTimes(typed);
  return read && weeklyTimesText(read);
}

interface TypedTime {
  /** Undefined where no word says which. */
  readonly action: 'stop' | 'start' | undefined;
  /** Two of an hour that can be in the morning or in the evening. */
  readonly hours: readonly string[];
}

const ACTIONS = [
  [/^(stop|stops|off|down|shutdown|stopped)$/, 'stop'],
  [/^(start|starts|on|up|started)$/, 'start'],
] as const;

/** The days, the times and what happens at each, at the start of the words. */
export function weeklyWords(words: readonly string[]) {
  const times: TypedTime[] = [];
  let [days, action]: [string | null, TypedTime['action']] = [null, undefined];
  // A joining word at the end is no part of it: `weekdays 20:00 until christmas`.
  let [taken, end] = [0, 0];
  // `8` is an hour after a day, an action or `at`.
  let isHour = false;
  const hoursOf = (text: string) => {
    const time = timeOfDay(text);
    return time ? [time] : isHour ? timesOfDay(text) : [];
  };
  while (taken < words.length) {
    const word = (words[taken] ?? '').toLowerCase().replace(/,$/, '');
    const two = words.slice(taken, taken + 2).join(' ');
    const [, from = '', until = ''] = /^([\d:apm]+)-([\d:apm]+)$/.exec(word) ?? [];
    const window = [hoursOf(from), hoursOf(until)].filter((hours) => hours.length > 0);
    const [both, one] = [hoursOf(two), hoursOf(word)];
    const hours = both.length > 0 ? both : one;
    const said = weeklyDaysText(two) ?? weeklyDaysText(word);
    // `stop weekdays 20:00 start weekdays 7:00`
    const named: string | null = days === null || days === said ? said : null;
    const isTwo =
      two !== words[taken] && (hours.length > 0 ? both.length > 0 : named && weeklyDaysText(two));
    const [, is] = ACTIONS.find(([pattern]) => pattern.test(word)) ?? [];
    if (window.length === 2)
      times.push(...window.map((each) => ({ action: undefined, hours: each })));
    else if (hours.length > 0) times.push({ action, hours });
    else if (named && (isTwo || !is)) days = named;
    else if (is) action = is;
    else if (!/^(at|and|from|to|until|every|on|turn|the|each|,|-)$/.test(word)) break;
    const isRead = window.length === 2 || hours.length > 0 || named || is;
    isHour = hours.length === 0 && window.length < 2;
    taken += isTwo && window.length < 2 ? 2 : 1;
    if (isRead) end = taken;
  }
  return { days, times, taken: end };
}

/** `stop at 20:00 start at 7:00 on weekdays`, `weekdays 20:00-07:00`, `every night`. */
function schedulePhrase(words: readonly string[], { given }: PhraseState): Phrase | null {
  if (given.stop !== undefined || given.start !== undefined) return null;
  const { days, times, taken } = weeklyWords(words);
  if (times.length === 0) {
    if (days === null) return null;
    return { taken, unclear: `At what times? “${words.slice(0, taken).join(' ')}” has none.` };
  }
  const all = days === null ? ['weekdays', 'daily'] : [days];
  const isWindow = times.length === 2 && times.every(({ action }) => action === undefined);
  const isOpen = times.some(({ action }) => action === undefined);
  const isVague = times.some(({ hours }) => hours.length > 1);
  const orders = [['stop', 'start'] as const, ['start', 'stop'] as const];
  const hours = times.reduce<readonly (readonly string[])[]>(
    (combined, time) => combined.flatMap((before) => time.hours.map((hour) => [...before, hour])),
    [[]],
  );
  const readings = (isOpen ? orders : orders.slice(0, 1))
    .flatMap((order) =>
      hours.map((each) =>
        each.map((time, at) => ({ action: times[at]?.action ?? order[isWindow ? at : 0], time })),
      ),
    )
    .toSorted((one, other) => unusual(one) - unusual(other))
    .flatMap((plan) => all.map((each) => planReading(plan, each)));
  const [one, ...others] = readings;
  if (one && others.length === 0) return { taken, given: one.given };
  const what = isWindow
    ? 'Is the service stopped in this window, or does it run then?'
    : isOpen
      ? 'On which days, and what happens then?'
      : 'On which days?';
  const asked = [...(isVague ? ['Morning or evening?'] : []), ...(isOpen || !days ? [what] : [])];
  const why = asked.join(' ');
  return { taken, choice: { why, readings } };
}

interface PlannedTime extends Pick<TypedTime, 'action'> {
  readonly time: string;
}

/** How many starts are in the evening and stops in the morning: what is usual is offered first. */
function unusual(plan: readonly PlannedTime[]): number {
  return plan.filter(({ action, time }) => (action === 'stop') === time < '12:00').length;
}

function planReading(plan: readonly PlannedTime[], days: string): Reading {
  const given = Object.fromEntries(plan.map(({ action, time }) => [action, `${days} ${time}`]));
  const label = plan.map(({ action, time }) => `${action} ${time}`).join(', ');
  return { label: `${days}: ${label}`, given };
}

/** The days and time of a line of cron; a time without days is offered with the usual ones. */
function withDays(typed: string): readonly string[] {
  const [, minute, hour, weekdays = ''] =
    /^(\d{1,2}) (\d{1,2}) \*? ?\*? ?([\d*,-]+)$/.exec(typed.replace(/\s+/g, ' ').trim()) ?? [];
  const days = { '*': 'daily', '1-5': 'weekdays', '0,6': 'weekends', '6,0': 'weekends' }[weekdays];
  if (minute !== undefined && days)
    return [`${days} ${hour?.padStart(2, '0')}:${minute.padStart(2, '0')}`];
  if (/[a-z]/i.test(typed)) return [];
  return ['weekdays', 'daily']
    .map((days) => `${days} ${typed.trim()}`)
    .filter((text) => readWeeklyTimes(text) !== null);
}

const times = (word: 'stop' | 'start', label: string) =>
  textField(WeeklyTimes, {
    word,
    label,
    hint: 'For example weekdays 20:00, or mon-thu 20:00, fri 18:00. Empty: never',
    suggestions: withDays,
    reads: weeklyText,
  });

const args = z.strictObject({
  service: ServiceName,
  stop: times('stop', 'Stop'),
  start: times('start', 'Start'),
  zone: ZoneName,
});

export const serviceSchedule = changeCommand({
  name: 'service schedule',
  program: 'request',
  title: 'Schedule a service',
  summary: 'Stop and start a service at fixed times of the week',
  examples: [
    'service schedule staging stop="weekdays 20:00" start="weekdays 07:00" zone=Europe/Berlin',
    'service schedule staging stop="daily 22:00" nobody works at night',
  ],
  permission: 'service:manage',
  effect: 'schedule',
  phrase: schedulePhrase,
  args,
  call: 'PUT schedule',
  runs: ({ stop, start }) => [
    ...(stop === null ? [] : ['service stop']),
    ...(start === null ? [] : ['service start']),
  ],

  resolveArguments: async (args, { schedules }, by) => {
    const zone = args.zone ?? (await schedules.zoneOf(by));
    return zone === null
      ? { ok: false, problems: [NO_ZONE] }
      : { ok: true, args: { ...args, zone } };
  },
  target: ({ service }) => scheduleTarget(service),
  observe: ({ service }, context) => observeSchedule(service, context),
  problems: (args) => {
    const plan = planOf(args);
    if (plan.stop.length + plan.start.length === 0) return [NO_TIME];
    const slot = contradiction(plan);
    return slot ? [{ field: 'start', problem: `is also a stop: ${slot}` }] : [];
  },
  desired: (args) => bodyOf(args),
  rows: (args, before, { now }) => [
    ...timeRows(bodyOf(args), before),
    ...firstRows(planOf(args), now()),
    untilRow(now()),
  ],
  warnings: (args, before) => [
    ...(args.stop ? ['Queries and pipes of this service stop at each stop.'] : []),
    ...(args.stop && !args.start ? ['It has no start: the service stays stopped.'] : []),
    ...(before ? [`It replaces the current schedule (${String(before.fields.id)}).`] : []),
  ],
  own: 'schedule',
  undo: ({ id }) => ({ label: 'Remove schedule', line: `service schedule remove ${id}` }),
  outcome: { done: 'scheduled' },
  endingNote: 'In force. Each run is a change of its own, and is checked again at its time.',
});

/** The schedule of a service as the target of a change: policies select it like the service. */
function scheduleTarget(service: Service): Target {
  return { ...serviceTarget(service), kind: 'schedule' };
}

/** The current schedule of a service, for a preview; null if it has none. */
async function observeSchedule(
  { id }: Service,
  { schedules, now }: Pick<CommandContext, 'schedules' | 'now'>,
): Promise<TargetObservation> {
  const current = await schedules.of(id);
  if (current === null) return { before: null };
  const { change, until, stop, start, zone, isPaused } = current;
  const fields = { id: change, stop, start, zone, isPaused, until: until.toISOString() };
  return { before: { fields, seenAt: now(), source: `schedule ${change}` } };
}

const NO_ZONE = {
  field: 'zone',
  problem: 'must be given, for example Europe/Berlin: Slack did not return your time zone',
};
const NO_TIME = { field: 'stop', problem: 'or start must be given, for example weekdays 20:00' };

type Times = Omit<z.output<typeof args>, 'service'>;

function planOf({ stop = [], start = [], zone = 'UTC' }: Times): WeeklyPlan {
  return { stop, start, timezone: zone };
}

function bodyOf({ stop, start, zone = 'UTC' }: Times) {
  const text = (all: readonly WeeklyTime[] | undefined) => (all ? weeklyTimesText(all) : null);
  return { stop: text(stop), start: text(start), zone };
}

/**
 * Every time is shown, also one that stays: approvers decide about the whole schedule. The zone is
 * shown once, because a preview has little room.
 */
function timeRows(after: ReturnType<typeof bodyOf>, before: Snapshot | null): readonly PlanRow[] {
  const previous = before ? timesOf(before) : null;
  const rows = [
    ['stop', 'Stop'],
    ['start', 'Start'],
  ] as const;
  const last = after.start === null ? 'stop' : 'start';
  return rows.map(([field, label]) => {
    const text = ({ zone, ...times }: typeof after) =>
      `${times[field] ?? 'never'}${field === last ? ` (${zone})` : ''}`;
    const [was, is] = [previous && text(previous), text(after)];
    return { field, label, before: was !== is ? was : null, after: is };
  });
}

/** Slack shows an instant in the zone of the reader. */
function firstRows(plan: WeeklyPlan, now: Date): readonly PlanRow[] {
  return (['stop', 'start'] as const).flatMap((action) => {
    const own = { ...NEVER, timezone: plan.timezone, [action]: plan[action] };
    const first = nextOccurrence(own, now);
    const label = `First ${action}`;
    return first
      ? [{ field: `first ${action}`, label, before: null, after: first.at.toISOString() }]
      : [];
  });
}

const NEVER = { stop: [], start: [] };

/** The request has to be approved sooner: the two times must not look alike. */
function untilRow(now: Date): PlanRow {
  const until = formatDate(addDays(dayOf(now), SCHEDULE_DAYS));
  return { field: 'until', label: 'Runs until', before: null, after: `${until}, then renew` };
}

export const serviceScheduleList = queryCommand({
  name: 'service schedule list',
  program: 'read',
  title: 'List schedules',
  summary: 'List the schedules of services and their next runs',
  examples: ['service schedule list'],
  args: z.strictObject({}),
  answer: async (_args, { schedules, prefix }) => {
    const all = await schedules.all();
    if (all.length === 0) {
      const example = 'service schedule staging stop="weekdays 20:00"';
      const none = `Request one, for example: ${slashCommand(prefix, example)}`;
      return { title: 'No service has a schedule', parts: [{ kind: 'note', text: none }] };
    }
    const offers = all.flatMap(scheduleOffers);
    return {
      title: countWords(all.length, 'schedule'),
      parts: [
        { kind: 'lines', lines: all.map(scheduleLineWords) },
        { kind: 'menu', label: 'Edit a schedule…', offers },
      ],
    };
  },
});

export const serviceSchedulePause = scheduleAction({
  verb: 'pause',
  summary: 'Pause the schedule of a service',
  warnings: ['Until it is resumed, the schedule neither stops nor starts the service.'],
  undo: ({ id }) => ({ label: 'Resume', line: `service schedule resume ${id}` }),
  endingNote: 'The schedule does not run until it is resumed. It still expires.',
  unlessPaused: true,
});

export const serviceScheduleRemove = scheduleAction({
  verb: 'remove',
  summary: 'Remove the schedule of a service',
  warnings: ['The service stays as it is: nothing stops or starts it any more.'],
  undo: ({ id, name }, before) =>
    before && {
      label: 'Schedule again',
      line: scheduleCommandLine({ service: { id, name }, ...timesOf(before) }),
    },
  endingNote: 'The schedule does not run any more.',
  unlessPaused: null,
});

export const serviceScheduleResume = scheduleAction({
  verb: 'resume',
  summary: 'Resume a paused schedule of a service',
  warnings: ['Runs that were due meanwhile do not take place.'],
  undo: ({ id }) => ({ label: 'Pause', line: `service schedule pause ${id}` }),
  endingNote: 'The schedule runs again from its next time on.',
  unlessPaused: false,
});

/** What a change of an existing schedule does to it. */
interface ScheduleAction extends Pick<ChangeCommand, 'summary' | 'undo' | 'endingNote'> {
  readonly verb: 'pause' | 'resume' | 'remove';
  readonly warnings: readonly string[];
  /** The state in which the action has no effect; null if there is none. */
  readonly unlessPaused: boolean | null;
}

/** A command that pauses, resumes or removes the schedule of a service. */
function scheduleAction({ verb, warnings, unlessPaused, ...words }: ScheduleAction): ChangeCommand {
  return changeCommand({
    ...words,
    name: `service schedule ${verb}`,
    program: 'request',
    title: `${upperFirst(verb)} a schedule`,
    examples: [`service schedule ${verb} staging release week`],
    args: z.strictObject({ service: ServiceName }),
    call: 'PUT schedule',

    target: ({ service }) => scheduleTarget(service),
    observe: ({ service }, context) => observeSchedule(service, context),
    noEffect: ({ service }, before) => {
      if (!before) return { sentence: `${service.name} has no schedule.`, offers: [LIST] };
      if (unlessPaused === null || before.fields.isPaused !== unlessPaused) return null;
      const state = unlessPaused ? 'paused already' : 'in force already';
      return { sentence: `The schedule of ${service.name} is ${state}.`, offers: [] };
    },
    desired: (_args, before) => ({ schedule: before?.fields.id ?? null }),
    rows: (_args, before) => [
      { field: 'schedule', label: 'Schedule', before: null, after: textOf(before) },
    ],
    warnings: () => warnings,
    own: `schedule ${verb}`,
    outcome: { done: `${verb}d` },
  });
}

const LIST = { label: 'List schedules', line: 'service schedule list' };

function textOf(before: Snapshot | null): string {
  return before ? scheduleText(timesOf(before)) : 'none';
}
