import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { HOUR_MS } from '../../base/time.ts';
import type { LogRequest } from '../../commands/index.ts';
import {
  type Answer,
  type AnswerPart,
  type Caller,
  type CommandOffer,
  countWords,
} from '../../domain/answer.ts';
import type { ChangeId, UserId } from '../../domain/change.ts';
import { auditHead, type StoredEvent } from '../../log/old/append.ts';
import { type EventSubject, eventSubjects, eventsBefore } from '../../log/old/read-events.ts';
import { firstSeqSince } from '../../log/old/read-range.ts';
import { eventLine } from './event-text.ts';
import { emptyTimeRange, instantOf, logLine } from './log-request.ts';
import { type PersonSearch, personOf } from './person-filter.ts';
import type { DecisionContext } from './ports.ts';

type LogContext = Pick<DecisionContext, 'database' | 'now'> & PersonSearch;

const PAGE = 20;
const BATCH = 500;
/** Limits the time of a search for rare events. */
const SEARCHED_MOST = 20_000;
/** A full page does not wait for the count of many older events. */
const COUNTED_MOST = 2_000;
/** The clocks of replicas differ, so that the search continues past both ends of the range. */
const SKEW_MS = HOUR_MS;

/** Answers with one page of the audit trail, newest first. */
export async function answerChangeLog(
  context: LogContext,
  request: LogRequest,
  asker: Caller,
): Promise<Answer> {
  const nothing = emptyTimeRange(request, context.now());
  if (nothing) return nothing;
  const who = request.by === null ? null : await personOf(context, request.by, asker);
  if (who && 'title' in who) return who;
  const filter = { ...filterOf(request, context.now()), by: who?.user ?? null, viewer: asker.by };
  const found = await search(context, filter, request.before);
  return pageOf(found, request);
}

interface Filter {
  readonly by: UserId | null;
  readonly command: string | null;
  readonly target: string | null;
  readonly state: string | null;
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

interface LogEntry {
  readonly event: StoredEvent;
  readonly subject: EventSubject | null;
}

interface SearchResult {
  readonly shown: readonly LogEntry[];
  readonly count: number;
  /** How many events were searched, where the search stopped early; the count covers those. */
  readonly searched: number | null;
}

async function search(
  context: LogContext,
  filter: Filter,
  from: number | null,
): Promise<SearchResult> {
  const { db } = context.database;
  const end = (await auditHead(db)).seq + 1;
  const late = filter.until && new Date(filter.until.getTime() + SKEW_MS);
  let before = Math.min(from ?? end, late ? await firstSeqSince(db, late) : end);
  const shown: LogEntry[] = [];
  let [count, searched] = [0, 0];
  while (searched < (shown.length < PAGE ? SEARCHED_MOST : COUNTED_MOST)) {
    const events = await eventsBefore(db, { before, limit: BATCH });
    const entries = await withSubjects(context, events);
    const matching = entries.filter((entry) => matches(entry, filter));
    count += matching.length;
    shown.push(...matching.slice(0, PAGE - shown.length));
    searched += events.length;
    const last = events.at(-1);
    if (!last || events.length < BATCH || isBefore(last, filter.since)) {
      return { shown, count, searched: null };
    }
    before = last.seq;
    await yieldToOthers();
  }
  return { shown, count, searched };
}

function isBefore({ at }: StoredEvent, since: Date | null): boolean {
  return since !== null && at.getTime() < since.getTime() - SKEW_MS;
}

async function withSubjects(
  { database }: LogContext,
  events: readonly StoredEvent[],
): Promise<readonly LogEntry[]> {
  const ids = events.flatMap(({ changeId }) => changeId ?? []);
  const subjects = await eventSubjects(database.db, [...new Set<ChangeId>(ids)]);
  return events.map((event) => ({ event, subject: subjectOf(event, subjects) }));
}

// A refusal without a change names the refused command itself.
function subjectOf({ changeId, body }: StoredEvent, known: ReadonlyMap<ChangeId, EventSubject>) {
  const subject = changeId && known.get(changeId);
  if (subject) return subject;
  const { command, target } = body;
  if (typeof command !== 'string') return null;
  return { command, target: typeof target === 'string' ? target : '', owner: null };
}

function matches({ event, subject }: LogEntry, filter: Filter): boolean {
  const { by, command, target, state, since, until, viewer } = filter;
  return (
    (!subject?.owner || subject.owner === viewer) &&
    (by === null || event.body.by === by) &&
    (command === null || (subject?.command ?? '').includes(command)) &&
    (target === null || (subject?.target ?? '').toLowerCase().includes(target)) &&
    (state === null || event.to === state) &&
    (since === null || event.at >= since) &&
    (until === null || event.at < until)
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
      : { kind: 'lines', lines: shown.map(({ event, subject }) => eventLine(event, subject)) },
    { kind: 'menu', label: 'Show a change…', offers: changeOffers(shown) },
    { kind: 'offers', offers: pageOffers(shown, left, request) },
    { kind: 'note', text: `Newest first.${rest}${partial}` },
  ];
  return { title: request.before === null ? words : `${words} before ${request.before}`, parts };
}

/** The changes of the page, each one once. */
function changeOffers(shown: readonly LogEntry[]): readonly CommandOffer[] {
  const offers = shown.flatMap(({ event: { changeId }, subject }) => {
    if (!changeId || !subject) return [];
    const label = `${changeId}: ${subject.command} ${subject.target}`;
    return [[changeId, { label, line: `change show ${changeId}` }] as const];
  });
  return [...new Map(offers).values()];
}

function pageOffers(
  shown: readonly LogEntry[],
  left: number,
  request: LogRequest,
): readonly CommandOffer[] {
  const last = shown.at(-1)?.event.seq;
  return [
    ...(left > 0 && last ? [{ label: 'Older', line: logLine(request, last) }] : []),
    ...(request.before === null ? [] : [{ label: 'Newest', line: logLine(request, null) }]),
  ];
}
