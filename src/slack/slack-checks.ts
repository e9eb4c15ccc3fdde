import { type ConversationsListResponse, type UsersListResponse, WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Secret } from '../errors.ts';
import { boltLogger } from './outbound/bolt-logger.ts';
import { readPages } from './outbound/read-pages.ts';
import type { Home, standingOf } from './people/actors.ts';
import { listGroups } from './people/groups.ts';

const SLACK_API_URL = 'https://slack.com/api/';
const PAGE_SIZE = 1_000;

export interface SlackCheckOptions {
  readonly botToken: Secret;
  readonly apiUrl: string | null;
  readonly log: Logger;
  readonly withinMs: number;
}

export interface Self {
  readonly home: Home;
  readonly workspace: string;
  readonly botName: string;
  readonly botUserId: string;
  readonly appId: string | null;
  /** What this token was granted when the app was last installed. */
  readonly scopes: readonly string[];
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
    self: async () => ({ ...(await selfOf(slack)), aheadMs: clock.aheadMs }),
    /** Requests a Socket Mode connection without opening it. */
    openConnection: async (appToken: Secret) =>
      void (await client(appToken).apps.connections.open()),
    channels: () => channelsOf(slack),
    people: () => peopleOf(slack),
    groups: () => listGroups(slack),
    membersOf: async (group: string) => {
      const { users } = await slack.usergroups.users.list({ usergroup: group });
      if (!users) throw new Error('Slack returned no members of a group');
      return users;
    },
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

async function selfOf(slack: WebClient): Promise<Omit<Self, 'aheadMs'>> {
  const self = await slack.auth.test();
  const { team_id, enterprise_id, bot_id, user_id, team = '', user = '' } = self;
  if (!team_id || !bot_id || !user_id)
    throw new Error('Slack did not return the owner of this token');
  const scopes = self.response_metadata?.scopes ?? [];
  const home = { teamId: team_id, enterpriseId: enterprise_id ?? null };
  const known = { home, workspace: team, botUserId: user_id, scopes };
  if (!scopes.includes('users:read')) return { ...known, botName: user, appId: null };
  const { bot } = await slack.bots.info({ bot: bot_id });
  return { ...known, botName: bot?.name ?? user, appId: bot?.app_id ?? null };
}

async function channelsOf(slack: WebClient): Promise<readonly ChannelFacts[]> {
  const types = 'public_channel,private_channel';
  const options = { types, limit: PAGE_SIZE };
  const all: ConversationsListResponse['channels'] = [];
  const pages = readPages<ConversationsListResponse>(slack, 'conversations.list', options);
  for await (const { channels = [] } of pages) all.push(...channels);
  return all.map((channel) => ({
    id: channel.id ?? '',
    name: channel.name ?? '',
    formerNames: channel.previous_names ?? [],
    archived: channel.is_archived === true,
    joined: channel.is_member === true,
    outside: channel.is_ext_shared !== false || channel.is_pending_ext_shared === true,
  }));
}

async function peopleOf(slack: WebClient): Promise<readonly PersonFacts[]> {
  const all: UsersListResponse['members'] = [];
  const pages = readPages<UsersListResponse>(slack, 'users.list', { limit: PAGE_SIZE });
  for await (const { members = [] } of pages) all.push(...members);
  return all.map((user) => ({
    id: user.id ?? '',
    names: [user.name, user.real_name, user.profile?.real_name].flatMap((name) => name ?? []),
    isBot: user.is_bot === true,
    gone: user.deleted !== false,
    user,
  }));
}
