import { setImmediate as breathe } from 'node:timers/promises';
import type { ChangeId, UserId } from '../../changes/change.ts';
import type { Answer, AnswerPart, CommandOffer } from '../../intent/answers/answer.ts';
import { countWords } from '../../intent/answers/counted.ts';
import { namesOf } from '../../intent/define.ts';
import type { LogRequest } from '../../intent/ports/changes-queries.ts';
import type { Caller } from '../../intent/ports/command-context.ts';
import { auditHead, type StoredEvent } from '../../storage/audit/append.ts';
import { type EventSubject, eventSubjects, eventsBefore } from '../../storage/audit/read-back.ts';
import { firstSeqSince } from '../../storage/audit/read-range.ts';
import { eventLine } from '../audit-trail/event-text.ts';
import type { PersonLookup } from '../messenger-port.ts';
import type { DecisionContext } from '../ports.ts';
import { emptySpan, instantOf, logLine } from './log-request.ts';

export type LogContext = Pick<DecisionContext, 'database' | 'now' | 'commands'> & {
  readonly named: (word: string) => Promise<PersonLookup>;
};

const PAGE = 20;
const BATCH = 500;
/** However rare what is sought is: nobody waits for a whole trail, nor is anybody held up by it. */
const LOOKED_AT = 20_000;
/** Replicas have clocks of their own: a batch behind the end of a span is looked at as well. */
const SKEW_MS = 3_600_000;

/** A page of the trail, newest first. */
export async function answerChangeLog(
  context: LogContext,
  wish: LogRequest,
  asker: Caller,
): Promise<Answer> {
  const nothing = emptySpan(wish, context.now());
  if (nothing) return nothing;
  const who = wish.by === null ? null : await personOf(context, wish.by, asker);
  if (who && 'title' in who) return who;
  const filter = { ...filterOf(wish, context.now()), by: who?.user ?? null, viewer: asker.by };
  const found = await search(context, filter, wish.before);
  return pageOf(found, wish);
}

async function personOf(
  { named }: LogContext,
  word: string,
  { by }: Caller,
): Promise<{ readonly user: UserId } | Answer> {
  if (word.toLowerCase() === 'me') return { user: by };
  const found = await named(word);
  if (found.ok) return found;
  return { title: 'Whose?', parts: [{ kind: 'text', text: WHY[found.why](word) }] };
}

const WHY: Readonly<Record<Extract<PersonLookup, { ok: false }>['why'], (word: string) => string>> =
  {
    nobody: (word) => `Slack knows nobody called “${word}”. Their member id works as well.`,
    several: (word) =>
      `Several people are called “${word}”. Their member id, U…, tells them apart.`,
    'lookup-failed': () => 'Slack did not tell who that is just now. Try again in a minute.',
  };

interface Filter {
  readonly by: UserId | null;
  readonly command: string | null;
  readonly target: string | null;
  readonly state: string | null;
  readonly since: Date | null;
  readonly until: Date | null;
  readonly viewer: UserId;
}

function filterOf(wish: LogRequest, now: Date): Omit<Filter, 'by' | 'viewer'> {
  const lower = (text: string | null) => text?.toLowerCase() ?? null;
  return {
    command: lower(wish.command),
    target: lower(wish.target),
    state: wish.state,
    since: wish.since && instantOf(wish.since, now),
    until: wish.until && instantOf(wish.until, now),
  };
}

interface Told {
  readonly event: StoredEvent;
  readonly subject: EventSubject | null;
}

interface Found {
  readonly shown: readonly Told[];
  readonly count: number;
  /** Not all of it was looked at: the count is of that much. */
  readonly lookedAt: number | null;
}

async function search(context: LogContext, filter: Filter, from: number | null): Promise<Found> {
  const { db } = context.database;
  const end = (await auditHead(db)).seq + 1;
  const late = filter.until && new Date(filter.until.getTime() + SKEW_MS);
  let before = Math.min(from ?? end, late ? await firstSeqSince(db, late) : end);
  const shown: Told[] = [];
  let [count, looked] = [0, 0];
  while (looked < LOOKED_AT) {
    const events = await eventsBefore(db, { before, limit: BATCH });
    const told = await withSubjects(context, events);
    const fitting = told.filter((one) => fits(context, one, filter));
    count += fitting.length;
    shown.push(...fitting.slice(0, PAGE - shown.length));
    looked += events.length;
    const last = events.at(-1);
    if (!last || events.length < BATCH || isBefore(last, filter.since)) {
      return { shown, count, lookedAt: null };
    }
    before = last.seq;
    await breathe();
  }
  return { shown, count, lookedAt: looked };
}

function isBefore({ at }: StoredEvent, since: Date | null): boolean {
  return since !== null && at.getTime() < since.getTime() - SKEW_MS;
}

async function withSubjects(
  { database }: LogContext,
  events: readonly StoredEvent[],
): Promise<readonly Told[]> {
  const ids = events.flatMap(({ changeId }) => changeId ?? []);
  const subjects = await eventSubjects(database.db, [...new Set<ChangeId>(ids)]);
  return events.map((event) => ({ event, subject: subjectOf(event, subjects) }));
}

// Who was refused before there was a change asked for something all the same.
function subjectOf({ changeId, body }: StoredEvent, known: ReadonlyMap<ChangeId, EventSubject>) {
  const subject = changeId && known.get(changeId);
  if (subject) return subject;
  const { command, target } = body;
  if (typeof command !== 'string') return null;
  return { command, target: typeof target === 'string' ? target : '', owner: null };
}

function fits({ commands }: LogContext, { event, subject }: Told, filter: Filter): boolean {
  const { by, command, target, state, since, until, viewer } = filter;
  const stored = subject?.command ?? '';
  const known = commands.get(stored);
  const names = known ? namesOf(known) : [stored];
  return (
    (!subject?.owner || subject.owner === viewer) &&
    (by === null || event.body.by === by) &&
    (command === null || names.some((name) => name.includes(command))) &&
    (target === null || (subject?.target ?? '').toLowerCase().includes(target)) &&
    (state === null || event.to === state) &&
    (since === null || event.at >= since) &&
    (until === null || event.at < until)
  );
}

function pageOf({ shown, count, lookedAt }: Found, wish: LogRequest): Answer {
  const words = countWords(count, 'event');
  const left = count - shown.length;
  const rest = left > 0 ? ` ${countWords(left, 'older one follows', 'older ones follow')}.` : '';
  const looked = lookedAt
    ? ` Of the last ${lookedAt} events; since= and until= context further.`
    : '';
  const parts: readonly AnswerPart[] = [
    shown.length === 0
      ? { kind: 'text', text: 'Nothing of that is in the audit trail.' }
      : { kind: 'lines', lines: shown.map(({ event, subject }) => eventLine(event, subject)) },
    { kind: 'offers', offers: turning(shown, left, wish) },
    { kind: 'note', text: `Newest first.${rest}${looked}` },
  ];
  return { title: wish.before === null ? words : `${words} before ${wish.before}`, parts };
}

function turning(shown: readonly Told[], left: number, wish: LogRequest): readonly CommandOffer[] {
  const last = shown.at(-1)?.event.seq;
  return [
    ...(left > 0 && last ? [{ label: 'Older', line: logLine(wish, last) }] : []),
    ...(wish.before === null ? [] : [{ label: 'Newest', line: logLine(wish, null) }]),
  ];
}
