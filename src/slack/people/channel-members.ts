import type { ConversationsMembersResponse, WebClient } from '@slack/web-api';
import { sharedRead } from '../../base/cache.ts';
import type { Clock } from '../../base/time.ts';
import type { ChannelId, UserId } from '../../domain/change.ts';
import { readPages } from '../outbound/read-pages.ts';

/** 19,980 members. Slack allows 100 of these calls per minute. */
const PAGES_MAX = 20;
const KEEP_MS = 60_000;

/** Who is in a channel. Each lookup ends as null where Slack does not answer. */
export interface ChannelMembers {
  /** Read now, for a user who may have just left. */
  readonly has: (channel: ChannelId, user: UserId) => Promise<boolean | null>;
  /** At most a minute old. */
  readonly absentAmong: (
    channel: ChannelId,
    users: readonly UserId[],
  ) => Promise<readonly UserId[] | null>;
}

export function createChannelMembers(lookups: WebClient, clock: Clock): ChannelMembers {
  const members = sharedRead(
    (channel) => readMembers(lookups, channel),
    KEEP_MS,
    () => clock.now(),
  );
  const read = (channel: ChannelId, how: { readonly fresh: boolean }) =>
    members.read(channel, how).catch(() => null);
  return {
    has: async (channel, user) => (await read(channel, { fresh: true }))?.has(user) ?? null,
    absentAmong: async (channel, users) => {
      const present = await read(channel, { fresh: false });
      return present && users.filter((user) => !present.has(user));
    },
  };
}

async function readMembers(lookups: WebClient, channel: string): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  const pages = readPages<ConversationsMembersResponse>(
    lookups,
    'conversations.members',
    { channel },
    { most: PAGES_MAX },
  );
  for await (const { members = [] } of pages) for (const member of members) found.add(member);
  return found;
}
