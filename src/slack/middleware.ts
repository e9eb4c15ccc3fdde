import { setImmediate as turn } from 'node:timers/promises';
import type { AllMiddlewareArgs, AnyMiddlewareArgs, App } from '@slack/bolt';
import { z } from 'zod';
import { causeCode } from '../base/errors.ts';
import type { RecordExchange } from '../base/http.ts';
import { createOutageLog, during, newRequest, traced } from '../base/log.ts';
import { MINUTE_MS } from '../base/time.ts';
import type { Refusal, UserId } from '../domain/change.ts';
import { createDenial } from '../domain/gate.ts';
import { whyForeign } from './accounts.ts';
import type { Actors } from './actors.ts';
import { type Installation, refusedBySlack } from './api.ts';
import type { SlackContext } from './context.ts';
import type { Deliveries } from './deliveries.ts';
import { listen } from './listeners.ts';
import { Pressed, pressedButton } from './payload.ts';
import { refusalMessage } from './refusals.ts';

// What runs around every payload: its trace and request id, the measured acknowledgement, and the check
// that it is for this app and from this workspace. A listener then handles it.

interface Installed {
  readonly appId: string;
  readonly actors: Actors;
  readonly installation: Installation;
  readonly record?: RecordExchange | undefined;
}

/** Attaches the listeners to the app and wraps all that it processes. */
export function startListening(
  app: App,
  bot: SlackContext,
  { appId, actors, installation, record }: Installed,
) {
  const { prefix } = bot;
  const nameOf = (body: Body) => payloadName(body, prefix);
  const process = observed(app.processEvent.bind(app), bot, nameOf, actors.idOf, record);
  app.processEvent = (event) =>
    traced({ name: nameOf(event.body), kind: 'server' }, () => process(event));
  // Bolt then sends no acknowledgement, so that Slack does not show a success.
  app.error(async (error) => {
    throw error;
  });
  // Bolt does not wait for running listeners when it stops.
  const running = new Set<Promise<void>>();
  app.use(async ({ next }) => {
    const work = next();
    running.add(work);
    await work.finally(() => running.delete(work));
  });
  app.use(checkEnvelope(bot, appId));
  listen(app, bot, actors, installation);
  return {
    /** Why the app may not act in the workspace any more, in words; null while it may. */
    problem: installation.problem,
    /** Asks Slack every few minutes whether the token still counts: a quiet bot makes no other call. */
    probe: probing(bot),
    /** Handles the payloads of these deliveries from now on. */
    attach: ({ receiver }: Deliveries) => receiver.init(app),
    /** Resolves when every payload that has arrived is handled. */
    idle: async () => {
      await Promise.allSettled(running);
    },
  };
}

const PROBE_MS = 3 * MINUTE_MS;

function probing({ clients, context, log }: SlackContext): () => Promise<void> {
  let probedAt = context.now().getTime();
  return async () => {
    const now = context.now().getTime();
    if (now - probedAt < PROBE_MS) return;
    probedAt = now;
    await clients.lookups.auth.test().catch((err) => log.debug({ err }, 'the token was not read'));
  };
}

type Process = App['processEvent'];

const HOME_OUTAGE = { began: 'Home could not be drawn', ended: 'Home is drawn again' };

/**
 * Logs every line about one payload with the same request id, its user and its name, and measures how long Slack waits for its
 * acknowledgement. A payload that no listener handled is acknowledged here: Bolt would keep the connection
 * open for three seconds. A failed payload is not acknowledged, because Slack would show a success.
 */
function observed(
  process: Process,
  { context, log }: SlackContext,
  nameOf: (body: Body) => string,
  idOf: Actors['idOf'],
  record?: RecordExchange,
): Process {
  const homes = createOutageLog(log, HOME_OUTAGE);
  return (event) => {
    const about = { user: userOf(event.body), what: nameOf(event.body) };
    const isHome = part(event.body.event).type === 'app_home_opened';
    return during({ request: newRequest(), ...about }, async () => {
      const kind = kindOf(event.body);
      log.debug({ kind }, 'payload received');
      record?.({ door: 'payload', call: kind, sent: null, arrived: event.body });
      if (event.body.type === 'app_rate_limited') log.warn(EVENTS_LIMITED);
      const began = performance.now();
      let isAcknowledged = false;
      const ack: typeof event.ack = async (response) => {
        isAcknowledged = true;
        await event.ack(response);
        context.measures.acknowledged(kind, performance.now() - began);
        // Whatever has arrived meanwhile is acknowledged before the work on this one.
        await turn();
      };
      try {
        await process({ ...event, body: await withOneId(event.body, idOf), ack });
        if (!isAcknowledged) await event.ack();
        if (isHome) homes.ended();
      } catch (err) {
        // Slack opens Home again and again, and nobody asked for anything.
        if (isHome) homes.failed(refusedBySlack(err) ?? causeCode(err) ?? 'other', { err });
        else log.error({ err }, 'a payload could not be handled');
        throw err;
      }
    });
  };
}

function userOf({ user_id, user, event }: Body): string | undefined {
  const id = user_id ?? part(user).id ?? part(event).user;
  return typeof id === 'string' ? id : undefined;
}

/** The same payload, whose person has the one id by which Signalbox knows people. */
async function withOneId(body: Body, idOf: Actors['idOf']): Promise<Body> {
  const known = async (user: unknown): Promise<unknown> => {
    if (typeof user === 'string') return idOf(user as UserId);
    return 'id' in part(user) ? { ...part(user), id: await known(part(user).id) } : user;
  };
  const event = part(body.event);
  return {
    ...body,
    ...('user_id' in body && { user_id: await known(body.user_id) }),
    ...('user' in body && { user: await known(body.user) }),
    ...('user' in event && { event: { ...event, user: await known(event.user) } }),
  };
}

const EVENTS_LIMITED =
  'Slack sends no events for some minutes, because there were more than 30,000 in an hour; commands and clicks arrive';

// A closed list, because values from a payload must not become metric labels.
const MEASURED_KINDS = ['event_callback', 'block_actions', 'block_suggestion', 'view_submission'];

function kindOf({ command, type }: Body): string {
  if (typeof command === 'string') return 'command';
  return MEASURED_KINDS.find((kind) => kind === type) ?? 'other';
}

type Body = Readonly<Record<string, unknown>>;

/** The name of a payload in logs and traces: its kind and id. An id that is not one short word is `other`. */
export function payloadName(body: Body, prefix: string): string {
  const named = (kind: string, id: unknown) =>
    `${kind} ${typeof id === 'string' && /^[a-z][\w.-]{0,39}$/.test(id) ? id : 'other'}`;
  if (typeof body.command === 'string') {
    return named('command', body.command.replace(/^\//, '').slice(prefix.length));
  }
  switch (body.type) {
    case 'block_actions': {
      const { data } = Pressed.safeParse(body);
      const { id } = data ? pressedButton(data) : { id: '' };
      return named('press', id.startsWith('command.') ? 'command' : id);
    }
    case 'view_submission':
      return named('submit', part(body.view).callback_id);
    case 'shortcut':
    case 'message_action':
      return named('shortcut', body.callback_id);
    case 'block_suggestion':
      return 'suggest';
    case 'event_callback':
      return named('event', part(body.event).type);
    default:
      return 'payload other';
  }
}

function part(value: unknown): Body {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

const Id = z.string().nullish();
/** A workspace, or an installation of the app. */
const Workspace = z.looseObject({ team_id: Id, enterprise_id: Id });

const Envelope = Workspace.extend({
  type: z.string().optional(),
  command: z.string().optional(),
  api_app_id: z.string().optional(),
  context_team_id: Id,
  authorizations: z.array(Workspace).nullish(),
  team: z.looseObject({ id: Id, enterprise_id: Id }).nullish(),
  enterprise: z.looseObject({ id: Id }).nullish(),
  user: z.union([z.string(), z.looseObject({ team_id: Id })]).optional(),
  response_url: z.string().optional(),
});

const KINDS = [
  'event_callback',
  'block_actions',
  'block_suggestion',
  'view_submission',
  'view_closed',
  'shortcut',
  'message_action',
];

/** Drops a signed payload that is of an unknown kind, for another app, or from another workspace. */
function checkEnvelope(bot: SlackContext, appId: string) {
  return async (args: AnyMiddlewareArgs & AllMiddlewareArgs): Promise<void> => {
    const { body, next } = args;
    const ack = 'ack' in args ? args.ack : undefined;
    const read = Envelope.safeParse(body);
    const known = read.success && (read.data.command || KINDS.includes(read.data.type ?? ''));
    if (!known || (read.data.api_app_id ?? appId) !== appId) {
      const { type } = read.data ?? {};
      bot.log.warn({ type }, 'dropped a payload of an unknown kind or for another app');
      return acknowledge(ack);
    }
    const why = refusedPlace(read.data, bot);
    if (why) {
      bot.log.warn({ type: read.data.type, why }, 'refused a payload from another workspace');
      await acknowledge(ack);
      const url = read.data.response_url;
      const refusal = refusalMessage(createDenial(why), bot.drawing);
      // The sender named this address. Where it does not answer, nothing of Signalbox failed.
      return url
        ? bot.respond(url, { ...refusal, replace: false }).catch((err: unknown) => {
            bot.log.debug({ err }, 'a refusal was not delivered');
          })
        : undefined;
    }
    await next();
  };
}

async function acknowledge(ack: unknown): Promise<void> {
  // Bolt types ack by kind of payload; without an argument all of them are the same.
  if (typeof ack === 'function') await (ack as () => Promise<void>)();
}

/**
 * Why a payload is refused by the workspaces that it names; null where they are ours, or only its person can tell.
 * An event in a channel that a partner hosts carries the partner's workspace; the installations that it is for
 * are beside it. Every other payload names its workspace, and that of its person: each must be ours. For an
 * installation for a whole organization an interaction names no workspace, and the person can be of several.
 */
function refusedPlace(read: z.infer<typeof Envelope>, { home }: SlackContext): Refusal | null {
  const { context_team_id, team_id, authorizations, team, user } = read;
  const named = [context_team_id, team_id, team?.id];
  const own = home.workspaces ? named : [context_team_id ?? team_id ?? team?.id];
  const refused = (teams: readonly Id[], enterprise?: Id) => {
    const foreign = whyForeign(home, { teams, enterprise });
    return foreign === 'unknown' ? null : foreign;
  };
  if (authorizations?.length) {
    const all = authorizations.map((each) =>
      refused([each.team_id, ...(home.workspaces ? own : [])], each.enterprise_id),
    );
    return all.every((each) => each !== null) ? (all[0] ?? null) : null;
  }
  const enterprise = read.enterprise_id ?? team?.enterprise_id ?? read.enterprise?.id;
  const person = typeof user === 'object' ? user.team_id : undefined;
  return refused(own, enterprise) ?? refused([person]);
}

type Id = z.infer<typeof Id>;
