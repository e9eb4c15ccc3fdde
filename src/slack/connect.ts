import { App, type Receiver } from '@slack/bolt';
import type { Logger } from 'pino';
import type { Freshness } from '../base/cache.ts';
import { causeCode, type Secret } from '../base/errors.ts';
import type { RecordExchange } from '../base/http.ts';
import { createOutageLog, type Measures } from '../base/log.ts';
import { type Clock, MINUTE_MS, systemClock } from '../base/time.ts';
import type { Command } from '../commands/index.ts';
import type { PersonLookup } from '../domain/answer.ts';
import type { Position, UserId } from '../domain/change.ts';
import type { Policy } from '../domain/policy.ts';
import type { Messenger, WorkflowContext } from '../workflow/index.ts';
import { cachedAccounts, type Home, peopleByName, whyForeign } from './accounts.ts';
import { createActors } from './actors.ts';
import {
  boltLogger,
  createClients,
  createInstallation,
  createRespond,
  createRetryLimited,
  measuredFetch,
  obeyRateLimits,
  type Post,
  refusedBySlack,
  SLACK_API_URL,
} from './api.ts';
import { type ChannelIdStore, createChannelFinder } from './channels.ts';
import { createDeliveries, type DeliveryPort } from './deliveries.ts';
import { findGroups, idsOfHandles } from './groups.ts';
import { checkInstallation, type InstalledApp } from './installation.ts';
import { createPermalinks } from './links.ts';
import { type Channels, createMessenger } from './messenger.ts';
import { startListening } from './middleware.ts';
import type { DrawContext } from './naming.ts';
import { createPlaces } from './place.ts';

interface SlackOptions {
  readonly botToken: Secret;
  readonly appToken: Secret | null;
  /** False for a reload, which keeps the connections of the start. */
  readonly opensSocket: boolean;
  readonly signingSecret: Secret | null;
  readonly apiUrl: string | null;
  /** `slack.workspaces` of the configuration. */
  readonly workspaces: Home['workspaces'];
  readonly isProxied: boolean;
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
  readonly record?: RecordExchange | undefined;
  readonly measures: Pick<
    Measures,
    'lookupFailed' | 'slackCalled' | 'foreignConnections' | 'deliveryRefused'
  >;
}

/** The connection to one workspace: lookups, messages and incoming payloads. */
export type Slack = Extract<Awaited<ReturnType<typeof connect>>, { readonly ok: true }>['slack'];

const UNCHECKED =
  'users of signalbox.yaml could not be checked: Slack limits the rate of requests. Run the doctor later';

const LOOKUPS = {
  began: 'lookups of people in Slack fail: what needs them waits',
  ended: 'lookups of people in Slack succeed again',
};

const UNKNOWN_MEMBER =
  'Slack does not know this member of a group, or hides it: it counts as no member';

/** Checks tokens, scopes and user groups. Returns every problem that stops the start. */
export async function connect(options: SlackOptions) {
  const slackApiUrl = options.apiUrl ?? SLACK_API_URL;
  const { clock = systemClock } = options;
  const fetch = measuredFetch(slackApiUrl, options.measures, options.record);
  const obeying = obeyRateLimits(fetch, slackApiUrl, clock);
  const { log } = options;
  const installation = createInstallation(log);
  const api = { slackApiUrl, log, fetch: obeying, installation };
  const clients = createClients(options.botToken, api);
  const checked = await checkInstallation({ ...options, ...clients, slackApiUrl, fetch });
  if (!checked.ok) return checked;
  const { app: self, socketUrl } = checked;
  const { home, botId, botUserId, appId } = self;
  const { policy, now, channels, measures } = options;
  const { lookups, posts } = clients;
  const onUnknown = (user: string) => log.warn({ user }, UNKNOWN_MEMBER);
  const accounts = cachedAccounts({ lookups, home, now, clock, onUnknown });
  const retryLimited = createRetryLimited(clock);
  const reads = { lookups, home, accounts, retryLimited };
  const found = await findGroups(policy, reads);
  if (!found.ok) return found;
  const unchecked = [...found.people].filter(([, account]) => account === null).length;
  if (unchecked > 0) log.warn({ unchecked }, UNCHECKED);
  const outage = createOutageLog(log, LOOKUPS);
  let lookupRefusal: string | null = null;
  let failedAt = 0;
  const warn = (error: unknown, lookup: string) => {
    failedAt = now().getTime();
    lookupRefusal = refusedBySlack(error);
    const kind = lookupRefusal ?? causeCode(error) ?? 'no answer';
    outage.failed(kind, { err: error, lookup });
    measures.lookupFailed();
  };
  // What was read before the failure is kept for a minute, and shows no end of it.
  const onAnswer = ({ fresh }: Freshness) => {
    if (fresh || now().getTime() - failedAt > MINUTE_MS) outage.ended();
  };
  const { groups } = found;
  const asked = { lookups, home, accounts, now, clock };
  const actors = createActors({ ...asked, policy, groups, warn, onAnswer });
  const findPerson = peopleByName(lookups, home, now);
  const permalinks = createPermalinks({ lookups, slackApiUrl, clock, log });
  const drawing: DrawContext = {
    policy,
    prefix: options.commandPrefix,
    commands: new Map(
      options.commands.flatMap((each) => (each.kind === 'change' ? [[each.name, each]] : [])),
    ),
    groupIds: (role) => (groups.get(role) ?? []).map(({ id }) => id),
    linkOf: permalinks.of,
    console: options.console,
    isLost: () => installation.problem() !== null,
    lookupRefusal: () => lookupRefusal,
  };
  const respond = createRespond(slackApiUrl, options.post);
  const { commands, commandPrefix: prefix, configuredChannels: configured } = options;
  const drawn = { commands, drawing, permalinks, respond, log, clock };
  const idsOf = (user: UserId) => accounts.cached(user)?.ids ?? [user];
  const openMessenger = (store: ChannelIdStore, placeKeys: readonly Buffer[]): Messenger => {
    const finder = createChannelFinder({ lookups, home, configured, store, clock, log });
    const places = createPlaces(placeKeys);
    const own = { lookups, posts, botId, channels, now, idsOf, onLost: installation.lost };
    return createMessenger({ ...drawn, ...own, places, finder });
  };
  return {
    ok: true as const,
    slack: {
      /** Whether a workspace is of another organization; what is not known is decided by who the person is. */
      isForeignTeam: (team: string | undefined) =>
        team === undefined ||
        whyForeign(home, { teams: [team], enterprise: undefined }) === 'other-workspace',
      /** The permalink of a message; null where Slack does not return it. */
      linkOf: async (at: Position) => {
        await permalinks.load([at]);
        return permalinks.of(at);
      },
      actors,
      /** The ids behind the handles of the policy: `@db-leads` → `S0123`. */
      groupIds: idsOfHandles(policy, groups),
      /** The keys sign and verify the places of buttons: the first one signs. */
      openMessenger,
      /** Finds a user by name, mention or id. */
      findPerson: async (word: string): Promise<PersonLookup> => {
        const found = await findPerson(word);
        return found.ok ? { ok: true, user: await actors.idOf(found.user) } : found;
      },
      /** The receiver of payloads. It outlives a reload of the configuration. */
      deliveries: (port: DeliveryPort) =>
        createDeliveries({ ...options, ...port, slackApiUrl, socketUrl, clock, fetch }),
      listen: (context: WorkflowContext, placeKeys: readonly Buffer[]) => {
        const places = createPlaces(placeKeys);
        const bot = { ...drawn, places, context, clients, home, botUserId, prefix };
        const app = createApp(options.botToken, self, slackApiUrl, log);
        return startListening(app, bot, { appId, actors, installation, record: options.record });
      },
    },
  };
}

function createApp(
  token: Secret,
  { botId, botUserId }: InstalledApp,
  slackApiUrl: string,
  log: Logger,
): App {
  return new App({
    token: token.reveal(),
    botId,
    botUserId,
    receiver: NO_RECEIVER,
    // The check of the installation has asked Slack for both ids with this token.
    tokenVerificationEnabled: false,
    convoStore: false,
    logger: boltLogger(log),
    clientOptions: { slackApiUrl },
  });
}

// Bolt attaches the receiver in the constructor, before the listeners exist.
const NO_RECEIVER: Receiver = {
  init: () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
};
