import { randomUUID } from 'node:crypto';
import type { PostResult } from '../domain/answer.ts';
import type { Position } from '../domain/change.ts';
import type { EventOf, NewEvent, Recorded } from '../domain/log-events.ts';
import { append, type Log } from './log.ts';

/** `digest/C0123/2026-11-20`: one post, at most once. */
export type PostName = `digest/${string}` | `post/${string}`;
type PostEvent = Recorded<EventOf<PostName>>;

/** Longer than any call of Slack with its retries: after it, the post of a crashed process is looked for. */
const POST_LIMIT_MS = 10 * 60_000;

export interface PostCalls {
  /** Looks in the channel for the mark of this post; null: it is not there. Throws where the channel is unreadable. */
  readonly find: () => Promise<Position | null>;
  readonly post: () => Promise<PostResult>;
}

/**
 * `found`: a process that crashed had posted it. `taken`: it was posted or missed before, or another process posts it
 * now. `again`: Slack refused it for now, and nothing was posted.
 */
export type PostOutcome = 'posted' | 'found' | 'taken' | 'again' | 'missed';

/**
 * Posts at most once per name, whichever process crashes and whatever the database has lost: `posting` is appended
 * before, and the channel is read before each post. If `post` rejects, it may have been posted: a later call looks for
 * it and posts nothing. A post that cannot be found then is missed, which the caller reports.
 */
export async function postAtMostOnce(
  log: Log,
  stream: PostName,
  { find, post }: PostCalls,
): Promise<PostOutcome> {
  const { state } = await log.load(stream, lastPost);
  if (state && ['posted', 'missed'].includes(state.type)) return 'taken';
  const position = await find();
  const nonce = randomUUID();
  const { result } = await append<PostOutcome | 'posting'>(log, async (locked) => {
    const { state: before } = await locked.load(stream, lastPost);
    const isPosting = before?.type === 'posting' && before.until > locked.at;
    if (isPosting || before?.type === 'posted' || before?.type === 'missed')
      return nothing('taken');
    if (position) return one(stream, { type: 'posted', ...position }, 'found');
    if (before?.type === 'posting') {
      return one(stream, { type: 'missed', why: 'the process stopped while it posted' }, 'missed');
    }
    const until = locked.at + POST_LIMIT_MS;
    return one(stream, { type: 'posting', nonce, until }, 'posting');
  });
  return result === 'posting' ? postNow(log, stream, nonce, post) : result;
}

async function postNow(
  log: Log,
  stream: PostName,
  nonce: string,
  post: PostCalls['post'],
): Promise<PostOutcome> {
  const [event, outcome] = endOf(await post());
  const ended = await append(log, async (locked) => {
    const { state } = await locked.load(stream, lastPost);
    const isOwn = state?.type === 'posting' && state.nonce === nonce;
    return isOwn ? one<PostOutcome>(stream, event, outcome) : nothing<PostOutcome>('taken');
  });
  return ended.result;
}

function endOf(result: PostResult): readonly [EventOf<PostName>, 'posted' | 'again' | 'missed'] {
  if (result.ok) return [{ type: 'posted', ...result.at }, 'posted'];
  if (result.again) return [{ type: 'not-posted', why: result.why }, 'again'];
  return [{ type: 'missed', why: result.why }, 'missed'];
}

/** A state of its own is not needed: the last event says everything. */
function lastPost(_: PostEvent | null, event: PostEvent): PostEvent {
  return event;
}

function one<R>(stream: PostName, event: EventOf<PostName>, result: R) {
  return { events: [{ stream, event } as NewEvent], result };
}

function nothing<R>(result: R) {
  return { events: [], result };
}
