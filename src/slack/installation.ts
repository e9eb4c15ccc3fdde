import type { AuthTeamsListResponse, WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { causeCode, type Secret } from '../base/errors.ts';
import { systemClock } from '../base/time.ts';
import type { UserId } from '../domain/change.ts';
import type { Policy } from '../domain/policy.ts';
import { allUsers, type CheckedUsers, checkUsers, type Home } from './accounts.ts';
import { answerMessage } from './answer.ts';
import {
  appTokenProblem,
  callProblem,
  createClient,
  foreignAppToken,
  REINSTALL_WITH_SCOPES,
  readPages,
  refusedBySlack,
  SLACK_API_URL,
  type SlackProblem,
} from './api.ts';
import { buttons, type Message, message, title } from './blocks.ts';
import { channelWithId, isOutside, listChannels } from './channels.ts';
import { listGroups, listNamedGroups } from './groups.ts';
import { REQUIRED_SCOPES } from './manifest.ts';
import { readBack } from './post.ts';
import { probeConnection } from './sockets.ts';

// What Slack says about this installation: the owner and the scopes of its tokens, which a start checks,
// and what the doctor reads in addition. Nothing here changes Slack.

interface Tokens {
  readonly lookups: WebClient;
  readonly appToken: Secret | null;
  /** False for a reload, which keeps the connections of the start. */
  readonly opensSocket: boolean;
  readonly slackApiUrl: string;
  readonly workspaces: Home['workspaces'];
  readonly log: Logger;
  readonly fetch: typeof globalThis.fetch;
}

type InstallationCheck =
  | {
      readonly ok: true;
      readonly app: InstalledApp & { readonly appId: string };
      readonly socketUrl: string | null;
    }
  | { readonly ok: false; readonly problems: readonly SlackProblem[] };

/** Checks both tokens and the scopes of a start, and returns all of their problems at once. */
export async function checkInstallation(tokens: Tokens): Promise<InstallationCheck> {
  const [read, socket] = await Promise.all([
    readInstalledApp(tokens.lookups, tokens.workspaces).catch((error: unknown) =>
      callProblem('SLACK_BOT_TOKEN', error),
    ),
    requestSocket(tokens),
  ]);
  const delivery = 'problem' in socket ? [socket] : [];
  if ('problem' in read) return { ok: false, problems: [read, ...delivery] };
  const { appId } = read;
  const problems = [...workspaceProblems(read), ...scopeProblems(read.scopes), ...delivery];
  const foreign = appId && tokens.appToken ? foreignAppToken(tokens.appToken, appId) : null;
  if (foreign) problems.push({ where: 'SLACK_APP_TOKEN', ...foreign, passing: false });
  if (problems.length > 0) return { ok: false, problems };
  if (appId === null) throw new Error('Slack did not return the app of this token');
  return { ok: true, app: { ...read, appId }, socketUrl: 'url' in socket ? socket.url : null };
}

/** A token for an organization names no workspace: the configuration does, and no other token has a choice. */
export function workspaceProblems({
  isOrgWide,
  home,
  granted,
}: InstalledApp): readonly SlackProblem[] {
  const { workspaces } = home;
  const problemAt = (where: string, problem: string, hint: string) => [
    { where, problem, hint, passing: false },
  ];
  if (isOrgWide && workspaces === null) {
    const organization = home.enterpriseId ?? home.teamId;
    const problem = `the app is installed for the whole organization ${organization}`;
    const hint =
      'list the workspaces to serve in signalbox.yaml, slack: { workspaces: [T…] }, or install it in one workspace and set that bot token';
    return problemAt('SLACK_BOT_TOKEN', problem, hint);
  }
  if (workspaces === null) return [];
  if (!isOrgWide) {
    const hint = 'remove the list, or set the bot token of an installation for the organization';
    return problemAt('slack.workspaces', `the bot token is of one workspace, ${home.teamId}`, hint);
  }
  const missing = workspaces.filter((id) => !granted.includes(id));
  if (missing.length === 0) return [];
  const hint = 'add the app to it in the settings of the organization, or remove it from the list';
  return problemAt('slack.workspaces', `the app is not added to ${missing.join(', ')}`, hint);
}

/** The app and workspace of a bot token. */
export interface InstalledApp {
  /** Installed for an organization of Enterprise Grid, not for one workspace. */
  readonly isOrgWide: boolean;
  readonly home: Home;
  /** The workspaces of the organization to which the app is added; none for an installation in one. */
  readonly granted: readonly string[];
  readonly workspace: string;
  readonly botName: string;
  readonly botId: string;
  readonly botUserId: string;
  /** Null where the token may not read it. */
  readonly appId: string | null;
  /** What this token was granted when the app was last installed; null where Slack did not say. */
  readonly scopes: readonly string[] | null;
}

/** Reads the app and workspace of the token. Throws where Slack refuses it. */
export async function readInstalledApp(
  slack: WebClient,
  workspaces: Home['workspaces'],
): Promise<InstalledApp> {
  const self = await slack.auth.test();
  const { team_id, enterprise_id, bot_id, user_id, team = '', user = '' } = self;
  if (!team_id || !bot_id || !user_id)
    throw new Error('Slack did not return the owner of this token');
  const scopes = self.response_metadata?.scopes ?? null;
  const home = { teamId: team_id, enterpriseId: enterprise_id ?? null, workspaces };
  const isOrgWide = self.is_enterprise_install === true;
  const granted: string[] = [];
  const pages = isOrgWide && readPages<AuthTeamsListResponse>(slack, 'auth.teams.list', {});
  if (pages)
    for await (const { teams = [] } of pages) granted.push(...teams.map(({ id = '' }) => id));
  const ids = { botId: bot_id, botUserId: user_id };
  const known = { home, isOrgWide, granted, workspace: team, ...ids, scopes };
  if (scopes?.includes('users:read') === false) return { ...known, botName: user, appId: null };
  const { bot } = await slack.bots.info({
    bot: bot_id,
    ...(granted[0] && { team_id: granted[0] }),
  });
  return { ...known, botName: bot?.name ?? user, appId: bot?.app_id ?? null };
}

function scopeProblems(granted: readonly string[] | null): SlackProblem[] {
  if (granted === null) return [];
  const missing = REQUIRED_SCOPES.filter((scope) => !granted.includes(scope));
  if (missing.length === 0) return [];
  const problem = `${missing.join(', ')}: not granted`;
  return [{ where: 'SLACK_BOT_TOKEN', problem, hint: REINSTALL_WITH_SCOPES, passing: false }];
}

/**
 * Requests the URL of the first Socket Mode connection, because Slack checks the app token then. The
 * connection uses this URL: Slack allows few of these calls. Source: docs/slack.md#socket-mode.
 */
async function requestSocket(
  tokens: Tokens,
): Promise<{ readonly url: string | null } | SlackProblem> {
  const { appToken, opensSocket, slackApiUrl, log, fetch } = tokens;
  if (appToken === null || !opensSocket) return { url: null };
  const slack = createClient(appToken, { slackApiUrl, log, fetch }, { timeout: 4_000 });
  try {
    const { url = null } = await slack.apps.connections.open();
    return { url };
  } catch (error) {
    // Slack knows the token, and the first connection waits for the limit.
    if (refusedBySlack(error) === 'ratelimited') return { url: null };
    return { ...callProblem('SLACK_APP_TOKEN', error), hint: appTokenProblem(error).fix };
  }
}

interface ReadOptions {
  readonly botToken: Secret;
  readonly apiUrl: string | null;
  /** `slack.workspaces` of the configuration. */
  readonly workspaces: Home['workspaces'];
  readonly isProxied: boolean;
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
  /** The workspace that lists it. */
  readonly team: string;
  readonly formerNames: readonly string[];
  readonly archived: boolean;
  readonly joined: boolean;
  /** Shared with another workspace, or with a pending invitation to one; null where Slack does not say. */
  readonly outside: boolean | null;
}

/** The connections of the app before this one, or why none opened although Slack accepts the token. */
export type SocketProbe = { readonly others: number | null } | { readonly blocked: string };

/** Everything that the doctor reads from Slack. It changes nothing. */
export function createInstallationReads(given: ReadOptions) {
  const { botToken, apiUrl, workspaces, isProxied, log, withinMs } = given;
  const clock = { aheadMs: null as number | null };
  const api = { slackApiUrl: apiUrl ?? SLACK_API_URL, log, fetch: timed(clock) };
  const client = (token: Secret) => createClient(token, api, { timeout: withinMs });
  const slack = client(botToken);
  return {
    self: async () => ({ ...(await readInstalledApp(slack, workspaces)), aheadMs: clock.aheadMs }),
    /** Those of a card, a table and a chart that this workspace does not accept. */
    refusedBlocks: async () =>
      (await Promise.all(SAMPLES.map((sample) => refusedSample(slack, sample)))).flat(),
    /** Opens a Socket Mode connection and closes it. */
    openConnection: async (appToken: Secret): Promise<SocketProbe> => {
      const { url = '' } = await client(appToken).apps.connections.open();
      const options = { ...api, appToken, isProxied, clock: systemClock };
      return probeConnection(options, url).then(
        (others) => ({ others }),
        (error: unknown) => ({ blocked: causeCode(error) ?? 'no answer' }),
      );
    },
    /** The channels with these ids; all channels where one id is not known. */
    channels: (ids: readonly (string | null)[]) => channelsOf(slack, { workspaces }, ids),
    /** The time of the oldest message that a check reads in a channel with too many; null: it reads all. */
    readTo: async (channel: string, since: Date): Promise<Date | null> => {
      const { messages, isCut } = await readBack(slack, channel, since);
      return isCut ? new Date(Number(messages.at(-1)?.ts) * 1_000) : null;
    },
    /** Those that a policy can name; all of the workspace without one. */
    groups: (policy: Policy | null) =>
      policy ? listNamedGroups(slack, { workspaces }, policy) : listGroups(slack, { workspaces }),
    /** The accounts of these users, as a start and a decision read them. */
    accounts: async (users: readonly UserId[], home: Home): Promise<CheckedUsers> =>
      checkUsers(users, {
        ...{
          lookups: slack,
          home,
          listed: await allUsers(slack, home),
          accounts: { keep: () => undefined },
        },
        retryLimited: (read) => read(),
      }),
  };
}

const SAMPLES: readonly (readonly [string, Message])[] = [
  ['card', message(title('Stop staging'), buttons('x', { id: 'x', label: 'Approve', value: 'x' }))],
  [
    'table',
    answerMessage({ title: 'Costs', parts: [{ kind: 'table', columns: ['A'], rows: [['1']] }] }),
  ],
  [
    'chart',
    answerMessage({
      title: 'Costs',
      parts: [
        {
          ...{ kind: 'chart', title: 'Costs', unit: 'credits', axis: 'day' },
          points: [{ label: '1 Nov', value: 1 }],
        },
      ],
    }),
  ],
];

async function refusedSample(
  slack: WebClient,
  [kind, { blocks }]: readonly [string, Message],
): Promise<readonly string[]> {
  try {
    await slack.blocks.validate({ message: { blocks: [...blocks] } });
    return [];
  } catch (error) {
    if (!/^invalid_(blocks|message)$/.test(refusedBySlack(error) ?? '')) throw error;
    return [kind];
  }
}

export type InstallationReads = ReturnType<typeof createInstallationReads>;

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
  home: Pick<Home, 'workspaces'>,
  ids: readonly (string | null)[],
): Promise<readonly ChannelFacts[]> {
  const known = ids.filter((id) => id !== null);
  const isKnown = known.length === ids.length && known.length <= LOOKUPS_MAX;
  const channels = isKnown
    ? (await Promise.all(known.map((id) => channelWithId(slack, id)))).flatMap((one) => one ?? [])
    : await listChannels(slack, home);
  return channels.map((channel) => ({
    id: channel.id ?? '',
    team: channel.context_team_id ?? '',
    name: channel.name ?? '',
    formerNames: channel.previous_names ?? [],
    archived: channel.is_archived === true,
    joined: channel.is_member === true,
    outside: isOutside(channel),
  }));
}
