/**
 * Messages of their own: each is announced in the log, and posted at most once by a job. A later announcement of the
 * same name replaces the content of the message.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Measures } from '../base/log.ts';
import { DAY_MS, HOUR_MS } from '../base/time.ts';
import { type Answer, type ChannelLookup, type Poster, StoredAnswer } from '../domain/answer.ts';
import type { Position, UserId } from '../domain/change.ts';
import { evolvePost, type LoggedPost, type NewEvent } from '../domain/log-events.ts';
import {
  append,
  endWithoutPost,
  type Log,
  type NewEvents,
  postAtMostOnce,
  type Subjects,
} from '../log/index.ts';
import { capitalized } from './standing.ts';

/** `post/incident-3f2a/opened` */
export type AnnouncementName = `post/${string}`;

export interface Announcement {
  /** It is posted once per name. */
  readonly name: AnnouncementName;
  readonly channel: string;
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
    events: fresh.map(({ name, channel, answer }): NewEvent => {
      const event = { type: 'announced', channel, answer: StoredAnswer.parse(answer) } as const;
      return { stream: name, event };
    }),
    jobs: fresh.map(({ name }) => jobOf(name, at)),
  };
}

function jobOf(name: AnnouncementName, at: number) {
  return { kind: 'post', key: name.slice('post/'.length), dueAt: at };
}

/** Tells the operators, and the user who asked for it, that a post is missed. */
export function reportMissed(
  log: Logger,
  { subject, requester }: { readonly subject: string; readonly requester: UserId | null },
) {
  return (why: string, at: number): Added => {
    const text = `${capitalized(subject)} was not posted: ${why}.`;
    log.warn({ post: subject, why }, 'post missed');
    return notice(text, at, { user: requester });
  };
}

/** A message to the operators, and to one user. `id`: what names that of the operators. */
export function notice(
  text: string,
  at: number,
  { user = null, id = randomUUID() }: { readonly user?: UserId | null; readonly id?: string } = {},
): Added {
  const all = [null, ...(user ? [user] : [])].map((to) => {
    const event = { type: 'noticed', to, title: 'Not posted', text } as const;
    return { id: to === null ? id : randomUUID(), event };
  });
  return {
    events: all.map(({ id, event }) => ({ stream: `notice/${id}`, event })),
    jobs: all.map(({ id }) => ({ kind: 'notice', key: id, dueAt: at })),
  };
}

/** The channel to post to, or why Signalbox posts nothing there. Costs stay in this workspace. */
export function postChannel(found: ChannelLookup | undefined) {
  // `again`: the lookup failed, so that a later attempt may succeed.
  const refused = (why: string, again = false) => ({ ok: false, why, again }) as const;
  if (!found || (!found.ok && found.why === 'lookup-failed')) {
    return refused('the channel lookup in Slack failed', true);
  }
  if (!found.ok) return refused('the channel does not exist, or Signalbox is not in it');
  const { room: channel } = found;
  if (channel.outside) return refused('the channel is shared with another workspace');
  if (!channel.joined) return refused('Signalbox is not in the channel: /invite it there');
  return { ok: true, channel } as const;
}

export interface AnnouncementContext {
  readonly events: Log;
  readonly messenger: Pick<Poster, 'postToChannel' | 'findPost' | 'findChannels' | 'updateMessage'>;
  readonly log: Logger;
  readonly measures: Pick<Measures, 'messageLost'>;
  readonly now: () => Date;
}

const RETRY_MS = 30_000;
const GIVE_UP_MS = DAY_MS;

/** The job of an announcement: posts it. A temporary refusal is retried for 24 hours. */
export function postKind(context: AnnouncementContext) {
  return {
    lane: 'messages',
    run: async ({ key }: { readonly key: string }): Promise<Posted> => {
      const name = `post/${key}` as const;
      const { state: post } = await context.events.load(name, evolvePost);
      if (!post?.announced || post.state === 'missed') return 'done';
      if (post.state !== 'posted' || !post.at) return postNow(context, name, post.announced);
      if (post.shows === post.announced.version) return 'done';
      return updateNow(context, name, { at: post.at, announced: post.announced });
    },
  } as const;
}

/** `waitsUntil`: it is late. */
type Posted = 'done' | Date | { readonly waitsUntil: Date };
type Announced = NonNullable<LoggedPost['announced']>;

async function postNow(
  context: AnnouncementContext,
  name: AnnouncementName,
  announced: Announced,
): Promise<Posted> {
  const { events, messenger, log, now, measures } = context;
  const { channel, at, version: shows, answer } = announced;
  const subject = `the message "${answer.title}" for ${channel}`;
  const report = { reportMissed: reportMissed(log, { subject, requester: null }) };
  const later = { waitsUntil: new Date(now().getTime() + RETRY_MS) };
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
  const since = new Date(at - HOUR_MS);
  const find = () => messenger.findPost({ channel: id, threadTs: undefined, since }, name);
  const post = () => messenger.postToChannel(id, answer, undefined, name);
  const outcome = await postAtMostOnce(events, name, { find, post, shows, ...report });
  if (outcome === 'again' && !isOld) return later;
  if (outcome === 'again') await endWithoutPost(events, name, REFUSED_ALL_DAY, { find, ...report });
  if (outcome === 'missed' || outcome === 'again') measures.messageLost('post');
  const { state } = await events.load(name, evolvePost);
  if (state?.state === 'posted' && state.shows !== state.announced?.version) return now();
  return state?.posting ? new Date(state.posting.until) : 'done';
}

/** Replaces the content of a message; a later announcement does it again. */
async function updateNow(
  { events, messenger, log, now }: AnnouncementContext,
  name: AnnouncementName,
  { at, announced }: { readonly at: Position; readonly announced: Announced },
): Promise<Posted> {
  const result = await messenger.updateMessage(at, announced.answer);
  if (!result.ok && result.again) return { waitsUntil: new Date(now().getTime() + RETRY_MS) };
  const { channel, answer, version: shows } = announced;
  const event = { type: 'posted', ...(result.ok ? result.at : at), shows } as const;
  await append(events, async (locked) => {
    const posted = { stream: name, event };
    if (result.ok) return { events: [posted], result: null };
    log.warn({ post: name, why: result.why }, 'message not updated');
    const text = `The message "${answer.title}" for ${channel} was not updated: Slack refused it (${result.why}).`;
    const report = notice(text, locked.at);
    return { events: [posted, ...report.events], jobs: report.jobs, result: null };
  });
  return 'done';
}

const REFUSED_ALL_DAY = { why: 'Slack refused it for 24 hours' };
