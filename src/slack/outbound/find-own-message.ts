import type { WebClient } from '@slack/web-api';
import type { ChannelId, Position } from '../../changes/change.ts';
import { refusedBySlack } from '../slack-error.ts';
import { findChannelsByName } from './channels.ts';

const LOOKED_AT = 200;

export interface Sought {
  readonly channel: string;
  readonly threadTs: string | undefined;
  /** How the message would be known by what it says. */
  readonly isIt: (text: string) => boolean;
}

/**
 * A message of ours that stands there already, because an earlier post was taken though no answer
 * came. Slack has no mark that would keep a second one out, so that only reading tells. Null where
 * there is none, and where the token may not read: that scope is for whoever installs us to give.
 */
export async function findOwnMessages(
  lookups: WebClient,
  botId: string,
  sought: Sought,
): Promise<Position | null> {
  const channel = await idOf(lookups, sought.channel);
  if (!channel) return null;
  const told = await messagesIn(lookups, channel, sought.threadTs);
  const ours = told?.find(
    ({ bot_id, ts, text }) => bot_id === botId && ts !== sought.threadTs && sought.isIt(text ?? ''),
  );
  return ours?.ts ? { channel, ts: ours.ts } : null;
}

async function idOf(lookups: WebClient, channel: string): Promise<ChannelId | null> {
  if (!channel.startsWith('#')) return channel as ChannelId;
  const found = (await findChannelsByName(lookups, [channel])).get(channel);
  return found?.ok ? found.room.id : null;
}

async function messagesIn(lookups: WebClient, channel: ChannelId, threadTs: string | undefined) {
  const where = { channel, limit: LOOKED_AT };
  try {
    const told = threadTs
      ? await lookups.conversations.replies({ ...where, ts: threadTs })
      : await lookups.conversations.history(where);
    return told.messages ?? [];
  } catch (error) {
    if (refusedBySlack(error) === 'missing_scope') return null;
    throw error;
  }
}

const MEMBERS_AT_ONCE = 1_000;
const PAGES_MAX = 20;

/** Whether a person is in a channel; null where Slack does not tell. */
export async function isInRoom(
  lookups: WebClient,
  channel: ChannelId,
  user: string,
): Promise<boolean | null> {
  let cursor: string | undefined;
  try {
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const more = cursor ? { cursor } : {};
      const ask = { channel, limit: MEMBERS_AT_ONCE, ...more };
      const { members = [], response_metadata } = await lookups.conversations.members(ask);
      if (members.includes(user)) return true;
      cursor = response_metadata?.next_cursor;
      if (!cursor) return false;
    }
    return null;
  } catch {
    // It only decides whether somebody is told a second time, and once too often is no harm.
    return null;
  }
}
