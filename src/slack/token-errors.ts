import { causeCode, type Secret } from '../base/errors.ts';
import type { ConfigProblem } from '../base/problem.ts';
import { refusedBySlack } from './slack-error.ts';

interface TokenProblem {
  readonly says: string;
  readonly fix: string;
  /** Temporary: a later attempt may succeed. */
  readonly passing: boolean;
}

/** A problem that stops a start, with the doctor's words and fix. */
export interface SlackProblem extends ConfigProblem {
  readonly hint: string;
  /** A later start may succeed without a fix. */
  readonly passing: boolean;
}

const REINSTALL = 'at api.slack.com/apps open the app, Install App, Reinstall to Workspace';
const COPY = 'then copy the bot token into SLACK_BOT_TOKEN';

export const REINSTALL_WITH_SCOPES =
  'add the missing scopes under OAuth & Permissions (or paste manifest.json under App Manifest), ' +
  'then choose Install App, Reinstall to Workspace: the token changes only then';

/** The meaning of Slack's error names for a token, and the fix for each. */
const REFUSALS: Readonly<Record<string, readonly [says: string, fix: string]>> = {
  invalid_auth: [
    'Slack does not know this token, or not from this address (invalid_auth)',
    'copy it again from OAuth & Permissions; if it is right, check the allowed IP addresses there',
  ],
  not_authed: ['no token was sent (not_authed)', `${COPY.slice(5)}, from OAuth & Permissions`],
  token_expired: [
    'the token has expired: token rotation is on for this app (token_expired)',
    'create the app again from manifest.json, without token rotation; it cannot be switched off',
  ],
  token_revoked: [
    'the token was revoked, or the app removed (token_revoked)',
    `${REINSTALL}, ${COPY}`,
  ],
  account_inactive: [
    'the app was uninstalled, or its bot user deactivated (account_inactive)',
    `have an administrator of the workspace allow it again, ${REINSTALL}, ${COPY}`,
  ],
  not_allowed_token_type: [
    'this is a token of another kind (not_allowed_token_type)',
    'SLACK_BOT_TOKEN begins with xoxb-, SLACK_APP_TOKEN with xapp-',
  ],
  socket_mode_not_enabled: [
    'Socket Mode is off for this app',
    'switch it on under Socket Mode at api.slack.com/apps, or unset SLACK_APP_TOKEN for HTTP',
  ],
  plan_upgrade_required: paidPlan(),
  paid_teams_only: paidPlan(),
};

function paidPlan(): readonly [string, string] {
  return [
    'this Slack plan has no user groups',
    'list people by their member ids: users: [U…] in each role of signalbox.yaml',
  ];
}

const APP_TOKEN =
  'under Basic Information, App-Level Tokens, create a token with connections:write and set SLACK_APP_TOKEN';

/** Why Slack refused a Socket Mode connection: `says` and `fix` are about SLACK_APP_TOKEN. */
export function appTokenProblem(error: unknown): TokenProblem {
  const problem = tokenProblem(error);
  const refused = refusedBySlack(error) ?? '';
  const isToken = ['missing_scope', 'invalid_auth', 'token_revoked', 'not_authed'].includes(
    refused,
  );
  return isToken ? { ...problem, fix: APP_TOKEN } : problem;
}

/** A refusal that stays until a person changes the app or its token. */
export function isLastingRefusal(error: unknown): boolean {
  const refused = refusedBySlack(error) ?? '';
  return refused === 'missing_scope' || Object.hasOwn(REFUSALS, refused);
}

/** Why Slack rejected a call, in words for the administrator who installs Signalbox. */
export function tokenProblem(error: unknown): TokenProblem {
  const refused = refusedBySlack(error);
  if (refused === 'ratelimited') return tooOften();
  if (refused === 'missing_scope') return missingScope(error);
  const known = refused === null ? undefined : REFUSALS[refused];
  if (known) return { says: known[0], fix: known[1], passing: false };
  if (refused !== null) {
    const fix = "look the word up at docs.slack.dev, under the method's errors";
    return { says: `Slack refuses: ${refused}`, fix, passing: false };
  }
  return unreachable(error);
}

/** A failed call of a start. An error without a definite answer of Slack counts as passing. */
export function callProblem(where: string, error: unknown): SlackProblem {
  const { says, fix } = tokenProblem(error);
  const refused = refusedBySlack(error);
  const passing = refused === null || refused === 'ratelimited';
  return { where, problem: says, hint: fix, passing };
}

/** The problem of an app-level token that belongs to another app than the bot token, or null. */
export function foreignAppToken(appToken: Secret, appId: string) {
  const [, , tokensApp] = appToken.reveal().split('-');
  if (!tokensApp?.startsWith('A') || tokensApp === appId) return null;
  const problem = `SLACK_APP_TOKEN belongs to the app ${tokensApp}, SLACK_BOT_TOKEN to ${appId}`;
  return { problem, hint: 'copy both tokens from one app, at api.slack.com/apps' };
}

function tooOften(): TokenProblem {
  const fix = 'run this again in a minute';
  return { says: 'Slack limits the rate of requests', fix, passing: true };
}

function missingScope(error: unknown): TokenProblem {
  const data = error instanceof Error && 'data' in error ? error.data : null;
  const needed = typeof data === 'object' && data !== null && 'needed' in data ? data.needed : '';
  const scope = String(needed) || 'a scope';
  const fix = `add ${scope} under OAuth & Permissions, then ${REINSTALL.slice(3)}`;
  return { says: `the token lacks ${scope}`, fix, passing: false };
}

function unreachable(error: unknown): TokenProblem {
  const code = causeCode(error);
  const says = `Slack was not reached${code === null ? '' : ` (${code})`}`;
  const fix = 'let this machine reach slack.com and wss-primary.slack.com by HTTPS';
  return { says, fix, passing: false };
}
