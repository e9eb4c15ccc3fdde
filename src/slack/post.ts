import type { ConversationsHistoryResponse, WebClient } from '@slack/web-api';
import { PostRefused } from '../domain/answer.ts';
import type { ChangeId, ChannelId, Position, UserId } from '../domain/change.ts';
import {
  isLastingRefusal,
  isPassing,
  type PageReading,
  type RetryLimited,
  readPages,
  refusedBySlack,
  retryAfterMs,
  tokenProblem,
} from './api.ts';
import type { Message } from './blocks.ts';
import type { ChannelFinder } from './channels.ts';
import { markOf, postMarkOf } from './marks.ts';
import type { PrivateMessage } from './payload.ts';
import { withPlainBlocks } from './tables.ts';

const RESTRICTED = 'the settings of the channel or workspace do not let the app post there';
const TOO_LONG = 'the message is too long';
const UNKNOWN = 'Slack does not accept it';
const LIMITED = 'Slack limits the rate of messages';
const LIMITED_MS = 30_000;

/** Refusals of a message that an equal message would get again, in words; any other one has its name alone. Source: docs/slack.md#messages */
const REFUSALS: Readonly<Record<string, string>> = {
  is_archived: 'the channel is archived',
  channel_not_found: 'the channel does not exist, or Signalbox is not a member',
  not_in_channel: 'Signalbox is not a member of the channel',
  restricted_action: RESTRICTED,
  ekm_access_denied: RESTRICTED,
  access_denied: RESTRICTED,
  no_permission: RESTRICTED,
  team_access_not_granted: RESTRICTED,
  user_not_found: 'the user does not exist',
  user_disabled: 'the user was deactivated',
  user_not_visible: 'the user is not visible to Signalbox',
  messages_tab_disabled: 'the app has no direct messages',
  cannot_dm_bot: 'the user is a bot',
  thread_not_found: 'the thread does not exist any more',
  msg_too_long: TOO_LONG,
  msg_blocks_too_long: TOO_LONG,
};

/** The refusal behind an error: definite, or at a rate limit with the time to wait; null for one that passes. */
export function postRefusal(error: unknown): PostRefused | null {
  const name = refusedBySlack(error) ?? '';
  if (name === 'ratelimited')
    return new PostRefused(LIMITED, retryAfterMs(error) ?? LIMITED_MS, error);
  if (isLastingRefusal(error)) return new PostRefused(tokenProblem(error).says, null, error, true);
  if (name === '' || isPassing(name)) return null;
  // Slack adds kinds: restricted_action_read_only_channel, restricted_action_thread_locked.
  const kind = name.startsWith('restricted_action_') ? 'restricted_action' : name;
  const words = Object.hasOwn(REFUSALS, kind) ? REFUSALS[kind] : UNKNOWN;
  return new PostRefused(`${words} (${name})`, null, error);
}

/** Messages count as own only with this bot id: a user can post the same text. */
export interface OwnMessages {
  readonly lookups: WebClient;
  readonly botId: string;
  readonly finder: ChannelFinder;
}

/** A message as Slack returns it. */
export type StoredMessage = ReturnType<typeof ownMessages>[number];

const SEARCHED_MAX = 200;

/**
 * The position of an own message among the newest 200 of a channel, thread or direct conversation; of several the
 * oldest. Null where there is none, and for a person whose direct messages may not be read.
 */
export async function findOwnMessage(
  own: OwnMessages,
  wanted: string,
  threadTs: string | undefined,
  isSame: (message: StoredMessage) => boolean,
): Promise<Position | null> {
  const { lookups, finder } = own;
  const isUser = /^[UW]/.test(wanted);
  const channel = isUser ? await directChannel(lookups, wanted) : await channelIdOf(finder, wanted);
  if (!channel) return null;
  const pages = messagePages(lookups, { channel, ts: threadTs, limit: SEARCHED_MAX });
  const { value } = await pages.next();
  const found = ownMessages(own, value?.messages ?? [])
    .filter((each) => each.ts !== threadTs && isSame(each))
    .toSorted((one, other) => (one.ts < other.ts ? -1 : 1));
  return found[0] ? { channel, ts: found[0].ts } : null;
}

interface Searched {
  readonly channel: string;
  /** The first message of a thread; without it the channel. */
  readonly ts?: string | undefined;
  readonly oldest?: string;
  readonly limit?: number;
}

/** The messages of a channel or a thread, page by page. Each page of a thread begins with its first message. */
export function messagePages(lookups: WebClient, { ts, ...at }: Searched, how?: PageReading) {
  const method = ts ? 'conversations.replies' : 'conversations.history';
  return readPages<ConversationsHistoryResponse>(lookups, method, ts ? { ...at, ts } : at, how);
}

const PAGES_MAX = 20;

/** The newest messages of a channel, back to a time, at most 20 pages of 200. `isCut`: it has more since then. */
export async function readBack(
  lookups: WebClient,
  channel: string,
  since: Date,
  call?: RetryLimited,
) {
  const at = { channel, limit: 200, oldest: `${since.getTime() / 1_000}` };
  const all: NonNullable<ConversationsHistoryResponse['messages']> = [];
  let read = 0;
  const how = { most: PAGES_MAX + 1, ...(call && { call }) };
  for await (const page of messagePages(lookups, at, how)) {
    all.push(...(page.messages ?? []));
    read += 1;
    if (read === PAGES_MAX) return { messages: all, isCut: page.has_more === true };
  }
  return { messages: all, isCut: false };
}

/** The messages of Signalbox among those that Slack returned, in their order. */
export function ownMessages(
  { botId }: Pick<OwnMessages, 'botId'>,
  messages: NonNullable<ConversationsHistoryResponse['messages']>,
) {
  return messages
    .filter(({ bot_id, ts }) => bot_id === botId && ts !== undefined)
    .map(({ ts = '', text = '', blocks }) => ({
      // Blocks that Signalbox has posted.
      ...{ ts, text, blocks: (blocks ?? []) as Message['blocks'] },
      mark: markOf(blocks),
      /** Of a post that is posted once per name. */
      postMark: postMarkOf(blocks),
    }));
}

/** The direct conversation with a user; null without the optional scope, or if Slack refuses it. */
async function directChannel(lookups: WebClient, user: string): Promise<ChannelId | null> {
  try {
    const { channel } = await lookups.conversations.open({ users: user });
    return (channel?.id as ChannelId | undefined) ?? null;
  } catch (error) {
    const refused = refusedBySlack(error);
    if (refused === null || refused === 'ratelimited') throw error;
    return null;
  }
}

/** The id of a channel by its name or id; null where there is no such channel. Throws where Slack does not answer. */
export async function channelIdOf(
  finder: ChannelFinder,
  channel: string,
): Promise<ChannelId | null> {
  if (!channel.includes('#')) return channel as ChannelId;
  const found = (await finder.find([channel])).get(channel);
  if (found?.ok) return found.room.id;
  if (found?.why === 'no-such-channel') return null;
  throw new Error(`Slack did not say which channel ${channel} is`);
}

/** Where a user asked, which is where the private answer appears. */
export interface ReplyTarget {
  readonly channel: ChannelId | null;
  /** The first message of the thread; null outside of threads. */
  readonly thread: string | null;
  /** The draft that the edited one replaces. */
  readonly edits?: ChangeId | undefined;
  /** The preview of that draft, which the new preview replaces. */
  readonly replaces?: PrivateMessage | undefined;
}

export const NO_REPLY_TARGET: ReplyTarget = { channel: null, thread: null };

/** Every message of Signalbox is posted by this function; Slack's refusals are thrown. */
export async function postMessage(
  posts: WebClient,
  channel: string,
  message: Message,
  threadTs?: string,
): Promise<Position> {
  const posted = await withPlainBlocks(message, (shown) =>
    posts.chat.postMessage({ ...bodyOf(shown), ...inThread(threadTs), channel }),
  );
  if (!posted.ts || !posted.channel) throw new Error('Slack accepted a post without a position');
  return { channel: posted.channel as ChannelId, ts: posted.ts };
}

export interface EarlierAttempt {
  readonly threadTs?: string | undefined;
  /** How an earlier attempt is recognised; null for a first attempt. */
  readonly isSame: ((message: StoredMessage) => boolean) | null;
}

export async function updateMessage(
  posts: WebClient,
  at: Position,
  message: Message,
): Promise<void> {
  await withPlainBlocks(message, (shown) =>
    posts.chat.update({ ...contentOf(shown), ...at, parse: 'none' }),
  );
}

/**
 * Shows a message to one user where they asked. Falls back to their direct messages, because
 * Signalbox may not be a member of that channel.
 */
export async function postEphemeral(
  posts: WebClient,
  user: UserId,
  { channel, thread }: ReplyTarget,
  message: Message,
): Promise<void> {
  const shown =
    channel !== null &&
    (await withPlainBlocks(message, (body) =>
      posts.chat.postEphemeral({ ...bodyOf(body), ...inThread(thread), channel, user }),
    ).catch(() => null));
  if (!shown) await postMessage(posts, user, message);
}

function inThread(ts: string | null | undefined) {
  return ts ? { thread_ts: ts } : {};
}

function bodyOf(message: Message) {
  return { ...contentOf(message), unfurl_links: false, unfurl_media: false };
}

function contentOf({ text, blocks }: Message) {
  return { text, blocks: [...blocks] };
}
