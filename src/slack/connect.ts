import { App, type Receiver } from '@slack/bolt';
import { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Secret } from '../base/errors.ts';
import type { Measures } from '../base/log.ts';
import { type Clock, systemClock } from '../base/time.ts';
import type { Command } from '../commands/index.ts';
import type { PersonLookup } from '../domain/answer.ts';
import type { Policy } from '../domain/policy.ts';
import type { Messenger } from '../workflow/old/messenger-port.ts';
import type { WorkflowContext } from '../workflow/old/ports.ts';
import { type Home, peopleByName } from './accounts.ts';
import { type Actors, cachedAccounts, createActors } from './actors.ts';
import {
  appTokenProblem,
  boltLogger,
  callProblem,
  createClients,
  createRespond,
  createRetryLimited,
  foreignAppToken,
  measuredFetch,
  type Post,
  REINSTALL_WITH_SCOPES,
  refusedBySlack,
  SLACK_API_URL,
  type SlackProblem,
} from './api.ts';
import { type ChannelIdStore, createChannelFinder } from './channels.ts';
import { createDeliveries, type Deliveries } from './deliveries.ts';
import { findGroups } from './groups.ts';
import { createPermalinks } from './links.ts';
import { REQUIRED_SCOPES } from './manifest.ts';
import { type Channels, createMessenger } from './messenger.ts';
import { type PayloadListener, startListening } from './middleware.ts';
import type { DrawContext } from './naming.ts';

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
async function checkInstallation(tokens: Tokens): Promise<InstallationCheck> {
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

interface SlackOptions {
  readonly botToken: Secret;
  readonly appToken: Secret | null;
  /** False for a reload, which keeps the connections of the start. */
  readonly opensSocket: boolean;
  readonly signingSecret: Secret | null;
  readonly apiUrl: string | null;
  readonly commandPrefix: string;
  /** `cloud.console` of the configuration. */
  readonly console: string | null;
  readonly policy: Policy;
  readonly channels: Channels;
  /** All channels of the configuration, as names or ids. */
  readonly configuredChannels: readonly string[];
  readonly commands: readonly Command[];
  readonly post: Post;
  readonly log: Logger;
  readonly now: () => Date;
  readonly clock?: Clock | undefined;
  readonly measures: Pick<Measures, 'lookupFailed' | 'slackCalled'>;
}

/** The connection to one workspace: lookups, messages and incoming payloads. */
export interface Slack {
  readonly actors: Actors;
  readonly openMessenger: (channelIds: ChannelIdStore) => Messenger;
  /** Finds a user by name, mention or id. */
  readonly findPerson: (word: string) => Promise<PersonLookup>;
  /** The receiver of payloads. It outlives a reload of the configuration. */
  readonly deliveries: (onRefused: (error: unknown) => void) => Deliveries;
  readonly listen: (context: WorkflowContext) => Promise<PayloadListener>;
}

type ConnectResult =
  | { readonly ok: true; readonly slack: Slack }
  | { readonly ok: false; readonly problems: readonly SlackProblem[] };

const UNCHECKED =
  'users of signalbox.yaml could not be checked: Slack limits the rate of requests. Run the doctor later';

/** Checks tokens, scopes and user groups. Returns every problem that stops the start. */
export async function connect(options: SlackOptions): Promise<ConnectResult> {
  const slackApiUrl = options.apiUrl ?? SLACK_API_URL;
  const fetch = measuredFetch(slackApiUrl, options.measures);
  const clients = createClients(options.botToken, { slackApiUrl, log: options.log, fetch });
  const checked = await checkInstallation({ ...options, ...clients, slackApiUrl, fetch });
  if (!checked.ok) return checked;
  const { app: self, socketUrl } = checked;
  const { home, botId, botUserId, appId } = self;
  const { policy, log, now, channels, measures, clock = systemClock } = options;
  const { lookups } = clients;
  const accounts = cachedAccounts(lookups, home, now);
  const retryLimited = createRetryLimited(clock);
  const reads = { lookups, home, accounts, retryLimited };
  const found = await findGroups(policy, self.workspace, reads);
  if (!found.ok) return found;
  const unchecked = [...found.people].filter(([, checked]) => checked === 'unchecked').length;
  if (unchecked > 0) log.warn({ unchecked }, UNCHECKED);
  const warn = (error: unknown, lookup: string) => {
    log.warn({ err: error, lookup }, 'a lookup in Slack failed');
    measures.lookupFailed();
  };
  const actors = createActors({
    lookups,
    policy,
    groups: found.groups,
    accounts,
    retryLimited,
    now,
    clock,
    warn,
  });
  const permalinks = createPermalinks({ lookups, slackApiUrl, clock, log });
  const drawing: DrawContext = {
    policy,
    prefix: options.commandPrefix,
    commands: new Map(
      options.commands.flatMap((each) => (each.kind === 'change' ? [[each.name, each]] : [])),
    ),
    groupIds: (role) => (found.groups.get(role) ?? []).map(({ id }) => id),
    linkOf: permalinks.of,
    console: options.console,
  };
  const respond = createRespond(slackApiUrl, options.post);
  const { commands, commandPrefix: prefix, configuredChannels: configured } = options;
  const drawn = { commands, drawing, permalinks, respond, log, clock };
  const openMessenger = (store: ChannelIdStore) => {
    const finder = createChannelFinder({ lookups, configured, store, clock, log });
    return createMessenger({
      ...drawn,
      posts: clients.posts,
      lookups,
      botId,
      finder,
      channels,
      now,
    });
  };
  return {
    ok: true,
    slack: {
      actors,
      openMessenger,
      findPerson: peopleByName(lookups, now),
      deliveries: (onRefused) =>
        createDeliveries({ ...options, slackApiUrl, socketUrl, clock, fetch, onRefused }),
      listen: async (context) => {
        const bot = { ...drawn, context, clients, home, botUserId, prefix };
        const app = await createApp(options.botToken, self, slackApiUrl, log);
        return startListening(app, bot, { appId, actors });
      },
    },
  };
}

async function createApp(
  token: Secret,
  { botId, botUserId }: InstalledApp,
  slackApiUrl: string,
  log: Logger,
): Promise<App> {
  const app = new App({
    token: token.reveal(),
    botId,
    botUserId,
    receiver: NO_RECEIVER,
    deferInitialization: true,
    convoStore: false,
    logger: boltLogger(log),
    clientOptions: { slackApiUrl },
  });
  await app.init();
  return app;
}

// Bolt attaches the receiver in the constructor, before the listeners exist.
const NO_RECEIVER: Receiver = {
  init: () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
};
