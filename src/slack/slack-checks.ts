import { type ConversationsListResponse, type UsersListResponse, WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Secret } from '../base/errors.ts';
import type { Policy } from '../domain/policy.ts';
import type { standingOf } from './accounts.ts';
import { boltLogger, readPages, refusedBySlack } from './api.ts';
import { type InstalledApp, readInstalledApp } from './connect.ts';
import { listNamedGroups } from './groups.ts';

const SLACK_API_URL = 'https://slack.com/api/';

interface SlackCheckOptions {
  readonly botToken: Secret;
  readonly apiUrl: string | null;
  readonly log: Logger;
  readonly withinMs: number;
}

export interface AppIdentity extends InstalledApp {
  /** How far the clock of this machine is ahead of Slack's; null without a date in Slack's answer. */
  readonly aheadMs: number | null;
}

export interface ChannelFacts {
  readonly id: string;
  readonly name: string;
  readonly formerNames: readonly string[];
  readonly archived: boolean;
  readonly joined: boolean;
  /** Shared with another workspace, or with a pending invitation to one. */
  readonly outside: boolean;
}

export interface PersonFacts {
  readonly id: string;
  readonly names: readonly string[];
  readonly isBot: boolean;
  readonly gone: boolean;
  readonly user: Parameters<typeof standingOf>[0];
}

/** Everything that the doctor reads from Slack. It changes nothing. */
export function createSlackChecks({ botToken, apiUrl, log, withinMs }: SlackCheckOptions) {
  const slackApiUrl = apiUrl ?? SLACK_API_URL;
  const clock = { aheadMs: null as number | null };
  const client = (token: Secret) =>
    new WebClient(token.reveal(), {
      slackApiUrl,
      timeout: withinMs,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      allowAbsoluteUrls: false,
      logger: boltLogger(log),
      fetch: timed(clock),
    });
  const slack = client(botToken);
  return {
    self: async () => ({ ...(await readInstalledApp(slack)), aheadMs: clock.aheadMs }),
    /** Requests a Socket Mode connection without opening it. */
    openConnection: async (appToken: Secret) =>
      void (await client(appToken).apps.connections.open()),
    /** The channels with these ids; all channels where one id is not known. */
    channels: (ids: readonly (string | null)[]) => channelsOf(slack, ids),
    people: () => peopleOf(slack),
    groups: (policy: Policy) => listNamedGroups(slack, policy),
  };
}

export type SlackChecks = ReturnType<typeof createSlackChecks>;

// Slack sends the time with every answer, rounded down to a second.
function timed(clock: { aheadMs: number | null }): typeof fetch {
  return async (url, init) => {
    const sent = Date.now();
    const answer = await fetch(url, init);
    const slackTime = Date.parse(answer.headers.get('date') ?? '');
    if (!Number.isNaN(slackTime)) clock.aheadMs = (sent + Date.now()) / 2 - (slackTime + 500);
    return answer;
  };
}

/** More channels than this would exceed the rate limit of single lookups. */
const LOOKUPS_MAX = 40;

async function channelsOf(
  slack: WebClient,
  ids: readonly (string | null)[],
): Promise<readonly ChannelFacts[]> {
  const known = ids.filter((id) => id !== null);
  const isKnown = known.length === ids.length && known.length <= LOOKUPS_MAX;
  const channels = isKnown
    ? (await Promise.all(known.map((id) => channelWithId(slack, id)))).flat()
    : await allChannels(slack);
  return channels.map((channel) => ({
    id: channel.id ?? '',
    name: channel.name ?? '',
    formerNames: channel.previous_names ?? [],
    archived: channel.is_archived === true,
    joined: channel.is_member === true,
    outside: channel.is_ext_shared !== false || channel.is_pending_ext_shared === true,
  }));
}

type SlackChannels = NonNullable<ConversationsListResponse['channels']>;

async function channelWithId(slack: WebClient, id: string): Promise<SlackChannels> {
  try {
    const { channel } = await slack.conversations.info({ channel: id });
    return channel ? [channel] : [];
  } catch (error) {
    if (refusedBySlack(error) === 'channel_not_found') return [];
    throw error;
  }
}

async function allChannels(slack: WebClient): Promise<SlackChannels> {
  const types = 'public_channel,private_channel';
  const all: SlackChannels = [];
  const pages = readPages<ConversationsListResponse>(slack, 'conversations.list', { types });
  for await (const { channels = [] } of pages) all.push(...channels);
  return all;
}

async function peopleOf(slack: WebClient): Promise<readonly PersonFacts[]> {
  const all: UsersListResponse['members'] = [];
  const pages = readPages<UsersListResponse>(slack, 'users.list', {});
  for await (const { members = [] } of pages) all.push(...members);
  return all.map((user) => ({
    id: user.id ?? '',
    names: [user.name, user.real_name, user.profile?.real_name].flatMap((name) => name ?? []),
    isBot: user.is_bot === true,
    gone: user.deleted !== false,
    user,
  }));
}
