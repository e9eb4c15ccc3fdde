/** Messages of their own about costs: each is announced in the log, and posted at most once by a job. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Measures } from '../base/log.ts';
import type { JsonObject } from '../base/text.ts';
import { DAY_MS, HOUR_MS } from '../base/time.ts';
import type { Answer, Channel, ChannelLookup, Poster } from '../domain/answer.ts';
import type { UserId } from '../domain/change.ts';
import { evolvePost, type LoggedPost, type NewEvent } from '../domain/log-events.ts';
import {
  append,
  endWithoutPost,
  type Log,
  type NewEvents,
  postAtMostOnce,
  type Subjects,
} from '../log/index.ts';

/** `post/incident-3f2a/opened` */
export type AnnouncementName = `post/${string}`;

export interface Announcement {
  /** It is posted once per name. */
  readonly name: AnnouncementName;
  readonly channel: string;
  /** The announcement whose thread it is posted into, if that one was posted. */
  readonly thread: AnnouncementName | null;
  readonly answer: Answer;
}

type Added = Required<Pick<NewEvents<null>, 'events' | 'jobs'>>;

/** What to append for these announcements; nothing for those that were announced before. */
export async function announced(
  subjects: Subjects,
  all: readonly Announcement[],
  at: number,
): Promise<Added> {
  const fresh: Announcement[] = [];
  for (const one of all) {
    if ((await subjects.load(one.name, evolvePost)).version === 0) fresh.push(one);
  }
  return {
    events: fresh.map(({ name, channel, thread, answer }): NewEvent => {
      const event = { type: 'announced', channel, thread, answer: jsonOf(answer) } as const;
      return { stream: name, event };
    }),
    jobs: fresh.map(({ name }) => jobOf(name, at)),
  };
}

/** What to append so that an announcement says this, whether it was posted already or not. */
export function updated(name: AnnouncementName, answer: Answer, at: number): Added {
  const event = { type: 'updated', answer: jsonOf(answer) } as const;
  return { events: [{ stream: name, event }], jobs: [jobOf(name, at)] };
}

/** Announcements contain no dates, so that they are JSON. */
function jsonOf(answer: Answer): JsonObject {
  return JSON.parse(JSON.stringify(answer));
}

function jobOf(name: AnnouncementName, at: number) {
  return { kind: 'post', key: name.slice('post/'.length), dueAt: at };
}

/** A message to one user, or to the operators. */
export function notice(to: UserId | null, text: string, at: number): Added {
  const id = randomUUID();
  const event = { type: 'noticed', to, title: 'Not posted', text } as const;
  return {
    events: [{ stream: `notice/${id}`, event }],
    jobs: [{ kind: 'notice', key: id, dueAt: at }],
  };
}

/** Tells the operators, and the user who asked for it, that a post is missed. */
export function reportMissed(
  log: Logger,
  { subject, requester }: { readonly subject: string; readonly requester: UserId | null },
) {
  return (why: string, at: number): Added => {
    const text = `${subject.charAt(0).toUpperCase()}${subject.slice(1)} was not posted: ${why}.`;
    log.warn({ post: subject, why }, 'post missed');
    const all = [null, ...(requester ? [requester] : [])].map((to) => notice(to, text, at));
    return {
      events: all.flatMap(({ events }) => events),
      jobs: all.flatMap(({ jobs }) => jobs),
    };
  };
}

type PostChannel =
  | { readonly ok: true; readonly channel: Channel }
  /** `again`: the lookup failed, so that a later attempt may succeed. */
  | { readonly ok: false; readonly why: string; readonly again: boolean };

/** The channel to post to, or why Signalbox posts nothing there. Costs stay in this workspace. */
export function postChannel(found: ChannelLookup | undefined): PostChannel {
  const refused = (why: string, again = false) => ({ ok: false, why, again }) as const;
  if (!found || (!found.ok && found.why === 'lookup-failed')) {
    return refused('Slack did not answer the channel lookup', true);
  }
  if (!found.ok) return refused('the channel does not exist, or Signalbox is not in it');
  const { room: channel } = found;
  if (channel.outside) return refused('the channel is shared with another workspace');
  if (!channel.joined) return refused('Signalbox is not in the channel: /invite it there');
  return { ok: true, channel };
}

export interface AnnouncementContext {
  readonly events: Log;
  readonly messenger: Poster;
  readonly log: Logger;
  readonly measures: Pick<Measures, 'messageLost'>;
  readonly now: () => Date;
}

const RETRY_MS = 30_000;
const GIVE_UP_MS = DAY_MS;

/** The job of an announcement: posts it, or redraws it. A temporary refusal is retried for 24 hours. */
export function postKind(context: AnnouncementContext) {
  return {
    lane: 'messages',
    run: async ({ key }: { readonly key: string }): Promise<'done' | Date> => {
      const name = `post/${key}` as const;
      const { state: post } = await context.events.load(name, evolvePost);
      if (!post?.announced) return 'done';
      if (post.state === 'posted') return redraw(context, name, post);
      if (post.state === 'missed') return 'done';
      return postNow(context, name, { ...post, announced: post.announced });
    },
  } as const;
}

type AnnouncedPost = LoggedPost & { readonly announced: NonNullable<LoggedPost['announced']> };

async function postNow(
  context: AnnouncementContext,
  name: AnnouncementName,
  { announced: { channel, thread, at, ...announced } }: AnnouncedPost,
): Promise<'done' | Date> {
  const { events, messenger, log, now, measures } = context;
  // Composed and stored by Signalbox, so that its parts are not checked.
  const answer = announced.answer as unknown as Answer;
  const subject = `the message "${answer.title}" for ${channel}`;
  const report = { reportMissed: reportMissed(log, { subject, requester: null }) };
  const later = new Date(now().getTime() + RETRY_MS);
  const isOld = now().getTime() - at >= GIVE_UP_MS;

  const to = postChannel((await messenger.findChannels([channel])).get(channel));
  if (!to.ok && to.again && !isOld) return later;
  if (!to.ok) {
    // Where Signalbox cannot read, it cannot look for the post either.
    await endWithoutPost(events, name, to, { find: async () => null, ...report });
    measures.messageLost('post');
    return 'done';
  }
  const { id } = to.channel;
  const threadTs = await threadOf(events, thread, id);
  const since = new Date(at - HOUR_MS);
  const find = () => messenger.findPost({ channel: id, threadTs, since }, name);
  const post = () => messenger.postToChannel(id, answer, threadTs, name);
  const outcome = await postAtMostOnce(events, name, { find, post, ...report });
  if (outcome === 'again' && !isOld) return later;
  if (outcome === 'again') await endWithoutPost(events, name, REFUSED_ALL_DAY, { find, ...report });
  if (outcome === 'missed' || outcome === 'again') measures.messageLost('post');
  const { state } = await events.load(name, evolvePost);
  if (state?.posting) return new Date(state.posting.until);
  return state?.outdatedSince ? later : 'done';
}

const REFUSED_ALL_DAY = { why: 'Slack refused it for 24 hours' };

/** The thread of another announcement, if that one was posted into this channel. */
async function threadOf(
  events: Log,
  name: string | null,
  channel: string,
): Promise<string | undefined> {
  if (name === null) return undefined;
  const { state } = await events.load(name as AnnouncementName, evolvePost);
  return state?.at?.channel === channel ? state.at.ts : undefined;
}

/** A repeated redraw has no effect, so that it is safe to retry. */
async function redraw(
  { events, messenger, log, measures, now }: AnnouncementContext,
  name: AnnouncementName,
  { at, announced, outdatedSince }: LoggedPost,
): Promise<'done' | Date> {
  if (!at || !announced || outdatedSince === null) return 'done';
  const drawn = await messenger.updateMessage(at, announced.answer as unknown as Answer);
  if (!drawn.ok) {
    log.warn({ announcement: name, why: drawn.why }, 'announcement was not updated');
    const isOld = now().getTime() - outdatedSince >= GIVE_UP_MS;
    if (drawn.again && !isOld) return new Date(now().getTime() + RETRY_MS);
    measures.messageLost('post');
  }
  await append(events, async () => {
    const event = { type: 'drawn', why: drawn.ok ? null : drawn.why } as const;
    return { events: [{ stream: name, event }], result: null };
  });
  return 'done';
}
