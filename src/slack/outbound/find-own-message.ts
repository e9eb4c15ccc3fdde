import type {
  ConversationsHistoryResponse,
  ConversationsMembersResponse,
  WebClient,
} from '@slack/web-api';
import type { ChannelId, Position } from '../../changes/change.ts';
import type { NoteLookup } from '../../workflow/messenger-port.ts';
import { refusedBySlack } from '../slack-error.ts';
import { findChannelsByName } from './channels.ts';
import { readPages } from './read-pages.ts';

const PAGE_SIZE = 200;
const HISTORY_PAGES_MAX = 10;
const MEMBER_PAGES_MAX = 20;

/** Messages count as own only with this bot id: a user can post the same text. */
export interface OwnMessages {
  readonly lookups: WebClient;
  readonly botId: string;
}

interface Wanted {
  readonly channel: string;
  readonly threadTs: string | undefined;
  readonly isSame: (text: string) => boolean;
}

/**
 * The position of an own message among the newest 200 of a channel or thread. Null where there is
 * none, and where the token lacks the optional scope to read the history.
 */
export async function findOwnMessage(
  { lookups, botId }: OwnMessages,
  { channel: wanted, threadTs, isSame }: Wanted,
): Promise<Position | null> {
  const channel = await channelIdOf(lookups, wanted);
  if (!channel) return null;
  const messages = await messagesIn(lookups, channel, threadTs);
  const own = messages.find(
    ({ bot_id, ts, text }) => bot_id === botId && ts !== threadTs && isSame(text ?? ''),
  );
  return own?.ts ? { channel, ts: own.ts } : null;
}

async function channelIdOf(lookups: WebClient, channel: string): Promise<ChannelId | null> {
  if (!channel.startsWith('#')) return channel as ChannelId;
  const found = (await findChannelsByName(lookups, [channel])).get(channel);
  return found?.ok ? found.room.id : null;
}

async function messagesIn(lookups: WebClient, channel: ChannelId, threadTs: string | undefined) {
  const options = { channel, limit: PAGE_SIZE };
  try {
    const { messages = [] } = threadTs
      ? await lookups.conversations.replies({ ...options, ts: threadTs })
      : await lookups.conversations.history(options);
    return messages;
  } catch (error) {
    if (refusedBySlack(error) === 'missing_scope') return [];
    throw error;
  }
}

/** The text of the newest own message of a channel that matches; `text` is null when there is none. */
export async function findNewestOwnText(
  { lookups, botId }: OwnMessages,
  wanted: string | null,
  pattern: RegExp,
): Promise<NoteLookup> {
  if (!wanted) return { ok: true, text: null };
  try {
    const found = (await findChannelsByName(lookups, [wanted])).get(wanted);
    if (!found?.ok) return { ok: false, why: found?.why ?? 'no-such-channel' };
    const options = { channel: found.room.id, limit: PAGE_SIZE };
    const pages = readPages<ConversationsHistoryResponse>(
      lookups,
      'conversations.history',
      options,
    );
    let read = 0;
    for await (const { messages = [] } of pages) {
      const own = messages.find(({ bot_id, text }) => bot_id === botId && pattern.test(text ?? ''));
      if (own) return { ok: true, text: own.text ?? null };
      read += 1;
      if (read === HISTORY_PAGES_MAX) break;
    }
    return { ok: true, text: null };
  } catch (error) {
    return { ok: false, why: refusedBySlack(error) ?? 'no answer' };
  }
}

/** Whether a user is a member of a channel; null when the lookup fails. */
export async function isChannelMember(
  lookups: WebClient,
  channel: ChannelId,
  user: string,
): Promise<boolean | null> {
  const options = { channel, limit: 1_000 };
  const method = 'conversations.members';
  try {
    const pages = readPages<ConversationsMembersResponse>(
      lookups,
      method,
      options,
      MEMBER_PAGES_MAX,
    );
    for await (const { members = [] } of pages) if (members.includes(user)) return true;
    return false;
  } catch {
    // The answer only decides whether the user is notified twice, which does no harm.
    return null;
  }
}
