import { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Secret } from '../base/errors.ts';
import { REQUIRED_SCOPES } from './manifest.ts';
import { boltLogger } from './outbound/bolt-logger.ts';
import type { Home } from './people/account.ts';
import { refusedBySlack } from './slack-error.ts';
import {
  appTokenProblem,
  callProblem,
  foreignAppToken,
  REINSTALL_WITH_SCOPES,
  type SlackProblem,
} from './token-errors.ts';

/** The app and workspace of a bot token. */
export interface InstalledApp {
  readonly home: Home;
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
export async function readInstalledApp(slack: WebClient): Promise<InstalledApp> {
  const self = await slack.auth.test();
  const { team_id, enterprise_id, bot_id, user_id, team = '', user = '' } = self;
  if (!team_id || !bot_id || !user_id)
    throw new Error('Slack did not return the owner of this token');
  const scopes = self.response_metadata?.scopes ?? null;
  const home = { teamId: team_id, enterpriseId: enterprise_id ?? null };
  const known = { home, workspace: team, botId: bot_id, botUserId: user_id, scopes };
  if (scopes?.includes('users:read') === false) return { ...known, botName: user, appId: null };
  const { bot } = await slack.bots.info({ bot: bot_id });
  return { ...known, botName: bot?.name ?? user, appId: bot?.app_id ?? null };
}

interface Tokens {
  readonly lookups: WebClient;
  readonly appToken: Secret | null;
  /** False for a reload, which keeps the connections of the start. */
  readonly opensSocket: boolean;
  readonly slackApiUrl: string;
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
    readInstalledApp(tokens.lookups).catch((error: unknown) =>
      callProblem('SLACK_BOT_TOKEN', error),
    ),
    requestSocket(tokens),
  ]);
  const delivery = 'problem' in socket ? [socket] : [];
  if ('problem' in read) return { ok: false, problems: [read, ...delivery] };
  const { appId } = read;
  const problems = [...scopeProblems(read.scopes), ...delivery];
  const foreign = appId && tokens.appToken ? foreignAppToken(tokens.appToken, appId) : null;
  if (foreign) problems.push({ where: 'SLACK_APP_TOKEN', ...foreign, passing: false });
  if (problems.length > 0) return { ok: false, problems };
  if (appId === null) throw new Error('Slack did not return the app of this token');
  return { ok: true, app: { ...read, appId }, socketUrl: 'url' in socket ? socket.url : null };
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
  const slack = new WebClient(appToken.reveal(), {
    slackApiUrl,
    timeout: 4_000,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    logger: boltLogger(log),
    fetch,
  });
  try {
    const { url = null } = await slack.apps.connections.open();
    return { url };
  } catch (error) {
    // Slack knows the token, and the first connection waits for the limit.
    if (refusedBySlack(error) === 'ratelimited') return { url: null };
    return { ...callProblem('SLACK_APP_TOKEN', error), hint: appTokenProblem(error).fix };
  }
}
