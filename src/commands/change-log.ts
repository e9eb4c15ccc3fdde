// `/change log`: the log as people read it, with what happened to one change.

import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { z } from 'zod';
import { cached } from '../base/cache.ts';
import { isDay, startOf } from '../base/calendar.ts';
import { type LocalClock, typedSpan } from '../base/moments.ts';
import { addDays, dayOf, HOUR_MS, spanMs } from '../base/time.ts';
import {
  type Answer,
  type Caller,
  type CommandOffer,
  countWords,
  type PersonLookup,
  textAnswer,
} from '../domain/answer.ts';
import {
  type Change,
  type ChangeId,
  isChangeId,
  isLocal,
  isPrivate,
  STATES,
  type State,
  type UserId,
  type Via,
} from '../domain/change.ts';
import type { ChangeEvent } from '../domain/change-events.ts';
import { foldOf } from '../domain/fold.ts';
import type { IdentityEvidence } from '../domain/gate.ts';
import { type EventOf, evolvePress, type Recorded, type StreamName } from '../domain/log-events.ts';
import { lessParts } from '../domain/narrow.ts';
import type { Service } from '../domain/targets.ts';
import { STATE_WORDS, staleText } from '../domain/words.ts';
import { eventsBefore, type LoggedEvent, loadChange, type Subjects } from '../log/index.ts';
import { choiceField, commandLine, numberField, oneOf, textField } from './arguments.ts';
import { lastWeekday } from './cost-words.ts';
import {
  type CommandContext,
  type Phrase,
  type PhraseState,
  type QueryCommand,
  queryCommand,
  type ReadPhrase,
} from './define.ts';
import { nameAt } from './names.ts';
import type { TextLine } from './reported.ts';

/** Reads a state by its word, or by its name in the audit trail: `waiting` or `pending`. */
const StateText = z.preprocess(
  (typed) => {
    const word = typeof typed === 'string' ? typed.trim().toLowerCase() : typed;
    return STATES.find((state) => STATE_WORDS[state] === word) ?? word;
  },
  z.enum(STATES, { error: `must be ${oneOf(Object.values(STATE_WORDS))}` }),
);

/** A filter by state, for `/change list` and `/change log`. */
export function stateField(label: string) {
  const words = Object.values(STATE_WORDS);
  return choiceField(StateText, () => words, {
    word: 'state',
    label,
    // The states that most questions are about, if no state is called like this.
    suggestions: () => ['waiting', 'running', 'accepted', 'failed', 'unknown'],
  });
}

/** Reads a time in the past, and keeps it as a word: `yesterday`, `2026-11-01`, `36h` or `7d`. */
const PastTimeText = z.string().transform((typed, context): string => {
  const text = typed.trim().toLowerCase();
  const past = typedSpan(text) ?? text;
  if (/^(today|yesterday)$/.test(past) || isDay(past) || !Number.isNaN(spanMs(past))) return past;
  const message =
    'must be today, yesterday, a day (for example 2026-11-01) or a time ago (for example 7d)';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});

/** The start of such a day, or with 1 its end; else so long before now. */
export function instantOf(past: string, now: Date, end: 0 | 1 = 0): Date {
  if (past === 'today') return instantOf(dayOf(now), now, end);
  if (past === 'yesterday') return instantOf(addDays(dayOf(now), -1), now, end);
  return isDay(past) ? new Date(addDays(past, end)) : new Date(now.getTime() - spanMs(past));
}

/** `24 hours`, `last 7 days`, `monday` → a time that the filters read. */
function pastText(typed: string, clock: LocalClock | null): string | null {
  const span = typedSpan(typed.replace(/^(the )?(last|past) /i, '').replace(/ ago$/i, ''));
  if (span !== null) return span;
  const [, day] = /^(?:last )?((?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)$/i.exec(typed) ?? [];
  return clock && day !== undefined ? lastWeekday(day, dayOf(clock.now)) : null;
}

const Sought = z.string().trim().min(1).max(80, 'is too long');

/** One person: `me`, `@ana`, `ana`. */
const personText = (typed: string) => (/^(<@\w+(\|[^>]*)?>|@?[\w.-]+)$/.test(typed) ? typed : null);

/** A time in the past as a key; the hint names one that fits it. */
export function pastField(word: string, label: string, like: string, synonyms: readonly string[]) {
  return textField(PastTimeText, {
    ...{ word, label, synonyms, reads: pastText },
    hint: `yesterday, a UTC day (2026-11-01), or a time ago (${like})`,
    // Offered for one that cannot be read.
    suggestions: () => ['today', 'yesterday', '7d', '30d'],
  });
}

export function personField(label: string) {
  return textField(Sought, {
    word: 'by',
    synonyms: ['who', 'user', 'person'],
    label,
    hint: 'A user, for example @ana, or me',
    reads: personText,
  });
}

/** `last week`, `today`: the days of a search without its keys. */
export const daysPhrase: ReadPhrase = (words, { given, vocabulary }) => {
  if (!vocabulary.clock || given.since !== undefined) return null;
  const today = dayOf(vocabulary.clock.now);
  const monday = startOf('week', today);
  const week = { since: addDays(monday, -7), until: addDays(monday, -1) };
  const text = (count: number) => words.slice(0, count).join(' ').toLowerCase();
  if (/^(this|last) week$/.test(text(2)))
    return { taken: 2, given: text(2) === 'last week' ? week : { since: monday } };
  if (text(2) === 'this month') return { taken: 2, given: { since: startOf('month', today) } };
  const [, since = '', until = ''] = /^([\d-]{10}) (?:to|until|-) ([\d-]{10})$/.exec(text(3)) ?? [];
  if (isDay(since) && isDay(until)) return { taken: 3, given: { since, until } };
  const pastIn = (count: number) => pastText(text(count), null) ?? text(count);
  const taken = [3, 2, 1].find((count) => PastTimeText.safeParse(pastIn(count)).success);
  return taken === undefined ? null : { taken, given: { since: pastIn(taken) } };
};

export function namePhrase(
  field: 'service' | 'target',
  words: readonly string[],
  { given, vocabulary }: PhraseState,
): Phrase | null {
  const typed = words.map((text) => ({ text, quoted: false }));
  const found = given[field] === undefined ? nameAt('service', typed, vocabulary) : null;
  return found && { taken: found.taken, given: { [field]: found.text } };
}

/** Returns the user that `by=` names, null without it, or an answer that says why it names none. */
export async function personOf(
  { named }: CommandContext['changes'],
  word: string | undefined,
  { by }: Caller,
): Promise<{ readonly user: UserId | null } | Answer> {
  if (word === undefined) return { user: null };
  if (word.toLowerCase() === 'me') return { user: by };
  const found = await named(word);
  return found.ok ? found : textAnswer('Which user?', WHY[found.why](word));
}

const WHY: Readonly<Record<Extract<PersonLookup, { ok: false }>['why'], (word: string) => string>> =
  {
    nobody: (word) => `There's no user called “${word}” in Slack. You can also use a member id.`,
    several: (word) => `Several users are called “${word}”. Use the member id, U…, of one of them.`,
    'lookup-failed': () => 'The user lookup in Slack failed. Try again in a minute.',
  };

/** Returns the line of a request, as users type it. */
export function requestLine(
  command: Pick<QueryCommand, 'name' | 'args'>,
  request: { readonly state?: State | undefined; readonly service?: Service | undefined },
): string {
  const { state, service } = request;
  const words = { state: state && STATE_WORDS[state], service: service?.id };
  const given = Object.entries({ ...request, ...words });
  const texts = given.flatMap(([key, value]) => (value ? [[key, String(value)] as const] : []));
  return commandLine(command, Object.fromEntries(texts), '');
}

const LogArgs = z.strictObject({
  by: personField('By'),
  what: textField(Sought, {
    word: 'command',
    synonyms: ['cmd'],
    label: 'Command',
    hint: 'For example service stop',
  }),
  target: textField(Sought, {
    word: 'target',
    synonyms: ['on', 'service', 'alert'],
    label: 'Target',
    hint: 'The name of a service or an alert',
  }),
  state: stateField('New state'),
  since: pastField('since', 'Since', '7d, 4h', ['from', 'after']),
  until: pastField('until', 'Until', '1d', ['to']),
  before: numberField(z.int().min(1), {
    word: 'before',
    label: 'Before event number',
    min: 1,
  }),
});

export const changeLog = queryCommand({
  name: 'change log',
  program: 'read',
  title: 'Read the audit trail',
  summary: 'Read the audit trail: who did what and when, refusals included',
  examples: [
    'change log',
    'change log by=me since=7d',
    'change log target=analytics-prod state=failed',
  ],
  args: LogArgs,

  phrase: (words, so) => daysPhrase(words, so) ?? namePhrase('target', words, so),
  answer: answerChangeLog,
});

const PAGE = 20;
const BATCH = 500;
/** Limits the time of a search for rare events. */
const SEARCHED_MOST = 20_000;
/** A full page does not wait for the count of many older events. */
const COUNTED_MOST = 2_000;
/** The clock of the database may have been set back, so that the search continues past both ends of the range. */
const SKEW_MS = HOUR_MS;

type LogRequest = Partial<z.output<typeof LogArgs>>;

/** Answers `/change log` with one page, newest first. */
export async function answerChangeLog(
  request: LogRequest,
  { changes, now }: Pick<CommandContext, 'changes' | 'now'>,
  asker: Caller,
): Promise<Answer> {
  const { what, target, state } = request;
  const since = request.since === undefined ? null : instantOf(request.since, now());
  const until = request.until === undefined ? null : instantOf(request.until, now(), 1);
  if (since && until && since >= until) return emptyRange(request);
  const who = await personOf(changes, request.by, asker);
  if ('title' in who) return who;
  const has = (text: string | undefined, sought: string | undefined) =>
    !sought || (text ?? '').toLowerCase().includes(sought.toLowerCase());
  const matches = ({ at, by, about, to }: Entry) =>
    (!about?.owner || about.owner === asker.by) &&
    (who.user === null || by === who.user) &&
    has(about?.command, what) &&
    has(about?.target, target) &&
    (!state || to === state) &&
    (since === null || at >= since) &&
    (until === null || at < until);
  const read = entriesOf(changes.events);
  const shown: Entry[] = [];
  let [count, searched] = [0, 0];
  let before: number | null = request.before ?? null;
  const last = until && new Date(until.getTime() + SKEW_MS);
  while (searched < (shown.length < PAGE ? SEARCHED_MOST : COUNTED_MOST)) {
    const page = await eventsBefore(changes.events, { before, until: last, limit: BATCH });
    for (const each of page.events) {
      const entry = await read(each);
      if (!entry || !matches(entry)) continue;
      count += 1;
      if (shown.length < PAGE) shown.push(entry);
    }
    searched += BATCH;
    const oldest = page.events.at(-1)?.event;
    const isPast = oldest && since && oldest.at < since.getTime() - SKEW_MS;
    if (page.next === null || isPast) return pageOf(request, shown, { count, searched: null });
    before = page.next;
    await yieldToOthers();
  }
  return pageOf(request, shown, { count, searched });
}

/** `searched`: how many events were searched, where the search stopped early; the count covers those. */
function pageOf(
  request: LogRequest,
  shown: readonly Entry[],
  { count, searched }: { readonly count: number; readonly searched: number | null },
): Answer {
  const words = countWords(count, 'event');
  const left = count - shown.length;
  const rest = left > 0 ? ` ${countWords(left, 'older event')}.` : '';
  const partial = searched
    ? ` Searched the last ${searched} events; narrow with since and until.`
    : '';
  const { before, ...newest } = request;
  const older = { ...request, before: shown.at(-1)?.seq };
  return {
    title: before === undefined ? words : `${words} before ${before}`,
    parts: [
      shown.length === 0
        ? { kind: 'text', text: 'No matching events.' }
        : { kind: 'lines', lines: shown.map(entryLine) },
      { kind: 'menu', label: 'Show a change…', offers: changeOffers(shown) },
      {
        kind: 'offers',
        offers: [
          ...(left > 0 ? [{ label: 'Older', line: requestLine(changeLog, older) }] : []),
          ...(before === undefined
            ? []
            : [{ label: 'Newest', line: requestLine(changeLog, newest) }]),
        ],
      },
      { kind: 'note', text: `Newest first.${rest}${partial}` },
    ],
  };
}

/** The changes of the page, each one once. */
function changeOffers(shown: readonly Entry[]): readonly CommandOffer[] {
  const offers = shown.flatMap(({ change, about }) => {
    if (!change || !about) return [];
    const label = `${change}: ${about.command} ${about.target}`;
    return [[change, { label, line: `change show ${change}` }] as const];
  });
  return [...new Map(offers).values()];
}

/** An empty time range, where "0 events" would be misleading. */
function emptyRange(request: LogRequest): Answer {
  const { since, until } = request;
  const isReversed = since !== until;
  const why = isReversed ? 'until is before since' : 'both are the same time';
  const text = `The time range since=${since} until=${until} is empty: ${why}.`;
  const swapped = { ...request, since: until, until: since };
  const line = requestLine(changeLog, swapped);
  return textAnswer('Empty time range', text, isReversed ? [{ label: 'Swap both', line }] : []);
}

/** What happened by an event. */
interface Did {
  /** Null: Signalbox. */
  readonly by: UserId | null;
  /** The agent that did it for this user; null: none. */
  readonly via?: string | null;
  /** What the actor did, followed by the command and its target: `approved service stop x`. */
  readonly did: string;
  readonly about?: ReturnType<typeof subjectOf> | null;
}

/** One thing that happened, as a line shows it. */
interface Entry extends Did {
  readonly seq: number;
  readonly at: Date;
  readonly change: ChangeId | null;
  /** The state of the change before and after; null: it has none. */
  readonly from: State | null;
  readonly to: State | null;
}

type Words = readonly [story: string | null, log: string | null];

/** The events of a change that people look for: in its own story, and in the log. The others are for auditors. */
const WORDS: Readonly<Partial<Record<ChangeEvent['type'], Words>>> = {
  drafted: ['prepared it', 'drafted'],
  confirmed: ['requested it', 'requested'],
  'card-lost': [null, 'missed the card, and posts it again,'],
  approved: ['approved it', 'approved'],
  narrowed: ['approved it with less', 'approved with less'],
  rejected: ['rejected it', 'rejected'],
  cancelled: ['cancelled it', 'cancelled'],
  'break-glass': ['used break-glass', 'used break-glass for'],
  reviewed: ['reviewed it', 'reviewed the emergency change'],
  claimed: [null, 'started'],
  'not-sent': ['could not send it yet, and tries again', 'could not send yet, and retries,'],
  succeeded: ['sent it, and the server accepted it', 'sent; the server accepted:'],
  failed: ['sent it, and the server rejected it', 'sent; the server rejected:'],
  unknown: ['may have sent it, and got no clear answer', 'may have sent; outcome unknown:'],
  'late-answer': ['got a late answer', 'got a late answer to'],
  resolved: ['recorded the outcome', 'recorded the outcome of'],
  expired: [
    'ended it: nobody decided in time, or it could not start in time',
    'ended after its time limit:',
  ],
  denied: [
    'did not run it: the policy refuses it now',
    'did not run, because of the current policy:',
  ],
  stale: ['did not run it', 'did not run'],
  used: ['used it', null],
  revoked: ['revoked it', null],
  restored: ['found that the database lost a part of it', 'found that the database lost a part of'],
  'revert-kept': ['does not revert it', 'does not revert'],
  revealed: ['opened the password', 'saw the password of'],
};

/** The words of an event, also by what it holds. */
function wordsOf(event: ChangeEvent, change: Change | null): Words {
  const [story, log] = WORDS[event.type] ?? [null, null];
  if (event.type === 'drafted' && event.inherits)
    return [story, event.parent ? 'planned the revert' : 'planned, by its schedule,'];
  if (event.type === 'cancelled' && event.evidence?.edited) return [story, 'withdrew, to edit,'];
  // Nothing was sent.
  if (event.type === 'succeeded' && change && isLocal(change))
    return ['carried it out', 'carried out'];
  // No server answered.
  if (event.type === 'failed' && event.status === null)
    return ['did not carry it out', 'did not carry out'];
  if (event.type === 'resolved' && event.by === 'signalbox')
    return [story, 'read that the server applied'];
  if (event.type === 'stale') return [story, `${log} (${staleText(event.why)}):`];
  // By what is known of the modal.
  if (event.type === 'revealed' && !event.shown)
    return [story, `${event.shown === null ? 'opened' : 'may not have seen'} the password of`];
  return [story, log];
}

/** Returns what happened to a change for people, the oldest first: who did what, when. */
export async function storyLines(subjects: Subjects, id: ChangeId): Promise<readonly TextLine[]> {
  const { state } = await subjects.load(`change/${id}`, collected<Recorded<ChangeEvent>>);
  const change = await loadChange(subjects, id);
  return (state ?? []).flatMap((event, _, { length }) => {
    const [did] = wordsOf(event, change);
    const actor = actorOf(event);
    // A change that was never confirmed has no other beginning; what an agent asked for a person has two.
    if (!did || (event.type === 'drafted' && length > 1 && !actor.via)) return [];
    const less = change?.narrowings?.find(({ version }) => version === event.version);
    const isLess = less && event.type === 'narrowed';
    const how = isLess ? [': ', ...lessParts(less.wider.plan, event.plan)] : [];
    return [[{ at: new Date(event.at) }, '  ', ...nameOf(actor), ` ${did}${whyOf(event)}`, ...how]];
  });
}

/** Folds a stream to its events, the oldest first. */
function collected<Event>(known: readonly Event[] | null, event: Event): readonly Event[] {
  return [...(known ?? []), event];
}

/** `Ana`, or `Ana via copilot`. */
function nameOf({ by, via }: Pick<Did, 'by' | 'via'>): TextLine {
  return [by === null ? 'Signalbox' : { user: by }, ...(via ? [` via ${via}`] : [])];
}

/** `: not during the launch`: what the user wrote. */
function whyOf(event: ChangeEvent): string {
  if (event.type === 'stale') return `: ${staleText(event.why)}`;
  if (event.type === 'rejected' || event.type === 'break-glass') return `: ${event.reason}`;
  if (event.type === 'not-sent') return `: ${event.why}`;
  if (event.type === 'unknown' || event.type === 'late-answer') return `: ${event.text}`;
  return event.type === 'reviewed' || event.type === 'resolved' ? `: ${event.note}` : '';
}

/**
 * Returns the lines about a change for auditors, the oldest first: each event with its number and hash, refused presses,
 * and the groups that were read for its decisions.
 */
export async function historyLines(subjects: Subjects, id: ChangeId): Promise<readonly TextLine[]> {
  const read = entriesOf(subjects);
  const lines: TextLine[] = [];
  for (const { stream, event } of await eventsAbout(subjects, id)) {
    const entry = await read({ stream, event });
    if (!entry) continue;
    const mark = 'nonce' in event ? `, mark ${String(event.nonce).slice(0, HASH)}` : '';
    const number = ` · event ${event.seq}, ${event.hash.slice(0, HASH)}${mark}`;
    lines.push([...entryLine(entry), number], ...evidenceLines(event));
  }
  return lines;
}

/** Letters of a hash or a mark that are shown. */
const HASH = 12;

type AnyEvent = Recorded<EventOf<StreamName>>;

/** The events of a change, its presses and its refusals, the oldest first. */
async function eventsAbout(subjects: Subjects, id: ChangeId): Promise<readonly LoggedEvent[]> {
  const own = `change/${id}` as StreamName;
  const found = [
    [own, await subjects.load(own, collected<AnyEvent>)] as const,
    // Each of these kinds has its own events.
    ...(await subjects.loadAll(`press/${id}` as 'press', collected<AnyEvent>)),
    ...(await subjects.loadAll(`refusal/${id}` as 'press', collected<AnyEvent>)),
  ];
  const all = found.flatMap(([stream, { state }]) =>
    (state ?? []).map((event) => ({ stream: stream as StreamName, event })),
  );
  return all.toSorted((a, b) => a.event.seq - b.event.seq);
}

/** A change with its state after each of its events. */
interface Course {
  readonly change: Change;
  readonly states: readonly State[];
}

const LOADED_MOST = 50_000;

/** Returns the function that reads an event; null: it is not shown. Each change is loaded once. */
function entriesOf(subjects: Subjects) {
  const courseOf = cached(LOADED_MOST, (id: ChangeId) => loadCourse(subjects, id));
  return async ({ stream, event }: LoggedEvent): Promise<Entry | null> => {
    const [kind = '', id = ''] = stream.split('/');
    const change = isChangeId(id) ? id : null;
    const course = change && (await courseOf(change));
    const did = await didOf(subjects, { stream, event }, course?.change ?? null);
    if (!did) return null;
    const { seq, at, version } = event;
    const states = kind === 'change' ? (course?.states ?? []) : [];
    return {
      ...{ seq, at: new Date(at), change, ...did },
      about: course ? subjectOf(course.change) : (did.about ?? null),
      from: states[version - 2] ?? null,
      to: states[version - 1] ?? null,
    };
  };
}

async function loadCourse(subjects: Subjects, id: ChangeId): Promise<Course | null> {
  const fold = foldOf(id);
  const { state } = await subjects.load(`change/${id}`, (before: Course | null, event): Course => {
    const change = fold(before?.change ?? null, event);
    return { change, states: [...(before?.states ?? []), change.state] };
  });
  return state;
}

/** What an entry is about. `owner`: the only user who may see it, because it was never confirmed; else null. */
function subjectOf(change: Change) {
  const { command, plan, requester } = change;
  return { command, target: plan.target.name, owner: isPrivate(change) ? requester : null };
}

/** What happened by an event, or null for one that only Signalbox needs. */
async function didOf(subjects: Subjects, { stream, event }: LoggedEvent, change: Change | null) {
  switch (stream.split('/')[0]) {
    case 'change': {
      const [, did] = wordsOf(event as ChangeEvent, change);
      return did ? { ...actorOf(event as ChangeEvent), did } : null;
    }
    case 'press':
      return event.type === 'answered'
        ? pressDid(subjects, stream as `press/${string}`, event)
        : null;
    case 'refusal':
      return event.type === 'refused' ? refusalDid(event) : null;
    case 'schedule':
    case 'freeze':
    case 'installation':
      return ownDid(event);
    default:
      return null;
  }
}

function actorOf(event: ChangeEvent): Pick<Did, 'by' | 'via'> {
  if (event.type === 'drafted')
    return event.inherits ? { by: null } : { by: event.requester, via: agentOf(event) };
  if (event.type === 'cancelled') return { by: event.by, via: agentOf(event) };
  return { by: 'by' in event && event.type !== 'claimed' ? userFrom(event.by) : null };
}

/** The agent of a person; an agent for itself is named as the actor. */
function agentOf({ via }: { readonly via?: Via | null | undefined }): string | null {
  return via?.for === 'person' ? via.agent : null;
}

/** What users do about an anomaly of the costs. */
const INCIDENT: Readonly<Record<string, string>> = {
  expected: 'marked an anomaly as expected',
  mute: 'muted an anomaly',
};

/** What a press about a change became is an event of the change; its refusal is not. */
async function pressDid(
  subjects: Subjects,
  stream: `press/${string}`,
  { refusal }: EventOf<`press/${string}`> & { readonly type: 'answered' },
): Promise<Did | null> {
  const { state: press } = await subjects.load(stream, evolvePress);
  if (!press) return null;
  const { by, verb } = press;
  const did = refusal === null ? INCIDENT[verb] : refusedText(refusal, verb);
  return did ? { by, did } : null;
}

function refusalDid(event: EventOf<`refusal/${string}`>): Did {
  const { by, tried, why, command, target } = event;
  // The command that was refused is named as the subject.
  const did = refusedText(why, tried === command ? '' : tried);
  const about = command === null ? null : { command, target: target ?? '', owner: null };
  return { by: userFrom(by), via: agentOf(event), did, about };
}

function refusedText(why: string, tried: string): string {
  return `was refused (${why.replaceAll('-', ' ')}): ${tried.replaceAll('-', ' ')}`.trim();
}

/** What Signalbox does by itself to a freeze, a schedule and its log. What people do is a change of its own. */
function ownDid(event: AnyEvent): Did | null {
  if (event.type === 'skipped') return { by: null, did: `skipped a run (${event.why}):` };
  const isOwn = !('by' in event) || event.by === 'signalbox';
  const did = isOwn ? OWN[event.type] : undefined;
  return did ? { by: null, did } : null;
}

const OWN: Readonly<Record<string, string>> = {
  paused: 'paused the schedule of',
  removed: 'ended the schedule of',
  lifted: 'ended the freeze of',
  configured: 'activated a configuration',
  started: 'started',
  stopped: 'stopped',
  'key-changed': 'replaced the key of the log',
  restored: 'detected a restored database',
  pruned: 'dropped the content of old events, which were exported',
  chapter: 'closed a damaged log, and began a new chapter',
};

/** `signalbox` is no requester. */
function userFrom(by: string): UserId | null {
  return by === 'signalbox' ? null : (by as UserId);
}

/** `12:04  Ana  requested service stop analytics-prod → waiting · 7KQ2MX` */
function entryLine(entry: Entry): TextLine {
  const { at, did, change, about, from, to } = entry;
  const words = [did, about?.command, about?.target].filter(Boolean).join(' ');
  const state = to && to !== from ? ` → ${STATE_WORDS[to]}` : '';
  return [{ at }, '  ', ...nameOf(entry), ` ${words}${state}${change ? ` · ${change}` : ''}`];
}

/** The groups that were read for a decision, with size and age; none where none was read. */
function evidenceLines(event: AnyEvent): readonly TextLine[] {
  const found = 'evidence' in event ? event.evidence : null;
  const { groups = [] } = (found ?? {}) as Partial<IdentityEvidence>;
  const read = groups.flatMap(({ id, size, readAt }, index): TextLine => {
    const ageS = Math.max(0, Math.round((event.at - Date.parse(readAt)) / 1_000));
    const words = ` (${size} members, read ${ageS} s before)`;
    return [...(index > 0 ? [', '] : []), { group: id }, words];
  });
  return read.length > 0 ? [['      members of ', ...read]] : [];
}
