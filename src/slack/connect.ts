import { App, type Receiver } from '@slack/bolt';
import type { Logger } from 'pino';
import type { Secret } from '../base/errors.ts';
import type { Measures } from '../base/log.ts';
import { traced } from '../base/log.ts';
import { type Clock, systemClock } from '../base/time.ts';
import type { Command } from '../commands/define.ts';
import type { PersonLookup } from '../domain/answer.ts';
import type { Policy } from '../domain/policy.ts';
import type { Messenger } from '../workflow/messenger-port.ts';
import type { WorkflowContext } from '../workflow/ports.ts';
import type { DrawContext } from './cards/draw-context.ts';
import { withAckFallback } from './inbound/ack-fallback.ts';
import { createDeliveries, type Deliveries } from './inbound/deliveries.ts';
import { checkEnvelope, listen } from './inbound/listeners.ts';
import { payloadNames } from './inbound/payload-name.ts';
import { checkInstallation, type InstalledApp } from './installed-app.ts';
import { createPermalinks, type Permalinks } from './links/permalinks.ts';
import { boltLogger } from './outbound/bolt-logger.ts';
import { type ChannelIdStore, createChannelFinder } from './outbound/channels.ts';
import { type Clients, createClients } from './outbound/clients.ts';
import { measuredFetch } from './outbound/measured-fetch.ts';
import { type Channels, createMessenger } from './outbound/messenger.ts';
import { createRespond, type Post, type Respond } from './outbound/response-url.ts';
import { measuringAck, trackWork, withRequestId } from './payload-process.ts';
import { type Actors, cachedAccounts, createActors } from './people/actors.ts';
import { peopleByName } from './people/find-person.ts';
import { findGroups } from './people/groups.ts';
import { createRetryLimited } from './people/retry-limited.ts';
import type { SlackContext } from './slack-context.ts';
import type { SlackProblem } from './token-errors.ts';

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

interface PayloadListener {
  /** Handles the payloads of these deliveries from now on. */
  readonly attach: (deliveries: Deliveries) => void;
  /** Resolves when every payload that has arrived is handled. */
  readonly idle: () => Promise<void>;
}

type ConnectResult =
  | { readonly ok: true; readonly slack: Slack }
  | { readonly ok: false; readonly problems: readonly SlackProblem[] };

const SLACK_API_URL = 'https://slack.com/api/';
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
  const { policy, log, now, channels, measures, clock = systemClock } = options;
  const { lookups } = clients;
  const accounts = cachedAccounts(lookups, self.home, now);
  const retryLimited = createRetryLimited(clock);
  const reads = { lookups, home: self.home, accounts, retryLimited };
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
  const openMessenger = (store: ChannelIdStore) => {
    const configured = options.configuredChannels;
    const finder = createChannelFinder({ lookups, configured, store, clock, log });
    const { posts } = clients;
    const { commands } = options;
    const { botId } = self;
    const own = { posts, lookups, botId, finder, respond };
    const time = { clock, now };
    return createMessenger({ ...own, ...time, drawing, channels, commands, permalinks, log });
  };
  const parts = { options, clients, self, drawing, permalinks, respond, actors };
  return {
    ok: true,
    slack: {
      actors,
      openMessenger,
      findPerson: peopleByName(lookups, now),
      deliveries: (onRefused) =>
        createDeliveries({ ...options, slackApiUrl, socketUrl, clock, fetch, onRefused }),
      listen: (context) => startListening(context, parts),
    },
  };
}

interface Parts {
  readonly options: SlackOptions;
  readonly clients: Clients;
  readonly self: InstalledApp & { readonly appId: string };
  readonly drawing: DrawContext;
  readonly permalinks: Permalinks;
  readonly respond: Respond;
  readonly actors: Actors;
}

async function startListening(context: WorkflowContext, parts: Parts): Promise<PayloadListener> {
  const { options, clients, self, drawing, permalinks, respond, actors } = parts;
  const { botToken, commandPrefix, commands, log, clock = systemClock } = options;
  const slackApiUrl = options.apiUrl ?? SLACK_API_URL;
  const app = new App({
    token: botToken.reveal(),
    botId: self.botId,
    botUserId: self.botUserId,
    receiver: NO_RECEIVER,
    deferInitialization: true,
    convoStore: false,
    logger: boltLogger(log),
    clientOptions: { slackApiUrl },
  });
  await app.init();
  const process = withRequestId(
    withAckFallback(measuringAck(app.processEvent.bind(app), context.measures)),
    log,
  );
  const nameOf = payloadNames(commands, commandPrefix);
  app.processEvent = (event) =>
    traced({ name: nameOf(event.body), kind: 'server' }, () => process(event));
  app.error(async (error) => {
    log.error({ err: error }, 'a payload could not be handled');
    // Bolt then sends no acknowledgement, so that Slack does not show a success.
    throw error;
  });

  const bot: SlackContext = {
    context,
    commands,
    drawing,
    permalinks,
    clients,
    respond,
    home: self.home,
    botUserId: self.botUserId,
    prefix: commandPrefix,
    log,
    clock,
  };
  const work = trackWork();
  app.use(async ({ next }) => work.during(next));
  app.use(checkEnvelope(bot, self.appId));
  listen(app, bot, actors);
  return { attach: ({ receiver }) => receiver.init(app), idle: work.idle };
}

// Bolt attaches the receiver in the constructor, before the listeners exist.
const NO_RECEIVER: Receiver = {
  init: () => undefined,
  start: async () => undefined,
  stop: async () => undefined,
};
