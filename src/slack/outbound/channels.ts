import type { WebClient } from '@slack/web-api';
import type { ChannelId } from '../../changes/change.ts';
import type { Channel, ChannelLookup } from '../../workflow/messenger-port.ts';
import { refusedBySlack } from '../slack-error.ts';

/** From so many on, a list of all channels costs fewer calls than one for each. */
const LIST_FROM = 15;
const PAGES_MAX = 50;

interface Told {
  readonly id?: string;
  readonly name?: string;
  readonly is_ext_shared?: boolean;
  readonly is_pending_ext_shared?: boolean;
  readonly is_member?: boolean;
  readonly is_archived?: boolean;
}

/**
 * Channels as Slack has them at this moment, by name or id; nothing is kept, for a channel may be
 * shared with another workspace at any time.
 */
export async function findChannelsByName(
  lookups: WebClient,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, ChannelLookup>> {
  const isNamed = wanted.some((one) => one.startsWith('#'));
  if (isNamed || wanted.length >= LIST_FROM) return listed(lookups, wanted);
  const found = await Promise.all(wanted.map(async (id) => [id, await byId(lookups, id)] as const));
  return new Map(found);
}

async function byId(lookups: WebClient, id: string): Promise<ChannelLookup> {
  try {
    const { channel } = await lookups.conversations.info({ channel: id });
    return foundOf(channel);
  } catch (error) {
    const isGone = refusedBySlack(error) === 'channel_not_found';
    return { ok: false, why: isGone ? 'no-such-channel' : 'lookup-failed' };
  }
}

async function listed(
  lookups: WebClient,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, ChannelLookup>> {
  const all = await listOf(lookups).catch(() => null);
  const byWord = new Map(
    (all ?? []).flatMap((told) => [
      [`#${told.name}`, told] as const,
      [told.id ?? '', told] as const,
    ]),
  );
  return new Map(
    wanted.map((word) => {
      const told = byWord.get(word);
      const missing = { ok: false, why: all ? 'no-such-channel' : 'lookup-failed' } as const;
      return [word, told ? foundOf(told) : missing];
    }),
  );
}

async function listOf(lookups: WebClient): Promise<readonly Told[]> {
  const all: Told[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { channels = [], response_metadata } = await lookups.conversations.list({
      types: 'public_channel,private_channel',
      exclude_archived: true,
      limit: 1_000,
      ...(cursor ? { cursor } : {}),
    });
    all.push(...channels);
    cursor = response_metadata?.next_cursor;
    if (!cursor) return all;
  }
  throw new Error('Slack has more channels than were looked through');
}

/** What Slack leaves out is taken as shared: the figures would be read by people elsewhere. */
function foundOf(told: Told | undefined): ChannelLookup {
  if (!told?.id || told.is_archived) return { ok: false, why: 'no-such-channel' };
  const { id, name = id, is_ext_shared, is_pending_ext_shared, is_member = false } = told;
  const isOurs = is_ext_shared === false && is_pending_ext_shared !== true;
  const room: Channel = { id: id as ChannelId, name, outside: !isOurs, joined: is_member };
  return { ok: true, room };
}
