import { type Logger as BoltLogger, LogLevel } from '@slack/bolt';
import { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { causeCode, type Secret } from '../base/errors.ts';
import type { Exchange, RecordExchange } from '../base/http.ts';
import { retryAfterHeader } from '../base/http-answer.ts';
import { isRecording, type Measures, note, step } from '../base/log.ts';
import type { ConfigProblem } from '../base/problem.ts';
import { ownValue } from '../base/text.ts';
import type { Clock } from '../base/time.ts';
import type { Message } from './blocks.ts';
import { withPlainBlocks } from './tables.ts';

/**
 * Writes Bolt's warnings and errors to the log. Lower levels contain whole payloads with their
 * response URLs and are dropped.
 */
export function boltLogger(log: Logger, now: () => number = Date.now): BoltLogger {
  const silent = () => undefined;
  const warn = rateLimited((said, again) => log.warn({ from: 'bolt', again }, said), now);
  const error = rateLimited((said, again) => log.error({ from: 'bolt', again }, said), now);
  return {
    debug: silent,
    info: silent,
    warn,
    error,
    setLevel: silent,
    getLevel: () => LogLevel.WARN,
    setName: silent,
  };
}

const ONCE_IN_MS = 60_000;
const MOST_KINDS = 50;
/** Who gets the error of a call or of a payload, or refuses one, logs it with more facts. */
const LOGGED_ELSEWHERE =
  /^(http request failed|An unhandled error occurred|Failed to .* the request data: Failed to verify)/;

/**
 * Writes equal messages once a minute, with the number that was suppressed: anyone on the network
 * can cause signature errors, and must not be able to fill the disk with them.
 */
export function rateLimited(write: (said: string, again: number) => void, now: () => number) {
  const kinds = new Map<string, { readonly since: number; suppressed: number }>();
  return (...words: readonly unknown[]) => {
    const said = text(words);
    if (LOGGED_ELSEWHERE.test(said)) return;
    // All further messages count as one kind, because a message may contain a part of the payload.
    const name = kinds.has(said) || kinds.size < MOST_KINDS ? said : '';
    const kind = kinds.get(name);
    if (kind && now() - kind.since < ONCE_IN_MS) {
      kind.suppressed += 1;
      return;
    }
    kinds.set(name, { since: now(), suppressed: 0 });
    write(said, kind?.suppressed ?? 0);
  };
}

function text(words: readonly unknown[]): string {
  return words.map((word) => (word instanceof Error ? word.message : String(word))).join(' ');
}

export type Clients = ReturnType<typeof createClients>;

export const SLACK_API_URL = 'https://slack.com/api/';

/** Where the Web API is and how it is called. */
export interface WebApi {
  readonly slackApiUrl: string;
  readonly log: Logger;
  readonly fetch: typeof globalThis.fetch;
  /** Each call shows whether the token still counts. */
  readonly installation?: Installation;
}

/**
 * Three clients, because a rate limit on one method delays every call of the same client. Each has
 * its own options object, because Bolt modifies the object that it gets.
 * Source: docs/slack.md#web-api.
 */
export function createClients(token: Secret, api: WebApi) {
  return {
    /** Opens and updates modals while a user waits, with a short timeout. */
    views: createClient(token, api, { timeout: 2_500 }),
    /** Posts and updates messages, without retries: a repeated post would appear twice. */
    posts: createClient(token, api, { timeout: 10_000 }),
    /** Reads users, groups and channels. */
    lookups: createClient(token, api, { timeout: 4_000, retries: 1 }),
  };
}

/** A client of the Web API; `timeout` in milliseconds. */
export function createClient(
  token: Secret,
  { slackApiUrl, log, fetch, installation }: WebApi,
  { timeout, retries = 0 }: { readonly timeout: number; readonly retries?: number },
): WebClient {
  const options = {
    slackApiUrl,
    timeout,
    retryConfig: { retries, minTimeout: 200 },
    rejectRateLimitedCalls: true,
    allowAbsoluteUrls: false,
    logger: boltLogger(log),
    fetch,
  };
  const client = new ObservedClient(token.reveal(), options);
  client.installation = installation;
  return client;
}

class ObservedClient extends WebClient {
  installation: Installation | undefined;

  override async apiCall(...call: Parameters<WebClient['apiCall']>) {
    const before = this.installation?.problem() ?? null;
    try {
      const result = await super.apiCall(...call);
      this.installation?.answered(before);
      return result;
    } catch (error) {
      if (TOKEN_ENDS.includes(refusedBySlack(error) ?? '')) this.installation?.lost(error);
      throw error;
    }
  }
}

/** Refusals of every call: the token does not count any more. */
const TOKEN_ENDS = ['account_inactive', 'invalid_auth', 'token_revoked', 'token_expired'];

type Fetch = typeof fetch;

/** The methods by the calls of each that Slack permits in a minute, in one workspace. */
const TIERS: Readonly<Record<number, string>> = {
  1: 'apps.connections.open',
  20: 'auth.teams.list conversations.list usergroups.list usergroups.users.list users.list',
  50: `bots.info chat.update conversations.history conversations.info conversations.open \
conversations.replies`,
  100: `chat.postEphemeral conversations.members files.completeUploadExternal \
files.getUploadURLExternal users.info views.open views.publish views.update`,
};

/** The methods that are not here have limits of another kind. Source: sandbox/README.md#methods */
export const METHOD_LIMITS: ReadonlyMap<string, number> = new Map(
  Object.entries(TIERS).flatMap(([limit, methods]) =>
    methods.split(' ').map((method) => [method, Number(limit)] as const),
  ),
);

async function exchangeOf(
  call: string,
  init: Parameters<Fetch>[1],
  reply: Response,
): Promise<Exchange> {
  const { status } = reply;
  const headers = Object.fromEntries(reply.headers);
  const form = typeof init?.body === 'string' ? new URLSearchParams(init.body) : [];
  const arrived = await reply.json().catch(() => null);
  return { door: 'slack', call, sent: Object.fromEntries(form), status, headers, arrived };
}

/** Counts each request to the Web API by its method, and traces it. */
export function measuredFetch(
  slackApiUrl: string,
  { slackCalled }: Pick<Measures, 'slackCalled'>,
  record?: RecordExchange,
): Fetch {
  return async (input, init) => {
    const method = methodOf(String(input), slackApiUrl);
    try {
      const response = await (isRecording() ? traced(method, input, init) : fetch(input, init));
      // The page of a proxy, or of a network that wants a sign-in, is no answer of Slack.
      const isOwn = method === 'upload' || response.headers.get('content-type')?.includes('json');
      const isAnswer = response.status < 500 && isOwn;
      slackCalled(method, response.status === 429 ? 'limited' : isAnswer ? 'answered' : 'failed');
      if (record) record(await exchangeOf(method, init, response.clone()));
      return response;
    } catch (error) {
      slackCalled(method, 'failed');
      throw error;
    }
  };
}

/**
 * Obeys `Retry-After` for every call of a method, whichever client makes it: until that time further calls
 * are refused here, as Slack would refuse them, and do not reach Slack. Source: docs/slack.md#web-api.
 */
export function obeyRateLimits(
  fetch: Fetch,
  slackApiUrl: string,
  clock: Pick<Clock, 'now'>,
): Fetch {
  const limitedUntil = new Map<string, number>();
  return async (input, init) => {
    const method = methodOf(String(input), slackApiUrl);
    const waitMs = (limitedUntil.get(method) ?? 0) - clock.now();
    if (waitMs > 0) return limited(waitMs);
    const response = await fetch(input, init);
    if (response.status !== 429) return response;
    const named = retryAfterHeader(Object.fromEntries(response.headers)) || WAIT_UNKNOWN_MS;
    limitedUntil.set(method, Math.max(clock.now() + named, limitedUntil.get(method) ?? 0));
    return limited(named);
  };
}

/** As Slack refuses a call: its client accepts a number of seconds only. */
function limited(waitMs: number): Response {
  const headers = { 'retry-after': String(Math.ceil(waitMs / 1_000)) };
  return Response.json({ ok: false, error: 'ratelimited' }, { status: 429, headers });
}

function traced(method: string, ...request: Parameters<Fetch>): Promise<Response> {
  const facts = { 'slack.method': method };
  return step({ name: `slack ${method}`, kind: 'client', facts }, async () => {
    const response = await fetch(...request);
    note({ 'http.response.status_code': response.status, ...(await errorType(response)) });
    return response;
  });
}

/** The API method of a URL; `upload` for the file URLs that Slack returns. */
function methodOf(url: string, slackApiUrl: string): string {
  const method = url.startsWith(slackApiUrl) ? url.slice(slackApiUrl.length) : '';
  return /^[a-z]+(\.[A-Za-z]+)+$/.test(method) ? method : 'upload';
}

/** Slack reports errors with status 200. The log has the details under the same ids. */
async function errorType(response: Response): Promise<{ readonly 'error.type'?: string }> {
  if (!response.ok) return { 'error.type': String(response.status) };
  const body = await response.clone().text();
  return /"ok":\s*false/.test(body) ? { 'error.type': 'refused' } : {};
}

/** Slack refuses a limit of 1,000 and more. 20,000 channels are 21 calls. */
export const PAGE_SIZE = 999;

export interface PageReading {
  /** The highest number of pages. */
  readonly most?: number;
  /** Makes the call of one page, for example again after a rate limit. */
  readonly call?: <Page>(read: () => Promise<Page>) => Promise<Page>;
}

/**
 * The pages of a cursor-paginated method of the Web API, typed by the caller as Slack documents
 * them, with up to 999 items where the options have no limit. Throws after `most` pages, so that a
 * cursor that never ends does not occupy the process. Source: docs/slack.md#web-api.
 */
export async function* readPages<Page>(
  client: WebClient,
  method: string,
  options: Readonly<Record<string, unknown>>,
  { most = 50, call = (read) => read() }: PageReading = {},
): AsyncGenerator<Page> {
  let cursor = '';
  for (let read = 0; read < most; read += 1) {
    const next = cursor === '' ? {} : { cursor };
    const page = await call(() =>
      client.apiCall(method, { limit: PAGE_SIZE, ...options, ...next }),
    );
    // WebClient does not type the pages by method.
    yield withoutGaps(page) as Page;
    cursor = page.response_metadata?.next_cursor ?? '';
    if (cursor === '') return;
  }
  throw new Error(`Slack has more than ${most} pages of ${method}`);
}

/** A list of Slack can have an empty place, which must not fail the other elements. */
function withoutGaps(page: object): object {
  const fields = Object.entries(page).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.filter((each) => each !== null) : value,
  ]);
  return Object.fromEntries(fields);
}

const POST_WITHIN_MS = 5_000;

interface PrivateResponse extends Message {
  /** Replaces the message whose button was pressed. */
  readonly replace: boolean;
  /** The thread in which an answer that replaces nothing appears. */
  readonly thread?: string | null;
}

/** Posts to the response URL of a command or press. The URL is a credential and is never logged. */
export type Respond = (url: string, response: PrivateResponse) => Promise<void>;

/** One request that follows no redirect. */
export type Post = (
  url: string,
  content: unknown,
  withinMs: number,
) => Promise<{ readonly status: number; readonly text: string }>;

/** Posts only to Slack's own origins, so that a payload cannot redirect an answer. */
export function createRespond(slackApiUrl: string, post: Post): Respond {
  const send = (url: string, response: PrivateResponse) =>
    step({ name: 'slack response_url', kind: 'client' }, async () => {
      const { status, text: reason } = await post(url, contentOf(response), POST_WITHIN_MS);
      note({ 'http.response.status_code': status });
      if (isAccepted({ status, text: reason })) return;
      throw new Error(`A private answer was not accepted: ${status} ${reason.slice(0, 200)}`);
    });
  const { origin, host } = new URL(slackApiUrl);
  // GovSlack has a host of its own, for the API and for the URLs of responses.
  const origins = new Set(['https://hooks.slack.com', `https://hooks.${host}`, origin]);
  return async (url, response) => {
    if (!origins.has(new URL(url).origin)) throw new Error('The response URL is not of Slack');
    await withPlainBlocks(response, (shown) => send(url, { ...response, ...shown }));
  };
}

/**
 * Slack reports some refusals with status 200 and `ok: false`, and an acceptance as JSON, `ok` or nothing; any other
 * text is of something in between.
 */
function isAccepted({ status, text }: Awaited<ReturnType<Post>>): boolean {
  return status < 300 && /^\s*(\{(?!.*"ok"\s*:\s*false\b)|(ok)?\s*$)/s.test(text);
}

function contentOf({ text, blocks, replace, thread }: PrivateResponse) {
  return {
    response_type: 'ephemeral',
    replace_original: replace,
    ...(thread && !replace ? { thread_ts: thread } : {}),
    text,
    blocks,
    unfurl_links: false,
    unfurl_media: false,
  };
}

/** Errors after which it is unknown whether Slack executed the request. */
const UNSURE = [
  ...['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'update_failed'],
];

/** Refusals that pass by themselves: of a workspace or channel that moves, and of one with too many messages. */
const PASSING = [
  ...['ratelimited', 'message_limit_exceeded', 'accesslimited', 'team_added_to_org'],
  ...['org_login_required', 'external_channel_migrating'],
];

/** Whether the same call may succeed later without anyone's help: only for known names, because Slack adds others. */
export function isPassing(refused: string | null): boolean {
  return refused === null || PASSING.includes(refused);
}

/** The name of a definite refusal, which had no effect; null for any other error. */
export function refusedBySlack(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null;
  if (error.code === 'slack_webapi_rate_limited_error') return 'ratelimited';
  if (error.code !== 'slack_webapi_platform_error' || !('data' in error)) return null;
  const { data } = error;
  const isNamed = typeof data === 'object' && data !== null && 'error' in data;
  const name = isNamed ? String(data.error) : '';
  if (name === 'rate_limited') return 'ratelimited';
  // A proxy's page arrives as the name of an error.
  return !/^[a-z][a-z0-9_]{1,60}$/.test(name) || UNSURE.includes(name) ? null : name;
}

/** The time after which Slack accepts a rate-limited call again; null where Slack named none. */
export function retryAfterMs(error: unknown): number | null {
  const seconds = error instanceof Error && 'retryAfter' in error ? Number(error.retryAfter) : 0;
  return seconds > 0 ? seconds * 1_000 : null;
}

const RETRY_WITHIN_MS = 90_000;
const ATTEMPTS_MAX = 4;
const WAIT_UNKNOWN_MS = 30_000;

/**
 * Repeats a read that Slack refuses with a rate limit; any other error is thrown at once. `onWait` is called
 * before each wait.
 */
export type RetryLimited = <Value>(
  read: () => Promise<Value>,
  onWait?: (waitMs: number) => void,
) => Promise<Value>;

/**
 * For the reads of one start, or one read: each waits for the time that Slack names, three times. All together wait at
 * most 90 s, or as long as the caller says, because a supervisor limits the time of a start; then the rate limit is thrown.
 * Source: docs/slack.md#large-workspaces.
 */
export function createRetryLimited(
  clock: Pick<Clock, 'now' | 'sleep'>,
  withinMs: number = RETRY_WITHIN_MS,
  attempts: number = ATTEMPTS_MAX,
): RetryLimited {
  const endsAt = clock.now() + withinMs;
  return async (read, onWait) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await read();
      } catch (error) {
        const waitMs = retryAfterMs(error) ?? WAIT_UNKNOWN_MS;
        const isLimited = refusedBySlack(error) === 'ratelimited';
        const isLate = attempt === attempts || clock.now() + waitMs > endsAt;
        if (!isLimited || isLate) throw error;
        onWait?.(waitMs);
        await clock.sleep(waitMs);
      }
    }
  };
}

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

const LATER = 'run this again in a minute';
const REINSTALL = 'at api.slack.com/apps open the app, Install App, Reinstall to Workspace';
const COPY = 'then copy the bot token into SLACK_BOT_TOKEN';

export const REINSTALL_WITH_SCOPES =
  'add the missing scopes under OAuth & Permissions (or paste manifest.json under App Manifest), ' +
  'then choose Install App, Reinstall to Workspace: the token changes only then';

const PAID_PLAN = [
  'this Slack plan has no user groups',
  'list people by their member ids: users: [U…] in each role of signalbox.yaml',
] as const;

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
  plan_upgrade_required: PAID_PLAN,
  paid_teams_only: PAID_PLAN,
};

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

/** Whether the app may still act in the workspace, as its calls and events of Slack show. */
export type Installation = ReturnType<typeof createInstallation>;

export function createInstallation(log: Logger) {
  let problem: string | null = null;
  return {
    /** In words; null while the app is installed. */
    problem: () => problem,
    /** Slack has refused a call for good; a name: calls get this error from now on, as an event says. */
    lost: (reason: unknown) => {
      const refused = typeof reason === 'string' ? reason : refusedBySlack(reason);
      const { says, fix } = refusalOf(refused) ?? tokenProblem(reason);
      if (problem === null) log.error({ fix }, `Signalbox cannot act in Slack: ${says}`);
      problem = `${says}: ${fix}`;
    },
    /** A call succeeded that began with this problem: one that was under way at the end proves nothing. */
    answered: (before: string | null) => {
      if (before !== problem || problem === null) return;
      log.info('Signalbox can act in Slack again');
      problem = null;
    },
  };
}

function refusalOf(name: string | null): TokenProblem | null {
  const [says, fix] = ownValue(REFUSALS, name ?? '') ?? [];
  return says && fix ? { says, fix, passing: false } : null;
}

/** Why Slack rejected a call, in words for the administrator who installs Signalbox. */
export function tokenProblem(error: unknown): TokenProblem {
  const refused = refusedBySlack(error);
  if (refused === 'ratelimited')
    return { says: 'Slack limits the rate of requests', fix: LATER, passing: true };
  if (refused === 'missing_scope') return missingScope(error);
  const known = refusalOf(refused);
  if (known) return known;
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

function missingScope(error: unknown): TokenProblem {
  const data = error instanceof Error && 'data' in error ? error.data : null;
  const needed = typeof data === 'object' && data !== null && 'needed' in data ? data.needed : '';
  const scope = String(needed) || 'a scope';
  const fix = `add ${scope} under OAuth & Permissions, then ${REINSTALL.slice(3)}`;
  return { says: `the token lacks ${scope}`, fix, passing: false };
}

/** An answer that is no refusal, such as a fault of Slack or a proxy's page; or no answer at all. */
function unreachable(error: unknown): TokenProblem {
  if (error instanceof Error && 'data' in error)
    return { says: 'Slack gave no usable answer', fix: LATER, passing: false };
  const code = causeCode(error);
  const says = `Slack was not reached${code === null ? '' : ` (${code})`}`;
  const fix = 'let this machine reach slack.com and wss-primary.slack.com by HTTPS';
  return { says, fix, passing: false };
}
