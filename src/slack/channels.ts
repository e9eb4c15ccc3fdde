import type {
  ConversationsListResponse,
  ConversationsMembersResponse as Members,
  WebClient,
} from '@slack/web-api';
import type { Logger } from 'pino';
import { sharedRead } from '../base/cache.ts';
import type { Clock } from '../base/time.ts';
import type { ChannelLookup } from '../domain/answer.ts';
import type { ChannelId, UserId } from '../domain/change.ts';
import { type Home, ofEach } from './accounts.ts';
import { createRetryLimited, type PageReading, readPages, refusedBySlack } from './api.ts';

/** The ids of configured channel names, shared by all replicas and kept across restarts. */
export interface ChannelIdStore {
  /** Returns all stored ids by name, for example `#db-costs`. */
  readonly read: () => Promise<ReadonlyMap<string, string>>;
  /** Stores an id unless the name has one. Returns the stored id. */
  readonly remember: (name: string, id: string) => Promise<string>;
}

interface ChannelFinderOptions {
  readonly lookups: WebClient;
  readonly home: Pick<Home, 'workspaces'>;
  /** The names in the configuration, whose ids are stored. */
  readonly configured: readonly string[];
  readonly store: ChannelIdStore;
  readonly clock: Clock;
  readonly log: Logger;
}

export type ChannelFinder = ReturnType<typeof createChannelFinder>;

/** From this number on, one list of all channels takes fewer calls than one call for each. */
const LIST_FROM = 15;
/** `conversations.info` may be called more often than `conversations.list`. */
const LOOKUPS_PER_PAGE = 3;
/** How long a name that is not in the configuration keeps the id of the last list. */
const KEEP_MS = 60_000;

/**
 * Channels by name or id. A configured name is resolved once: its channel keeps working under a new
 * name, and another channel that takes the name is not used.
 * Source: docs/slack.md#large-workspaces.
 */
export function createChannelFinder(options: ChannelFinderOptions) {
  const { lookups, store, clock, log } = options;
  const configured = new Set(options.configured.filter(isName));
  const ids = new Map<string, string>();
  let listed = { until: -1, ids: new Map<string, string>(), pages: 1 };

  const list = createChannelList(options, async (channels, pages) => {
    const all = new Map<string, string>();
    for (const { id = '', name, context_team_id: team } of channels) {
      const other = all.get(`#${name}`) ?? id;
      // Two workspaces have a channel of this name: it means none of them.
      all.set(`#${name}`, other === id ? id : '');
      all.set(`${team}/#${name}`, id);
    }
    listed = { until: clock.now() + KEEP_MS, ids: all, pages };
    for (const name of configured) {
      const id = all.get(name);
      if (id !== undefined) await remember(name, id);
    }
  });

  async function remember(name: string, id: string): Promise<void> {
    if (!ids.has(name)) ids.set(name, await store.remember(name, id));
  }

  /** Returns the known id, of a configured name first from the store. */
  async function knownId(channel: string): Promise<string | null> {
    if (!isName(channel)) return channel;
    if (!configured.has(channel)) {
      return clock.now() < listed.until ? (listed.ids.get(channel) ?? null) : null;
    }
    if (!ids.has(channel)) {
      for (const [name, id] of await store.read()) if (configured.has(name)) ids.set(name, id);
    }
    return ids.get(channel) ?? null;
  }

  /** Reads each channel from Slack, because it can be shared with another workspace at any time. */
  async function find(wanted: readonly string[]): Promise<ReadonlyMap<string, ChannelLookup>> {
    const known = await Promise.all(wanted.map(knownId));
    const isListed =
      known.includes(null) || wanted.length >= Math.max(LIST_FROM, listed.pages * LOOKUPS_PER_PAGE);
    const all = isListed ? await list.read().catch(() => null) : [];
    const lookUp = async (word: string, id: string): Promise<ChannelLookup> => {
      if (!isListed) return channelWithId(lookups, id).then(lookupOf, () => LOOKUP_FAILED);
      if (!all) return LOOKUP_FAILED;
      // The list may have named it just now.
      const listedId = await knownId(word);
      return lookupOf(all.find((one) => one.id === listedId));
    };
    const found = wanted.map(async (word, at) => {
      return [word, await lookUp(word, known[at] ?? word)] as const;
    });
    return new Map(await Promise.all(found));
  }

  return {
    find,
    /** Returns the stored id of a configured name, else the name or id itself, without a call. */
    target: async (channel: string): Promise<string> => {
      const id = await knownId(channel);
      // Slack finds a channel by its name alone: in an organization the list does.
      if (id !== null || options.home.workspaces === null) return id ?? channel;
      const found = (await find([channel])).get(channel);
      if (found?.ok) return found.room.id;
      if (found?.why === 'lookup-failed') throw new Error(`Slack did not list ${channel}`);
      return channel;
    },
    /** Stores the channel in which Slack posted to this name. */
    posted: async (channel: string, id: ChannelId) => {
      if (!configured.has(channel)) return;
      // The message is posted already: a failure here must not post it again.
      await remember(channel, id).catch((error: unknown) => {
        log.warn({ err: error, channel }, 'the id of a channel was not stored');
      });
    },
    /** Why names cannot be resolved now; null if nothing waits. */
    problem: () => {
      const seconds = list.waitsForS();
      if (seconds === null) return null;
      return `channel names are not resolved yet: Slack limits the rate, retry in ${seconds} s`;
    },
  };
}

/** `#db-approvals`, also in a workspace: `T0123ABCD/#db-approvals`. */
function isName(channel: string): boolean {
  return channel.includes('#');
}

export type SlackChannel = NonNullable<ConversationsListResponse['channels']>[number];

/** Undefined where there is no such channel, or the app does not see it. */
export async function channelWithId(
  lookups: WebClient,
  id: string,
): Promise<SlackChannel | undefined> {
  try {
    return (await lookups.conversations.info({ channel: id })).channel;
  } catch (error) {
    if (refusedBySlack(error) === 'channel_not_found') return undefined;
    throw error;
  }
}

/** Whether another organization can read it, or is invited to; null where Slack does not say. */
export function isOutside({ is_ext_shared, is_pending_ext_shared }: SlackChannel): boolean | null {
  if (is_ext_shared || is_pending_ext_shared) return true;
  return is_ext_shared === false ? false : null;
}

const LOOKUP_FAILED = { ok: false, why: 'lookup-failed' } as const;

/** Others could read the costs: without Slack's word on that, the channel was not found out about. */
function lookupOf(channel: SlackChannel | undefined): ChannelLookup {
  if (!channel?.id || channel.is_archived) return { ok: false, why: 'no-such-channel' };
  const { id, name = id, is_member: joined = false } = channel;
  const outside = isOutside(channel);
  if (outside === null) return LOOKUP_FAILED;
  return { ok: true, room: { id: id as ChannelId, name, outside, joined } };
}

const PAGES_MAX = 200;
const ATTEMPTS_MAX = 21;

/**
 * The list of all open channels that the bot can see. `onListed` is called with every complete list, also
 * where its readers have stopped waiting.
 */
function createChannelList(
  { lookups, home, clock, log }: Pick<ChannelFinderOptions, 'lookups' | 'home' | 'clock' | 'log'>,
  onListed: (channels: readonly SlackChannel[], pages: number) => Promise<void>,
) {
  let running: Promise<readonly SlackChannel[]> | null = null;
  let resumesAt: number | null = null;

  async function start(limited: (error: Error) => void): Promise<readonly SlackChannel[]> {
    const retry = createRetryLimited(clock, Number.POSITIVE_INFINITY, ATTEMPTS_MAX);
    let pages = 0;
    const call = <Page>(read: () => Promise<Page>) => {
      pages += 1;
      return retry(read, (waitMs) => {
        const seconds = waitMs / 1_000;
        const limit = 'Slack limits the rate of conversations.list';
        log.warn({ seconds }, `${limit}; the list continues later`);
        resumesAt = clock.now() + waitMs;
        limited(new Error(limit));
      });
    };
    try {
      const open = { exclude_archived: true };
      const channels = await listChannels(lookups, home, open, { most: PAGES_MAX, call });
      await onListed(channels, pages);
      return channels;
    } catch (error) {
      // The readers may be gone when the list fails.
      log.warn({ err: error }, 'channels could not be listed');
      throw error;
    } finally {
      running = null;
      resumesAt = null;
    }
  }

  return {
    /**
     * Returns all channels. Simultaneous readers share one list. At a rate limit the readers get the
     * error at once, while the list continues in the background after the time that Slack names.
     * Source: docs/slack.md#large-workspaces.
     */
    read: () => {
      running ??= new Promise((listed, failed) => void start(failed).then(listed, failed));
      return running;
    },
    /** The seconds until the list continues after a rate limit; null if none waits. */
    waitsForS: () =>
      resumesAt === null ? null : Math.max(0, Math.ceil((resumesAt - clock.now()) / 1_000)),
  };
}

/** All channels that the bot can see, each with the workspace that lists it. */
export async function listChannels(
  lookups: WebClient,
  home: Pick<Home, 'workspaces'>,
  options: { readonly exclude_archived?: boolean } = {},
  how: PageReading = {},
): Promise<readonly SlackChannel[]> {
  const all: SlackChannel[] = [];
  for (const of of ofEach(home)) {
    const args = { types: 'public_channel,private_channel', ...options, ...of };
    const pages = readPages<ConversationsListResponse>(lookups, 'conversations.list', args, how);
    const place = of.team_id ? { context_team_id: of.team_id } : {};
    for await (const { channels = [] } of pages) {
      all.push(...channels.map((channel) => ({ ...channel, ...place })));
    }
  }
  return all;
}

/**
 * Whether another organization reads a channel, at most a minute old. Where Slack does not answer, the last answer
 * counts: the channels of the configuration were not shared when it was written.
 */
export function createSharing({ find }: Pick<ChannelFinder, 'find'>, clock: Clock) {
  const last = new Map<string, boolean>();
  const reads = sharedRead(
    async (channel) => {
      const found = (await find([channel])).get(channel);
      if (found?.ok) last.set(channel, found.room.outside);
      return last.get(channel) ?? false;
    },
    KEEP_MS,
    () => clock.now(),
  );
  return (channel: string) =>
    /^[UWD]/.test(channel) ? Promise.resolve(false) : reads.read(channel, { fresh: false });
}

/** 19,980 members. Slack allows 100 of these calls per minute. */
const MEMBER_PAGES_MAX = 20;

/** Who is in a channel, which can list any of the ids of a person. Each lookup ends as null where Slack does not answer. */
export function createChannelMembers(
  lookups: WebClient,
  clock: Clock,
  idsOf: (user: UserId) => readonly UserId[],
) {
  const members = sharedRead(
    async (channel) => {
      const how = { most: MEMBER_PAGES_MAX };
      const found = new Set<string>();
      const pages = readPages<Members>(lookups, 'conversations.members', { channel }, how);
      for await (const { members: ids = [] } of pages) for (const id of ids) found.add(id);
      return found;
    },
    KEEP_MS,
    () => clock.now(),
  );
  const read = (channel: ChannelId, how: { readonly fresh: boolean }) =>
    members.read(channel, how).catch(() => null);
  return {
    /** Read now, for a user who may have just left. */
    has: async (channel: ChannelId, user: UserId) => {
      const present = await read(channel, { fresh: true });
      return present && idsOf(user).some((id) => present.has(id));
    },
    /** At most a minute old. */
    absentAmong: async (channel: ChannelId, users: readonly UserId[]) => {
      const present = await read(channel, { fresh: false });
      return present && users.filter((user) => !idsOf(user).some((id) => present.has(id)));
    },
  };
}
