import type { AuthTeamsListResponse, WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { causeCode, type Secret } from '../base/errors.ts';
import { systemClock } from '../base/time.ts';
import type { AnswerPart } from '../domain/answer.ts';
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
  type WebApi,
} from './api.ts';
import { channelWithId, isOutside, listChannels } from './channels.ts';
import { listGroups, listNamedGroups } from './groups.ts';
import { REQUIRED_SCOPES } from './manifest.ts';
import { readBack } from './post.ts';
import { probeConnection } from './sockets.ts';

// What Slack says about this installation: the owner and the scopes of its tokens, which a start checks,
// and what the doctor reads in addition. Nothing here changes Slack.

interface Tokens extends Omit<WebApi, 'installation'> {
  readonly lookups: WebClient;
  readonly appToken: Secret | null;
  /** False for a reload, which keeps the connections of the start. */
  readonly opensSocket: boolean;
  readonly workspaces: Home['workspaces'];
}

/** Checks both tokens and the scopes of a start, and returns all of their problems at once. */
export async function checkInstallation(tokens: Tokens) {
  const [read, socket] = await Promise.all([
    readInstalledApp(tokens.lookups, tokens.workspaces).catch((error: unknown) =>
      callProblem('SLACK_BOT_TOKEN', error),
    ),
    requestSocket(tokens),
  ]);
  const delivery = 'problem' in socket ? [socket] : [];
  if ('problem' in read) return { ok: false as const, problems: [read, ...delivery] };
  const { appId } = read;
  const problems = [...workspaceProblems(read), ...scopeProblems(read.scopes), ...delivery];
  const foreign = appId && tokens.appToken ? foreignAppToken(tokens.appToken, appId) : null;
  if (foreign) problems.push({ where: 'SLACK_APP_TOKEN', ...foreign, passing: false });
  if (problems.length > 0) return { ok: false as const, problems };
  if (appId === null) throw new Error('Slack did not return the app of this token');
  const socketUrl = 'url' in socket ? socket.url : null;
  return { ok: true as const, app: { ...read, appId }, socketUrl };
}

/** A token for an organization names no workspace: the configuration does, and no other token has a choice. */
export function workspaceProblems(app: InstalledApp): readonly SlackProblem[] {
  const { isOrgWide, home, granted } = app;
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
export type InstalledApp = Awaited<ReturnType<typeof readInstalledApp>>;

/** Reads the app and workspace of the token. Throws where Slack refuses it. */
export async function readInstalledApp(slack: WebClient, workspaces: Home['workspaces']) {
  const self = await slack.auth.test();
  const { team_id, enterprise_id, bot_id, user_id, team = '', user = '' } = self;
  if (!team_id || !bot_id || !user_id)
    throw new Error('Slack did not return the owner of this token');
  const scopes = self.response_metadata?.scopes ?? null;
  const home: Home = { teamId: team_id, enterpriseId: enterprise_id ?? null, workspaces };
  const isOrgWide = self.is_enterprise_install === true;
  const granted: string[] = [];
  const pages = isOrgWide && readPages<AuthTeamsListResponse>(slack, 'auth.teams.list', {});
  if (pages)
    for await (const { teams = [] } of pages) granted.push(...teams.map(({ id = '' }) => id));
  const where = { bot: bot_id, ...(granted[0] && { team_id: granted[0] }) };
  const isUnread = scopes?.includes('users:read') === false;
  const bot = isUnread ? undefined : (await slack.bots.info(where)).bot;
  return {
    home,
    /** Installed for an organization of Enterprise Grid, not for one workspace. */
    isOrgWide,
    /** The workspaces of the organization to which the app is added; none for an installation in one. */
    granted,
    workspace: team,
    ...{ botId: bot_id, botUserId: user_id, botName: bot?.name ?? user },
    /** Null where the token may not read it. */
    appId: bot?.app_id ?? null,
    /** What this token was granted when the app was last installed; null where Slack did not say. */
    scopes,
  };
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

export type AppIdentity = Awaited<ReturnType<InstallationReads['self']>>;
export type ChannelFacts = Awaited<ReturnType<typeof channelsOf>>[number];

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
    /** With how far the clock of this machine is ahead of Slack's; null without a date in Slack's answer. */
    self: async () => ({ ...(await readInstalledApp(slack, workspaces)), aheadMs: clock.aheadMs }),
    /** Those of a card, a table and a chart that this workspace does not accept. */
    refusedBlocks: async () => {
      const refused = Object.entries(SAMPLES).map(async ([kind, part]) => {
        const { blocks } = answerMessage({ title: 'Sample', parts: [part] });
        return slack.blocks.validate({ message: { blocks: [...blocks] } }).then(
          () => [],
          (error: unknown) => {
            if (!/^invalid_(blocks|message)$/.test(refusedBySlack(error) ?? '')) throw error;
            return [kind];
          },
        );
      });
      return (await Promise.all(refused)).flat();
    },
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
    accounts: async (users: readonly UserId[], home: Home): Promise<CheckedUsers> => {
      const listed = await allUsers(slack, home);
      const reads = { lookups: slack, home, listed, accounts: { keep: () => undefined } };
      return checkUsers(users, { ...reads, retryLimited: (read) => read() });
    },
  };
}

const POINTS = [{ label: '1 Nov', value: 1 }];
const SAMPLES: Readonly<Record<string, AnswerPart>> = {
  card: { kind: 'offers', offers: [{ label: 'Approve', line: 'service list' }] },
  table: { kind: 'table', columns: ['Credits'], rows: [['1']] },
  chart: { kind: 'chart', title: 'Costs', unit: 'credits', axis: 'day', points: POINTS },
};

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
) {
  const known = ids.filter((id) => id !== null);
  const isKnown = known.length === ids.length && known.length <= LOOKUPS_MAX;
  const channels = isKnown
    ? (await Promise.all(known.map((id) => channelWithId(slack, id)))).flatMap((one) => one ?? [])
    : await listChannels(slack, home);
  return channels.map((channel) => ({
    id: channel.id ?? '',
    /** The workspace that lists it. */
    team: channel.context_team_id ?? '',
    name: channel.name ?? '',
    formerNames: channel.previous_names ?? [],
    archived: channel.is_archived === true,
    joined: channel.is_member === true,
    /** Shared with another workspace, or with a pending invitation to one; null where Slack does not say. */
    outside: isOutside(channel),
  }));
}
