import { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Secret } from '../errors.ts';
import { boltLogger } from './outbound/bolt-logger.ts';
import type { Home, standingOf } from './people/actors.ts';
import { listGroups } from './people/groups.ts';

const SLACK_API_URL = 'https://slack.com/api/';
const PAGE = 1_000;
const PAGES_MAX = 20;

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
  /** How far the clock of this machine is ahead of Slack's; null when Slack did not tell. */
  readonly aheadMs: number | null;
}

export interface ChannelFacts {
  readonly id: string;
  readonly name: string;
  readonly formerNames: readonly string[];
  readonly archived: boolean;
  readonly joined: boolean;
  /** With people of another workspace, or soon. */
  readonly outside: boolean;
}

export interface PersonFacts {
  readonly id: string;
  readonly names: readonly string[];
  readonly isBot: boolean;
  readonly gone: boolean;
  readonly user: Parameters<typeof standingOf>[0];
}

/** Everything that a check asks of Slack. It reads, and changes nothing. */
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
    /** Asks for a way in as Socket Mode does, and does not take it. */
    wayIn: async (appToken: Secret) => void (await client(appToken).apps.connections.open()),
    rooms: () => roomsOf(slack),
    people: () => peopleOf(slack),
    groups: () => listGroups(slack),
    membersOf: async (group: string) => {
      const { users } = await slack.usergroups.users.list({ usergroup: group });
      if (!users) throw new Error('Slack answered without the members of a group');
      return users;
    },
  };
}

export type SlackChecks = ReturnType<typeof createSlackChecks>;

// Slack says what time it is with every answer, to the second.
function timed(clock: { aheadMs: number | null }): typeof fetch {
  return async (url, init) => {
    const sent = Date.now();
    const answer = await fetch(url, init);
    const told = Date.parse(answer.headers.get('date') ?? '');
    if (!Number.isNaN(told)) clock.aheadMs = (sent + Date.now()) / 2 - (told + 500);
    return answer;
  };
}

async function selfOf(slack: WebClient): Promise<Omit<Self, 'aheadMs'>> {
  const self = await slack.auth.test();
  const { team_id, enterprise_id, bot_id, user_id, team = '', user = '' } = self;
  if (!team_id || !bot_id || !user_id) throw new Error('Slack did not say whose token this is');
  const scopes = self.response_metadata?.scopes ?? [];
  const home = { teamId: team_id, enterpriseId: enterprise_id ?? null };
  const known = { home, workspace: team, botUserId: user_id, scopes };
  if (!scopes.includes('users:read')) return { ...known, botName: user, appId: null };
  const { bot } = await slack.bots.info({ bot: bot_id });
  return { ...known, botName: bot?.name ?? user, appId: bot?.app_id ?? null };
}

async function roomsOf(slack: WebClient): Promise<readonly ChannelFacts[]> {
  const types = 'public_channel,private_channel';
  const pages = await everyPage(async (cursor) => {
    const reply = await slack.conversations.list({ types, limit: PAGE, ...cursor });
    return { items: reply.channels ?? [], next: reply.response_metadata?.next_cursor };
  });
  return pages.map((room) => ({
    id: room.id ?? '',
    name: room.name ?? '',
    formerNames: room.previous_names ?? [],
    archived: room.is_archived === true,
    joined: room.is_member === true,
    outside: room.is_ext_shared !== false || room.is_pending_ext_shared === true,
  }));
}

async function peopleOf(slack: WebClient): Promise<readonly PersonFacts[]> {
  const members = await everyPage(async (cursor) => {
    const reply = await slack.users.list({ limit: PAGE, ...cursor });
    return { items: reply.members ?? [], next: reply.response_metadata?.next_cursor };
  });
  return members.map((user) => ({
    id: user.id ?? '',
    names: [user.name, user.real_name, user.profile?.real_name].flatMap((name) => name ?? []),
    isBot: user.is_bot === true,
    gone: user.deleted !== false,
    user,
  }));
}

interface Page<Item> {
  readonly items: readonly Item[];
  readonly next: string | undefined;
}

async function everyPage<Item>(
  read: (cursor: { cursor?: string }) => Promise<Page<Item>>,
): Promise<readonly Item[]> {
  const all: Item[] = [];
  let cursor: { cursor?: string } = {};
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { items, next } = await read(cursor);
    all.push(...items);
    if (!next) return all;
    cursor = { cursor: next };
  }
  throw new Error(`Slack has more than the ${PAGES_MAX * PAGE} that are looked through`);
}
