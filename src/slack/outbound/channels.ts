import type { ConversationsListResponse, WebClient } from '@slack/web-api';
import type { ChannelId } from '../../changes/change.ts';
import type { ChannelLookup } from '../../workflow/messenger-port.ts';
import { refusedBySlack } from '../slack-error.ts';
import { readPages } from './read-pages.ts';

/** From this number on, one list of all channels takes fewer calls than one call for each. */
const LIST_FROM = 15;

interface SlackChannel {
  readonly id?: string;
  readonly name?: string;
  readonly is_ext_shared?: boolean;
  readonly is_pending_ext_shared?: boolean;
  readonly is_member?: boolean;
  readonly is_archived?: boolean;
}

/**
 * Channels by name or id, always read from Slack: a channel can be shared with another workspace at
 * any time.
 */
export async function findChannelsByName(
  lookups: WebClient,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, ChannelLookup>> {
  const hasName = wanted.some((one) => one.startsWith('#'));
  if (hasName || wanted.length >= LIST_FROM) return findInList(lookups, wanted);
  const found = await Promise.all(
    wanted.map(async (id) => [id, await findById(lookups, id)] as const),
  );
  return new Map(found);
}

async function findById(lookups: WebClient, id: string): Promise<ChannelLookup> {
  try {
    const { channel } = await lookups.conversations.info({ channel: id });
    return lookupOf(channel);
  } catch (error) {
    const isGone = refusedBySlack(error) === 'channel_not_found';
    return { ok: false, why: isGone ? 'no-such-channel' : 'lookup-failed' };
  }
}

async function findInList(
  lookups: WebClient,
  wanted: readonly string[],
): Promise<ReadonlyMap<string, ChannelLookup>> {
  const all = await listChannels(lookups).catch(() => null);
  return new Map(
    wanted.map((word) => {
      if (!all) return [word, { ok: false, why: 'lookup-failed' }];
      return [word, lookupOf(all.find(({ id, name }) => id === word || `#${name}` === word))];
    }),
  );
}

async function listChannels(lookups: WebClient): Promise<readonly SlackChannel[]> {
  const all: SlackChannel[] = [];
  const pages = readPages<ConversationsListResponse>(lookups, 'conversations.list', {
    types: 'public_channel,private_channel',
    exclude_archived: true,
    limit: 1_000,
  });
  for await (const { channels = [] } of pages) all.push(...channels);
  return all;
}

/** A channel counts as shared unless Slack says that it is not: others could read the costs. */
function lookupOf(channel: SlackChannel | undefined): ChannelLookup {
  if (!channel?.id || channel.is_archived) return { ok: false, why: 'no-such-channel' };
  const { id, name = id, is_ext_shared, is_pending_ext_shared, is_member = false } = channel;
  const isShared = is_ext_shared !== false || is_pending_ext_shared === true;
  return {
    ok: true,
    room: { id: id as ChannelId, name, outside: isShared, joined: is_member },
  };
}
