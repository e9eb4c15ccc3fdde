import type { WebClient } from '@slack/web-api';
import type { NoteLookup } from '../../workflow/messenger-port.ts';
import { refusedBySlack } from '../slack-error.ts';
import { findChannelsByName } from './channels.ts';

const PAGES_MAX = 10;
const PAGE = 200;

interface Where {
  readonly lookups: WebClient;
  readonly channel: string | null;
  /** Anybody can write a line that looks like ours. */
  readonly botId: string;
}

/** The newest of our own messages of a channel that matches, where we may read the channel. */
export async function findOwnNote(where: Where, pattern: RegExp): Promise<NoteLookup> {
  const { lookups, channel: wanted } = where;
  if (!wanted) return { ok: true, text: null };
  try {
    const found = (await findChannelsByName(lookups, [wanted])).get(wanted);
    if (!found?.ok) return { ok: false, why: found?.why ?? 'no-such-channel' };
    return { ok: true, text: await newest(where, found.room.id, pattern) };
  } catch (error) {
    return { ok: false, why: refusedBySlack(error) ?? 'no answer' };
  }
}

async function newest({ lookups, botId }: Where, channel: string, pattern: RegExp) {
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { messages = [], response_metadata } = await lookups.conversations.history({
      channel,
      limit: PAGE,
      ...(cursor ? { cursor } : {}),
    });
    const found = messages.find(({ bot_id, text }) => bot_id === botId && pattern.test(text ?? ''));
    if (found) return found.text ?? null;
    cursor = response_metadata?.next_cursor;
    if (!cursor) return null;
  }
  return null;
}
