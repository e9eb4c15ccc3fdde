import { randomUUID } from 'node:crypto';
import type { PostResult } from '../domain/answer.ts';
import type { Position } from '../domain/change.ts';
import { type EventOf, evolvePost, type LoggedPost, type NewEvent } from '../domain/log-events.ts';
import { append, type LockedLog, type Log, type NewEvents, type Subjects } from './log.ts';

/** `digest/C0123/2026-11-20`: one post, at most once. */
export type PostName = `digest/${string}` | `post/${string}`;

/** Longer than any call of Slack with its retries: after it, the post of a crashed process is looked for. */
const POST_LIMIT_MS = 10 * 60_000;

export interface PostCalls {
  /** Looks in the channel for the mark of this post; null: it is not there. Throws where the channel is unreadable. */
  readonly find: () => Promise<Position | null>;
  readonly post: () => Promise<PostResult>;
  /** The version of the announcement that is posted. */
  readonly shows?: number | undefined;
  /** What is appended with the event that the post is missed: its report. */
  readonly reportMissed?: ReportMissed | undefined;
}

type ReportMissed = (why: string, at: number) => Pick<NewEvents<null>, 'events' | 'jobs'>;

/**
 * `found`: a process that crashed had posted it. `taken`: it was posted or missed before, or another process posts it
 * now. `again`: Slack refused it for now, and nothing was posted.
 */
export type PostOutcome = 'posted' | 'found' | 'taken' | 'again' | 'missed';

async function loadPost(subjects: Subjects, stream: PostName): Promise<LoggedPost | null> {
  return (await subjects.load(stream, evolvePost)).state;
}

/** Appends what is decided about a post under the lock, and returns what became of it. */
async function decidePost<R>(
  log: Log,
  stream: PostName,
  decide: (before: LoggedPost | null, at: number) => NewEvents<R>,
): Promise<R> {
  const once = async (locked: LockedLog) => decide(await loadPost(locked, stream), locked.at);
  return (await append(log, once)).result;
}

/**
 * Posts at most once per name, whichever process crashes and whatever the database has lost: `posting` is appended
 * before, and the channel is read before each post. If `post` rejects, it may have been posted: a later call looks for
 * it and posts nothing. A post that cannot be found then is missed.
 */
export async function postAtMostOnce(
  log: Log,
  stream: PostName,
  { find, post, shows, reportMissed }: PostCalls,
): Promise<PostOutcome> {
  if (hasEnded(await loadPost(log, stream))) return 'taken';
  const position = await find();
  const nonce = randomUUID();
  const result = await decidePost<PostOutcome | 'posting'>(log, stream, (before, at) => {
    if (hasEnded(before) || isBeingPosted(before, at)) return nothing('taken');
    if (position) return one(stream, { type: 'posted', ...position }, 'found');
    if (before?.state === 'posting') return missed(stream, STOPPED, at, reportMissed);
    const until = at + POST_LIMIT_MS;
    return one(stream, { type: 'posting', nonce, until }, 'posting');
  });
  return result === 'posting' ? postNow(log, stream, nonce, { post, shows, reportMissed }) : result;
}

const STOPPED = 'Signalbox stopped or lost the connection while it posted';

/** Ends a post that is not posted any more, unless it was, or is being posted. */
export async function endWithoutPost(
  log: Log,
  stream: PostName,
  end: { readonly why: string } | 'left-out',
  { find, reportMissed }: Pick<PostCalls, 'find' | 'reportMissed'>,
): Promise<PostOutcome> {
  const known = await loadPost(log, stream);
  if (hasEnded(known)) return 'taken';
  // Where nothing was tried, the channel may be one that cannot be read.
  const position = known?.state === 'posting' ? await find() : null;
  return decidePost<PostOutcome>(log, stream, (before, at) => {
    if (hasEnded(before) || isBeingPosted(before, at)) return nothing('taken');
    if (position) return one(stream, { type: 'posted', ...position }, 'found');
    if (end === 'left-out') return one(stream, { type: 'left-out' }, 'missed');
    return missed(stream, end.why, at, reportMissed);
  });
}

async function postNow(
  log: Log,
  stream: PostName,
  nonce: string,
  { post, shows, reportMissed }: Omit<PostCalls, 'find'>,
): Promise<PostOutcome> {
  const result = await post();
  return decidePost<PostOutcome>(log, stream, (before, at) => {
    if (before?.posting?.nonce !== nonce) return nothing('taken');
    if (result.ok) return one(stream, { type: 'posted', ...result.at, shows }, 'posted');
    if (result.again) return one(stream, { type: 'not-posted', why: result.why }, 'again');
    return missed(stream, `Slack refused it (${result.why})`, at, reportMissed);
  });
}

function hasEnded(post: LoggedPost | null): boolean {
  return post !== null && ['posted', 'missed', 'left-out'].includes(post.state);
}

function isBeingPosted(post: LoggedPost | null, now: number): boolean {
  return post?.posting != null && post.posting.until > now;
}

function missed(stream: PostName, why: string, at: number, report?: ReportMissed) {
  const { events = [], jobs = [] } = report?.(why, at) ?? {};
  const own = one<PostOutcome>(stream, { type: 'missed', why }, 'missed');
  return { ...own, events: [...own.events, ...events], jobs };
}

function one<R>(stream: PostName, event: EventOf<PostName>, result: R) {
  return { events: [{ stream, event } as NewEvent], result };
}

function nothing<R>(result: R) {
  return { events: [], result };
}
