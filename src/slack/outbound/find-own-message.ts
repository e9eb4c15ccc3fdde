import type { ConversationsHistoryResponse, WebClient } from '@slack/web-api';
import type { ChannelId, Position } from '../../domain/change.ts';
import type { OwnTexts } from '../../workflow/messenger-port.ts';
import { refusedBySlack } from '../slack-error.ts';
import type { ChannelFinder } from './channels.ts';
import { readPages } from './read-pages.ts';

const PAGE_SIZE = 200;
const HISTORY_PAGES_MAX = 10;

/** Messages count as own only with this bot id: a user can post the same text. */
export interface OwnMessages {
  readonly lookups: WebClient;
  readonly botId: string;
  readonly finder: ChannelFinder;
}

interface MessageQuery {
  readonly channel: string;
  readonly threadTs: string | undefined;
  readonly isSame: (text: string) => boolean;
}

/**
 * The position of an own message among the newest 200 of a channel, thread or direct conversation. Null
 * where there is none, and where the token lacks the optional scopes to read the history.
 */
export async function findOwnMessage(
  { lookups, botId, finder }: OwnMessages,
  { channel: wanted, threadTs, isSame }: MessageQuery,
): Promise<Position | null> {
  const isUser = /^[UW]/.test(wanted);
  const channel = isUser ? await directChannel(lookups, wanted) : await channelIdOf(finder, wanted);
  if (!channel) return null;
  const messages = await messagesIn(lookups, channel, threadTs);
  const own = messages.find(
    ({ bot_id, ts, text }) => bot_id === botId && ts !== threadTs && isSame(text ?? ''),
  );
  return own?.ts ? { channel, ts: own.ts } : null;
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

async function channelIdOf(finder: ChannelFinder, channel: string): Promise<ChannelId | null> {
  if (!channel.startsWith('#')) return channel as ChannelId;
  const found = (await finder.find([channel])).get(channel);
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

/** The texts that match among the newest 2,000 messages of a channel, newest first. */
export async function findOwnTexts(
  { lookups, botId, finder }: OwnMessages,
  wanted: string | null,
  pattern: RegExp,
): Promise<OwnTexts> {
  if (!wanted) return { ok: true, texts: [] };
  try {
    const found = (await finder.find([wanted])).get(wanted);
    if (!found?.ok) {
      const why = found?.why ?? 'no-such-channel';
      return { ok: false, why, passing: why === 'lookup-failed' };
    }
    const options = { channel: found.room.id, limit: PAGE_SIZE };
    const pages = readPages<ConversationsHistoryResponse>(
      lookups,
      'conversations.history',
      options,
    );
    const texts: string[] = [];
    let read = 0;
    for await (const { messages = [] } of pages) {
      for (const { bot_id, text = '' } of messages) {
        if (bot_id === botId && pattern.test(text)) texts.push(text);
      }
      read += 1;
      if (read === HISTORY_PAGES_MAX) break;
    }
    return { ok: true, texts };
  } catch (error) {
    const why = refusedBySlack(error);
    return { ok: false, why: why ?? 'no answer', passing: why === null || why === 'ratelimited' };
  }
}
