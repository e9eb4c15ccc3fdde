// The log as people read it: what happened to a change, and `/change log`.

import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Json } from '../base/text.ts';
import { addDays, DAY_MS, HOUR_MS } from '../base/time.ts';
import type { LogRequest, PastTime } from '../commands/index.ts';
import {
  type Answer,
  type AnswerPart,
  type Caller,
  type CommandOffer,
  countWords,
  type InlinePart,
  type PersonLookup,
  textAnswer,
} from '../domain/answer.ts';
import {
  type Change,
  type ChangeId,
  isChangeId,
  isLocal,
  isPrivate,
  type State,
  type UserId,
  type Via,
} from '../domain/change.ts';
import type { ChangeEvent } from '../domain/change-events.ts';
import { foldOf } from '../domain/fold.ts';
import { type EventOf, evolvePress, type Recorded, type StreamName } from '../domain/log-events.ts';
import { lessParts } from '../domain/narrow.ts';
import { STATE_WORDS, staleText } from '../domain/words.ts';
import { eventsBefore, type LoggedEvent, loadChange, type Subjects } from '../log/index.ts';
import type { DecisionContext } from './context.ts';

/** One thing that happened, as a line shows it. */
interface Entry {
  readonly seq: number;
  readonly at: Date;
  /** Null: Signalbox. */
  readonly by: UserId | null;
  /** The agent that did it for this user; null: none. */
  readonly via: string | null;
  /** What the actor did, followed by the command and its target: `approved service stop x`. */
  readonly did: string;
  /** The refused command, which `did` names already. */
  readonly tried: string | null;
  readonly change: ChangeId | null;
  readonly subject: Subject | null;
  /** The state of the change before and after; null: it has none. */
  readonly from: State | null;
  readonly to: State | null;
  readonly evidence: Json;
}

/** What an entry is about. */
interface Subject {
  readonly command: string;
  readonly target: string;
  /** The only user who may see it, because it was never confirmed; else null. */
  readonly owner: UserId | null;
}

/** Returns what happened to a change for people, the oldest first: who did what, when. */
export async function storyLines(
  subjects: Subjects,
  id: ChangeId,
): Promise<readonly (readonly InlinePart[])[]> {
  const own = await eventsIn(subjects, `change/${id}`);
  const known = await loadChange(subjects, id);
  const less = known?.narrowings ?? [];
  return own.flatMap(({ event }) => {
    const change = event as Recorded<ChangeEvent>;
    const done = known && wasDoneHere(change, known) ? 'carried it out' : STORY[change.type];
    const did = wasNotDone(change) ? 'did not carry it out' : done;
    const { by = null, via = null } = changeDid(change) ?? {};
    // A change that was never confirmed has no other beginning; what an agent asked for a person has two.
    if (!did || (change.type === 'drafted' && own.length > 1 && via === null)) return [];
    const wider = less.find(({ version }) => version === change.version)?.wider.plan;
    const isLess = wider && change.type === 'narrowed';
    const how = isLess ? [': ', ...lessParts(wider, change.plan)] : [];
    const words = ` ${did}${whyOf(change)}`;
    return [[{ at: new Date(change.at) }, '  ', ...actorOf(by, via), words, ...how]];
  });
}

/** `Ana`, or `Ana via copilot`. */
function actorOf(by: UserId | null, via: string | null): readonly InlinePart[] {
  return [by === null ? 'Signalbox' : { user: by }, ...(via === null ? [] : [` via ${via}`])];
}

/** Signalbox itself refused it: no server answered. */
function wasNotDone(event: ChangeEvent): boolean {
  return event.type === 'failed' && event.status === null;
}

/** Signalbox itself did it: nothing was sent. */
function wasDoneHere(event: AnyEvent | ChangeEvent, change: Change): boolean {
  return event.type === 'succeeded' && isLocal(change);
}

/** The events of a change that people look for, as sentences; the others are for auditors. */
const STORY: Readonly<Partial<Record<ChangeEvent['type'], string>>> = {
  drafted: 'prepared it',
  confirmed: 'requested it',
  approved: 'approved it',
  narrowed: 'approved it with less',
  rejected: 'rejected it',
  cancelled: 'cancelled it',
  'break-glass': 'used break-glass',
  reviewed: 'reviewed it',
  'not-sent': 'could not send it yet, and tries again',
  succeeded: 'sent it, and the server accepted it',
  failed: 'sent it, and the server rejected it',
  unknown: 'may have sent it, and got no clear answer',
  'late-answer': 'got a late answer',
  resolved: 'recorded the outcome',
  expired: 'ended it: nobody decided in time, or it could not start in time',
  denied: 'did not run it: the policy refuses it now',
  stale: 'did not run it',
  used: 'used',
  revoked: 'revoked',
  restored: 'found that the database lost a part of it',
  'revert-kept': 'does not revert it',
  revealed: 'opened the password',
};

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
export async function historyLines(
  subjects: Subjects,
  id: ChangeId,
): Promise<readonly (readonly InlinePart[])[]> {
  const own = await eventsIn(subjects, `change/${id}`);
  const presses = await eventsUnder(subjects, `press/${id}`);
  const refusals = await eventsUnder(subjects, `refusal/${id}`);
  const all = [...own, ...presses, ...refusals].toSorted((a, b) => a.event.seq - b.event.seq);
  const read = entriesOf(subjects);
  const lines: (readonly InlinePart[])[] = [];
  for (const each of all) {
    const entry = await read(each);
    if (!entry) continue;
    const evidence = evidenceLine(entry);
    const mark = 'nonce' in each.event ? `, mark ${String(each.event.nonce).slice(0, HASH)}` : '';
    const number = ` · event ${entry.seq}, ${each.event.hash.slice(0, HASH)}${mark}`;
    lines.push([...entryLine(entry), number], ...(evidence ? [evidence] : []));
  }
  return lines;
}

/** Letters of a hash or a mark that are shown. */
const HASH = 12;

type AnyEvent = Recorded<EventOf<StreamName>>;

async function eventsIn(subjects: Subjects, stream: StreamName): Promise<readonly LoggedEvent[]> {
  const { state } = await subjects.load<StreamName, readonly AnyEvent[]>(stream, collected);
  return (state ?? []).map((event) => ({ stream, event }));
}

async function eventsUnder(
  subjects: Subjects,
  group: `press/${string}` | `refusal/${string}`,
): Promise<readonly LoggedEvent[]> {
  // Each of these kinds has its own events.
  const kind = group as 'press';
  const found = await subjects.loadAll<'press', readonly AnyEvent[]>(kind, collected);
  return [...found].flatMap(([stream, { state }]) =>
    (state ?? []).map((event) => ({ stream: stream as StreamName, event })),
  );
}

function collected(known: readonly AnyEvent[] | null, event: AnyEvent): readonly AnyEvent[] {
  return [...(known ?? []), event];
}

/** A change with its state after each of its events. */
interface Course {
  readonly change: Change;
  readonly states: readonly State[];
}

type ReadEntry = (logged: LoggedEvent) => Promise<Entry | null>;

/** Returns the function that reads an event; null: it is not shown. Each change is loaded once. */
function entriesOf(subjects: Subjects): ReadEntry {
  const known = new Map<ChangeId, Promise<Course | null>>();
  const courseOf = (id: ChangeId) => {
    const course = known.get(id) ?? loadCourse(subjects, id);
    known.set(id, course);
    return course;
  };
  return async ({ stream, event }) => {
    const [kind = '', id = ''] = stream.split('/');
    const did = await didOf(subjects, stream, event);
    if (!did) return null;
    const course = isChangeId(id) ? await courseOf(id) : null;
    const { seq, at, version } = event;
    const states = kind === 'change' ? (course?.states ?? []) : [];
    const isHere = course && wasDoneHere(event, course.change);
    return {
      ...{ seq, at: new Date(at), tried: null, via: null, ...did },
      ...(isHere && { did: 'carried out' }),
      change: isChangeId(id) ? id : null,
      subject: course ? subjectOf(course.change) : (did.about ?? null),
      from: states[version - 2] ?? null,
      to: states[version - 1] ?? null,
      evidence: 'evidence' in event ? (event.evidence ?? null) : null,
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

function subjectOf(change: Change): Subject {
  const { command, plan, requester } = change;
  return { command, target: plan.target.name, owner: isPrivate(change) ? requester : null };
}

interface Did extends Pick<Entry, 'by' | 'did'>, Partial<Pick<Entry, 'via'>> {
  readonly tried?: string;
  /** What a refusal was about, where it belongs to no change. */
  readonly about?: Subject | null;
}

/** What happened by an event, or null for one that only Signalbox needs. */
async function didOf(subjects: Subjects, stream: StreamName, event: AnyEvent): Promise<Did | null> {
  const [kind] = stream.split('/');
  switch (kind) {
    case 'change':
      return changeDid(event as Recorded<ChangeEvent>);
    case 'press':
      return event.type === 'answered'
        ? pressDid(subjects, stream as `press/${string}`, event)
        : null;
    case 'refusal':
      return event.type === 'refused' ? refusalDid(event) : null;
    case 'schedule':
    case 'freeze':
      return ownDid(event);
    case 'installation': {
      const did = INSTALLATION[event.type];
      return did ? { by: null, did } : null;
    }
    default:
      return null;
  }
}

/** The events of a change that people read. */
const CHANGE: Readonly<Partial<Record<ChangeEvent['type'], string>>> = {
  drafted: 'drafted',
  confirmed: 'requested',
  'card-lost': 'missed the card, and posts it again,',
  approved: 'approved',
  narrowed: 'approved with less',
  rejected: 'rejected',
  cancelled: 'cancelled',
  'break-glass': 'used break-glass for',
  reviewed: 'reviewed the emergency change',
  claimed: 'started',
  'not-sent': 'could not send yet, and retries,',
  succeeded: 'sent; the server accepted:',
  failed: 'sent; the server rejected:',
  unknown: 'may have sent; outcome unknown:',
  'late-answer': 'got a late answer to',
  resolved: 'recorded the outcome of',
  expired: 'ended after its time limit:',
  denied: 'did not run, because of the current policy:',
  stale: 'did not run',
  restored: 'found that the database lost a part of',
  'revert-kept': 'does not revert',
  revealed: 'saw the password of',
};

/** By what is known of the modal. */
const REVEALED: Readonly<Record<string, string>> = {
  null: 'opened the password of',
  false: 'may not have seen the password of',
};

function changeDid(event: ChangeEvent): Did | null {
  const did = CHANGE[event.type];
  if (!did) return null;
  if (wasNotDone(event)) return { by: null, did: 'did not carry out' };
  switch (event.type) {
    case 'drafted': {
      if (!event.inherits) return { by: event.requester, via: agentOf(event), did };
      return { by: null, did: event.parent ? 'planned the revert' : 'planned, by its schedule,' };
    }
    case 'cancelled':
      if (event.via) return { by: event.by, via: agentOf(event), did };
      return { by: event.by, did: event.evidence?.edited ? 'withdrew, to edit,' : did };
    case 'resolved':
      if (event.by === 'signalbox') return { by: null, did: 'read that the server applied' };
      return { by: event.by, did };
    case 'stale':
      return { by: null, did: `${did} (${staleText(event.why)}):` };
    case 'revealed':
      return { by: event.by, did: REVEALED[String(event.shown)] ?? did };
    case 'claimed':
      return { by: null, did };
    default:
      return { by: 'by' in event ? userFrom(event.by) : null, did };
  }
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
  if (refusal !== null) return { by, did: refusedText(refusal, verb) };
  const did = INCIDENT[verb];
  return did ? { by, did } : null;
}

function refusalDid(event: EventOf<`refusal/${string}`>): Did {
  const { by, tried, why, command, target } = event;
  const via = agentOf(event);
  const about = command === null ? null : { command, target: target ?? '', owner: null };
  return { by: userFrom(by), via, did: refusedText(why, tried), tried, about };
}

function refusedText(why: string, tried: string): string {
  return `was refused (${why.replaceAll('-', ' ')}): ${tried.replaceAll('-', ' ')}`;
}

/** What Signalbox does to a freeze or a schedule by itself. What people do is a change of its own. */
function ownDid(event: AnyEvent): Did | null {
  if (event.type === 'skipped') return { by: null, did: `skipped a run (${event.why}):` };
  const isOwn = 'by' in event && event.by === 'signalbox';
  if (!isOwn) return null;
  const did: Readonly<Record<string, string>> = {
    paused: 'paused the schedule of',
    removed: 'ended the schedule of',
    lifted: 'ended the freeze of',
  };
  const words = did[event.type];
  return words ? { by: null, did: words } : null;
}

const INSTALLATION: Readonly<Record<string, string>> = {
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
function entryLine({
  at,
  by,
  via,
  did,
  tried,
  change,
  subject,
  from,
  to,
}: Entry): readonly InlinePart[] {
  // A refused command is named by the action already.
  const named = subject && tried === subject.command ? '' : subject?.command;
  const about = [named, subject?.target].filter(Boolean).map((word) => ` ${word}`);
  const state = to && to !== from ? ` → ${STATE_WORDS[to]}` : '';
  const id = change ? ` · ${change}` : '';
  return [{ at }, '  ', ...actorOf(by, via), ` ${did}${about.join('')}${state}${id}`];
}

/** Lists the groups that were read for a decision, with size and age; null where none was read. */
function evidenceLine({ evidence, at }: Entry): readonly InlinePart[] | null {
  const found = typeof evidence === 'object' && evidence !== null ? evidence : {};
  const groups = 'groups' in found && Array.isArray(found.groups) ? found.groups : [];
  const read = groups.flatMap((group) => groupEvidence(group, at));
  if (read.length === 0) return null;
  return [
    '      members of ',
    ...read.flatMap((one, index) => [...(index > 0 ? [', '] : []), ...one]),
  ];
}

function groupEvidence(group: unknown, at: Date): readonly (readonly InlinePart[])[] {
  if (typeof group !== 'object' || group === null) return [];
  const { id, size, readAt } = group as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || typeof readAt !== 'string') return [];
  const ageS = Math.max(0, Math.round((at.getTime() - new Date(readAt).getTime()) / 1_000));
  return [[{ group: id }, ` (${String(size)} members, read ${ageS} s before)`]];
}

type LogContext = Pick<DecisionContext, 'events' | 'now'> & PersonSearch;

const PAGE = 20;
const BATCH = 500;
/** Limits the time of a search for rare events. */
const SEARCHED_MOST = 20_000;
/** A full page does not wait for the count of many older events. */
const COUNTED_MOST = 2_000;
/** The clock of the database may have been set back, so that the search continues past both ends of the range. */
const SKEW_MS = HOUR_MS;

/** Answers `/change log` with one page, newest first. */
export async function answerChangeLog(
  context: LogContext,
  request: LogRequest,
  asker: Caller,
): Promise<Answer> {
  const empty = emptyRange(request, context.now());
  if (empty) return empty;
  const who = request.by === null ? null : await personOf(context, request.by, asker);
  if (who && 'title' in who) return who;
  const filter = { ...filterOf(request, context.now()), by: who?.user ?? null, viewer: asker.by };
  return pageOf(await search(context, filter, request.before), request);
}

interface Filter {
  readonly by: UserId | null;
  readonly command: string | null;
  readonly target: string | null;
  readonly state: State | null;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly viewer: UserId;
}

function filterOf(request: LogRequest, now: Date): Omit<Filter, 'by' | 'viewer'> {
  const lower = (text: string | null) => text?.toLowerCase() ?? null;
  return {
    command: lower(request.command),
    target: lower(request.target),
    state: request.state,
    since: request.since && instantOf(request.since, now),
    until: request.until && instantOf(request.until, now),
  };
}

interface SearchResult {
  readonly shown: readonly Entry[];
  readonly count: number;
  /** How many events were searched, where the search stopped early; the count covers those. */
  readonly searched: number | null;
}

async function search(
  { events: log }: LogContext,
  filter: Filter,
  from: number | null,
): Promise<SearchResult> {
  const read = entriesOf(log);
  const until = filter.until && new Date(filter.until.getTime() + SKEW_MS);
  let before: number | null = from;
  const shown: Entry[] = [];
  let [count, searched] = [0, 0];
  while (searched < (shown.length < PAGE ? SEARCHED_MOST : COUNTED_MOST)) {
    const { events, next } = await eventsBefore(log, { before, until, limit: BATCH });
    for (const each of events) {
      const entry = await read(each);
      if (!entry || !matches(entry, filter)) continue;
      count += 1;
      if (shown.length < PAGE) shown.push(entry);
    }
    searched += BATCH;
    const last = events.at(-1);
    const isPast = last && filter.since && last.event.at < filter.since.getTime() - SKEW_MS;
    if (next === null || isPast) return { shown, count, searched: null };
    before = next;
    await yieldToOthers();
  }
  return { shown, count, searched };
}

function matches({ at, by: actor, subject, to }: Entry, filter: Filter): boolean {
  const { by, command, target, state, since, until, viewer } = filter;
  return (
    (!subject?.owner || subject.owner === viewer) &&
    (by === null || actor === by) &&
    (command === null || (subject?.command ?? '').includes(command)) &&
    (target === null || (subject?.target ?? '').toLowerCase().includes(target)) &&
    (state === null || to === state) &&
    (since === null || at >= since) &&
    (until === null || at < until)
  );
}

function pageOf({ shown, count, searched }: SearchResult, request: LogRequest): Answer {
  const words = countWords(count, 'event');
  const left = count - shown.length;
  const rest = left > 0 ? ` ${countWords(left, 'older event')}.` : '';
  const partial = searched
    ? ` Searched the last ${searched} events; narrow with since and until.`
    : '';
  const parts: readonly AnswerPart[] = [
    shown.length === 0
      ? { kind: 'text', text: 'No matching events.' }
      : { kind: 'lines', lines: shown.map(entryLine) },
    { kind: 'menu', label: 'Show a change…', offers: changeOffers(shown) },
    { kind: 'offers', offers: pageOffers(shown, left, request) },
    { kind: 'note', text: `Newest first.${rest}${partial}` },
  ];
  return { title: request.before === null ? words : `${words} before ${request.before}`, parts };
}

/** The changes of the page, each one once. */
function changeOffers(shown: readonly Entry[]): readonly CommandOffer[] {
  const offers = shown.flatMap(({ change, subject }) => {
    if (!change || !subject) return [];
    const label = `${change}: ${subject.command} ${subject.target}`;
    return [[change, { label, line: `change show ${change}` }] as const];
  });
  return [...new Map(offers).values()];
}

function pageOffers(
  shown: readonly Entry[],
  left: number,
  request: LogRequest,
): readonly CommandOffer[] {
  const last = shown.at(-1)?.seq;
  return [
    ...(left > 0 && last ? [{ label: 'Older', line: logLine(request, last) }] : []),
    ...(request.before === null ? [] : [{ label: 'Newest', line: logLine(request, null) }]),
  ];
}

/** Returns the command line of the same request, from another event on. */
function logLine(request: LogRequest, before: number | null): string {
  const { by, command, target, state } = request;
  const [since, until] = [pastText(request.since), pastText(request.until)];
  const word = state && STATE_WORDS[state];
  const given = { by, command, target, state: word, since, until, before };
  return ['change log', ...filterWords(given)].join(' ');
}

/** Returns an answer for an empty time range, where "0 events" would be misleading; else null. */
function emptyRange(request: LogRequest, now: Date): Answer | null {
  const { since, until } = request;
  if (!since || !until) return null;
  const emptyMs = instantOf(since, now).getTime() - instantOf(until, now).getTime();
  if (emptyMs < 0) return null;
  const why = emptyMs === 0 ? 'both are the same time' : 'until is before since';
  const text = `The time range since=${pastText(since)} until=${pastText(until)} is empty: ${why}.`;
  const [from, to] = emptyMs === 0 ? [since, dayAfter(since)] : [until, since];
  const line = to && logLine({ ...request, since: from, until: to }, null);
  const offers = line ? [{ label: emptyMs === 0 ? 'The whole day' : 'Swap both', line }] : [];
  const parts: readonly AnswerPart[] = [
    { kind: 'text', text },
    { kind: 'offers', offers },
  ];
  return { title: 'Empty time range', parts };
}

/** The end of a day that has one in the past; null for today and for a time ago. */
function dayAfter(since: PastTime): PastTime | null {
  if ('daysAgo' in since) return since.daysAgo === 1 ? { daysAgo: 0 } : null;
  return 'day' in since ? { day: addDays(since.day, 1) } : null;
}

export function instantOf(past: PastTime, now: Date): Date {
  if ('day' in past) return new Date(`${past.day}T00:00:00Z`);
  if ('daysAgo' in past) return midnightOf(new Date(now.getTime() - past.daysAgo * DAY_MS));
  return new Date(now.getTime() - past.agoMs);
}

function midnightOf(instant: Date): Date {
  return new Date(Math.floor(instant.getTime() / DAY_MS) * DAY_MS);
}

/** The time as users type it: `2026-11-01`, `yesterday`, `7d`. */
export function pastText(past: PastTime | null): string | null {
  if (past === null) return null;
  if ('day' in past) return past.day;
  if ('daysAgo' in past) return past.daysAgo === 0 ? 'today' : 'yesterday';
  const minutes = Math.round(past.agoMs / 60_000);
  if (minutes % 1_440 === 0) return `${minutes / 1_440}d`;
  return minutes % 60 === 0 ? `${minutes / 60}h` : `${minutes}m`;
}

/** The filters as users type them: `by=me state=failed`. A filter that is null is left out. */
export function filterWords(given: Readonly<Record<string, string | number | null>>): string[] {
  return Object.entries(given).flatMap(([key, value]) =>
    value === null ? [] : [/\s/.test(String(value)) ? `${key}="${value}"` : `${key}=${value}`],
  );
}

export interface PersonSearch {
  readonly named: (word: string) => Promise<PersonLookup>;
}

/** Returns the user that `by=` names, or an answer that says why it names none. */
export async function personOf(
  { named }: PersonSearch,
  word: string,
  { by }: Caller,
): Promise<{ readonly user: UserId } | Answer> {
  if (word.toLowerCase() === 'me') return { user: by };
  const found = await named(word);
  if (found.ok) return found;
  return textAnswer('Which user?', WHY[found.why](word));
}

const WHY: Readonly<Record<Extract<PersonLookup, { ok: false }>['why'], (word: string) => string>> =
  {
    nobody: (word) => `There's no user called “${word}” in Slack. You can also use a member id.`,
    several: (word) => `Several users are called “${word}”. Use the member id, U…, of one of them.`,
    'lookup-failed': () => 'Slack did not answer the user lookup. Try again in a minute.',
  };
