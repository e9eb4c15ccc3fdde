import { App, type Receiver } from '@slack/bolt';
import type { Logger } from 'pino';
import type { Secret } from '../errors.ts';
import type { Command } from '../intent/define.ts';
import { during, newRequest } from '../observability/log.ts';
import type { Measures } from '../observability/metrics-port.ts';
import { traced } from '../observability/trace.ts';
import type { Policy } from '../policy/policy-types.ts';
import type { Messenger, PersonLookup } from '../workflow/messenger-port.ts';
import type { WorkflowContext } from '../workflow/ports.ts';
import type { Drawing } from './cards/drawing.ts';
import { withAckFallback } from './inbound/ack-fallback.ts';
import { createDeliveries, type Deliveries } from './inbound/deliveries.ts';
import { checkEnvelope, listen } from './inbound/listeners.ts';
import { payloadNames } from './inbound/payload-name.ts';
import { boltLogger } from './outbound/bolt-logger.ts';
import { type Clients, createClients } from './outbound/clients.ts';
import { type Channels, createMessenger } from './outbound/messenger.ts';
import { createRespond, type Post, type Respond } from './outbound/response-url.ts';
import { type Actors, createActors, type Home } from './people/actors.ts';
import { peopleByName } from './people/find-person.ts';
import { findGroups } from './people/groups.ts';
import type { SlackContext } from './slack-context.ts';

export interface SlackOptions {
  readonly botToken: Secret;
  readonly appToken: Secret | null;
  readonly signingSecret: Secret | null;
  readonly apiUrl: string | null;
  readonly commandPrefix: string;
  readonly policy: Policy;
  readonly channels: Channels;
  readonly commands: readonly Command[];
  readonly post: Post;
  readonly log: Logger;
  readonly now: () => Date;
  readonly measures: Pick<Measures, 'lookupFailed'>;
}

/** The connection to one workspace: lookups, messages and incoming payloads. */
export interface Slack {
  readonly actors: Actors;
  readonly messenger: Messenger;
  /** Finds a user by name, mention or id. */
  readonly findPerson: (word: string) => Promise<PersonLookup>;
  /** The receiver of payloads. It outlives a reload of the configuration. */
  readonly deliveries: () => Deliveries;
  readonly listen: (context: WorkflowContext) => Promise<Listening>;
}

export interface Listening {
  /** Handles the payloads of these deliveries from now on. */
  readonly attach: (deliveries: Deliveries) => void;
  /** Resolves when every payload that has arrived is handled. */
  readonly idle: () => Promise<void>;
}

export type Connected =
  | { readonly ok: true; readonly slack: Slack }
  | { readonly ok: false; readonly problems: readonly string[] };

const SLACK_API_URL = 'https://slack.com/api/';

/** Reads the app's identity and the user groups. A missing group stops the start. */
export async function connect(options: SlackOptions): Promise<Connected> {
  const slackApiUrl = options.apiUrl ?? SLACK_API_URL;
  const clients = createClients(options.botToken, slackApiUrl, options.log);
  const self = await readSelf(clients);
  const found = await findGroups(clients.lookups, options.policy);
  if (!found.ok) return found;

  const { policy, log, now, channels, measures } = options;
  const warn = (error: unknown, lookup: string) => {
    log.warn({ err: error, lookup }, 'a lookup in Slack failed');
    measures.lookupFailed();
  };
  const { lookups } = clients;
  const actors = createActors({
    lookups,
    policy,
    groups: found.groups,
    home: self.home,
    now,
    warn,
  });
  const drawing: Drawing = {
    policy,
    prefix: options.commandPrefix,
    commands: new Map(
      options.commands.flatMap((each) => (each.kind === 'change' ? [[each.name, each]] : [])),
    ),
    groupIds: (role) => (found.groups.get(role) ?? []).map(({ id }) => id),
  };
  const respond = createRespond(slackApiUrl, options.post);
  const messenger = createMessenger({
    posts: clients.posts,
    lookups: clients.lookups,
    botId: self.botId,
    respond,
    drawing,
    channels,
    commands: options.commands,
  });
  const parts = { options, clients, self, drawing, respond, actors };
  return {
    ok: true,
    slack: {
      actors,
      messenger,
      findPerson: peopleByName(lookups, now),
      deliveries: () => deliveriesOf(options, slackApiUrl),
      listen: (context) => startListening(context, parts),
    },
  };
}

interface Self {
  readonly home: Home;
  readonly botId: string;
  readonly botUserId: string;
  readonly appId: string;
}

async function readSelf({ lookups }: Clients): Promise<Self> {
  const { team_id, enterprise_id, bot_id, user_id } = await lookups.auth.test();
  if (!team_id || !bot_id || !user_id)
    throw new Error('Slack did not return the owner of this token');
  const { bot } = await lookups.bots.info({ bot: bot_id });
  if (!bot?.app_id) throw new Error('Slack did not return the app of this token');
  const home = { teamId: team_id, enterpriseId: enterprise_id ?? null };
  return { home, botId: bot_id, botUserId: user_id, appId: bot.app_id };
}

interface Parts {
  readonly options: SlackOptions;
  readonly clients: Clients;
  readonly self: Self;
  readonly drawing: Drawing;
  readonly respond: Respond;
  readonly actors: Actors;
}

async function startListening(context: WorkflowContext, parts: Parts): Promise<Listening> {
  const { options, clients, self, drawing, respond, actors } = parts;
  const { botToken, commandPrefix, commands, log } = options;
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
    clients,
    respond,
    home: self.home,
    prefix: commandPrefix,
    log,
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

function deliveriesOf({ appToken, signingSecret, log }: SlackOptions, slackApiUrl: string) {
  return createDeliveries({ appToken, signingSecret, slackApiUrl, log });
}

type Process = App['processEvent'];

/** Logs every line about one payload with the same request id. */
function withRequestId(process: Process, log: Logger): Process {
  return (event) =>
    during({ request: newRequest() }, () => {
      log.debug({ kind: kindOf(event.body) }, 'payload received');
      return process(event);
    });
}

/** Measures how long Slack waits for the acknowledgement of a payload. */
function measuringAck(process: Process, { acknowledged }: Measures): Process {
  return (event) => {
    const began = performance.now();
    const kind = kindOf(event.body);
    const ack: typeof event.ack = async (response) => {
      await event.ack(response);
      acknowledged(kind, performance.now() - began);
    };
    return process({ ...event, ack });
  };
}

// A closed list, because values from a payload must not become metric labels.
const KINDS = ['event_callback', 'block_actions', 'block_suggestion', 'view_submission'];

function kindOf(body: Readonly<Record<string, unknown>>): string {
  if (typeof body.command === 'string') return 'command';
  return KINDS.find((kind) => kind === body.type) ?? 'other';
}

/** Tracks the running listeners, because Bolt does not wait for them when it stops. */
function trackWork() {
  const running = new Set<Promise<void>>();
  return {
    during: async (next: () => Promise<void>) => {
      const work = next();
      running.add(work);
      await work.finally(() => running.delete(work));
    },
    idle: async () => {
      await Promise.allSettled(running);
    },
  };
}
