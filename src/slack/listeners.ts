import type {
  AllMiddlewareArgs,
  AnyMiddlewareArgs,
  App,
  SlackOptionsMiddlewareArgs,
} from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import { during, type Measures, newRequest } from '../base/log.ts';
import { type Command, nounOf } from '../commands/index.ts';
import { VERBS } from '../domain/change.ts';
import { INCIDENT_VERBS } from '../domain/incidents.ts';
import { ACCEPT_GAP } from '../workflow/old/clicks.ts';
import { showHome } from '../workflow/old/home-queries.ts';
import type { Actors } from './actors.ts';
import { sentenceMessage } from './answer.ts';
import { replyPrivately, sendAnswer } from './answer-text.ts';
import { type Message, OVERFLOW } from './blocks.ts';
import type { SlackContext } from './context.ts';
import { callbackIdOf, commandByCallbackId } from './form.ts';
import { optionsFor } from './form-lists.ts';
import { openForm, openPalette, PALETTE } from './open-form.ts';
import {
  ButtonClick,
  FormSubmission,
  Searched,
  ShortcutUsed,
  SlashCommand,
  UserOf,
} from './payload.ts';
import { postEphemeral } from './post.ts';
import { press } from './press.ts';
import { submit } from './submit.ts';
import {
  answerDirectMessage,
  answerMention,
  answerTyped,
  firstDeliveries,
  nounToRead,
  TEXT_MAX,
} from './typed.ts';

type Payload = AnyMiddlewareArgs & AllMiddlewareArgs;
type EventPayload = Extract<Payload, { readonly event: unknown }>;

/**
 * Routes each payload by its kind. With a listener of Bolt for each kind, Bolt would call all of them for
 * each payload. A payload that is not handled here, for example of a closed form, is acknowledged after it.
 */
export function listen(app: App, bot: SlackContext, actors: Actors): void {
  const handleEvent = eventHandler(bot, actors);
  app.use(async (payload) => {
    if ('command' in payload) return answerCommand(bot, payload);
    if ('event' in payload) return handleEvent(payload);
    const { body } = payload;
    if ('action' in payload && has('action_id', payload.action)) {
      return press(bot, ButtonClick.parse(body), payload.ack);
    }
    if (body.type === 'view_submission' && has('callback_id', body.view)) {
      // Bolt types an acknowledgement that closes the view apart from one that shows errors in it.
      return submit(bot, FormSubmission.parse(body), payload.ack as Parameters<typeof submit>[2]);
    }
    if ('options' in payload && has('action_id', payload.options)) return suggest(payload, bot);
    if ('shortcut' in payload && has('callback_id', body)) return openShortcut(bot, payload);
  });
}

function has(id: string, value: unknown): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, id) !== undefined;
}

async function suggest({ payload, ack }: SlackOptionsMiddlewareArgs, bot: SlackContext) {
  // Bolt types the options of older kinds, which the check of the envelope drops.
  const acknowledge = ack as SlackOptionsMiddlewareArgs<'block_suggestion'>['ack'];
  await acknowledge({ options: await optionsFor(bot, Searched.parse(payload)) });
}

function eventHandler(bot: SlackContext, actors: Actors) {
  const isFirst = firstDeliveries();
  return async ({ event, body }: EventPayload): Promise<void> => {
    switch (event.type) {
      case 'app_home_opened':
        if (event.tab === 'home') await showHome(bot.context, UserOf.parse(event.user));
        return;
      case 'message':
        if (isFirst(body.event_id)) await answerDirectMessage(bot, body);
        return;
      case 'app_mention':
        if (isFirst(body.event_id)) await answerMention(bot, body);
        return;
      case 'subteam_updated':
        return actors.forgetGroup(event.subteam.id);
      case 'subteam_members_changed':
        return actors.forgetGroup(event.subteam_id);
      case 'user_change':
        return actors.forgetUser(event.user.id);
    }
  };
}

async function answerCommand(
  bot: SlackContext,
  { payload, ack }: Extract<Payload, { readonly command: unknown }>,
): Promise<void> {
  const command = SlashCommand.parse(payload);
  await ack();
  const noun = command.command.replace(/^\//, '').slice(bot.prefix.length);
  const typed = {
    noun,
    text: command.text,
    by: command.user_id,
    replyTarget: { channel: command.channel_id ?? null, thread: null },
    trigger: command.trigger_id,
  };
  const interaction = { url: command.response_url, user: typed.by, ...typed };
  const send = (answer: Message) => replyPrivately(bot, interaction, answer);
  const isTooLong = typed.text.length > TEXT_MAX;
  const reads = () => (isTooLong ? null : nounToRead(bot, typed));
  await sendAnswer(bot, { ...typed, reads, send }, async () =>
    isTooLong ? tooLong(typed.text) : answerTyped(bot, typed),
  );
}

function tooLong(text: string): Message {
  const sizes = `${text.length.toLocaleString('en')} of at most ${TEXT_MAX.toLocaleString('en')}`;
  return sentenceMessage([`The command is too long: ${sizes} characters. Shorten it.`]);
}

async function openShortcut(
  bot: SlackContext,
  { body, ack }: Extract<Payload, { readonly shortcut: unknown }>,
): Promise<void> {
  await ack();
  const { user, callback_id, trigger_id: trigger, channel, message } = ShortcutUsed.parse(body);
  // Slack shows an ephemeral message in a thread only if the thread has a reply already.
  const replyTarget = { channel: channel?.id ?? null, thread: message?.thread_ts ?? null };
  const command = commandByCallbackId(bot.commands, callback_id);
  const open = async () => {
    const place = { by: user.id, trigger, replyTarget };
    if (callback_id === PALETTE) await openPalette(bot, place);
    return command ? openForm(bot, place, command, {}) : null;
  };
  const send = (answer: Message) => postEphemeral(bot.clients.posts, user.id, replyTarget, answer);
  await sendAnswer(bot, { by: user.id, reads: () => null, replyTarget, send }, open);
}

const Envelope = z.looseObject({
  type: z.string().optional(),
  command: z.string().optional(),
  api_app_id: z.string().optional(),
  team_id: z.string().optional(),
  team: z.object({ id: z.string() }).nullish(),
  user: z.union([z.string(), z.looseObject({ team_id: z.string().optional() })]).optional(),
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
export function checkEnvelope(bot: SlackContext, appId: string) {
  return async (args: Payload): Promise<void> => {
    const { body, next } = args;
    const ack = 'ack' in args ? args.ack : undefined;
    const read = Envelope.safeParse(body);
    const known = read.success && (read.data.command || KINDS.includes(read.data.type ?? ''));
    if (!known || (read.data.api_app_id ?? appId) !== appId) {
      bot.log.warn(
        { type: read.data?.type },
        'dropped a payload of an unknown kind or for another app',
      );
      return acknowledge(ack);
    }
    if (isForeign(read.data, bot)) {
      bot.log.warn({ type: read.data.type }, 'refused a payload from another workspace');
      await acknowledge(ack);
      return refuse(bot, read.data.response_url);
    }
    await next();
  };
}

async function acknowledge(ack: unknown): Promise<void> {
  // Bolt types ack by kind of payload; without an argument all of them are the same.
  if (typeof ack === 'function') await (ack as () => Promise<void>)();
}

function isForeign(
  { team_id, team, user }: z.infer<typeof Envelope>,
  { home }: SlackContext,
): boolean {
  const person = typeof user === 'object' ? user.team_id : undefined;
  const teams = [team_id, team?.id, person].filter((id) => id !== undefined);
  return teams.some((id) => id !== home.teamId && id !== home.enterpriseId);
}

async function refuse(bot: SlackContext, url: string | undefined): Promise<void> {
  const sentence = 'Only members of this workspace can use Signalbox.';
  if (url) await bot.respond(url, { ...sentenceMessage([sentence]), replace: false });
}

type Body = Readonly<Record<string, unknown>>;

const CHANGE = [...VERBS, 'edit', 'undo', 'take-back', 'request-again', 'reveal', 'details'];
const INCIDENT = [...INCIDENT_VERBS, 'details'];
const BUTTONS = [
  ...CHANGE.map((verb) => `change.${verb}`),
  ...INCIDENT.map((verb) => `incident.${verb}`),
  ACCEPT_GAP,
];
const EVENTS = [
  'app_home_opened',
  'app_mention',
  'message',
  'subteam_updated',
  'subteam_members_changed',
  'user_change',
];

/** The name of a payload in traces. Unknown values are `other`, because users can choose them. */
export function payloadNames(commands: readonly Command[], prefix: string) {
  const nouns = new Set(['signalbox', ...commands.map(nounOf)]);
  const forms = [PALETTE, ...commands.map(callbackIdOf), ...BUTTONS];
  const among = (known: readonly string[], word: unknown) =>
    known.find((each) => each === word) ?? 'other';

  return (body: Body): string => {
    if (typeof body.command === 'string') {
      const noun = body.command.replace(/^\//, '').slice(prefix.length);
      return `command ${nouns.has(noun) ? noun : 'other'}`;
    }
    switch (body.type) {
      case 'block_actions':
        return `press ${buttonOf(body)}`;
      case 'view_submission':
        return `submit ${among(forms, part(body.view).callback_id)}`;
      case 'shortcut':
      case 'message_action':
        return `shortcut ${among(forms, body.callback_id)}`;
      case 'block_suggestion':
        return 'suggest';
      case 'event_callback':
        return `event ${among(EVENTS, part(body.event).type)}`;
      default:
        return 'payload other';
    }
  };
}

function buttonOf({ actions }: Body): string {
  const action = Array.isArray(actions) ? part(actions[0]) : {};
  const id = action.action_id === OVERFLOW ? chosenButton(action) : action.action_id;
  if (typeof id === 'string' && id.startsWith('command.')) return 'command';
  return BUTTONS.find((each) => each === id) ?? 'other';
}

/** The id of the button that an option of an overflow menu stands for. */
function chosenButton({ selected_option }: Body): unknown {
  const { value } = part(selected_option);
  return typeof value === 'string' ? value.split(' ')[0] : undefined;
}

function part(value: unknown): Body {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

type Process = App['processEvent'];

/** Logs every line about one payload with the same request id. */
export function withRequestId(process: Process, log: Logger): Process {
  return (event) =>
    during({ request: newRequest() }, () => {
      log.debug({ kind: kindOf(event.body) }, 'payload received');
      return process(event);
    });
}

/** Measures how long Slack waits for the acknowledgement of a payload. */
export function measuringAck(process: Process, { acknowledged }: Measures): Process {
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
const MEASURED_KINDS = ['event_callback', 'block_actions', 'block_suggestion', 'view_submission'];

function kindOf({ command, type }: Body): string {
  if (typeof command === 'string') return 'command';
  return MEASURED_KINDS.find((kind) => kind === type) ?? 'other';
}

/** Tracks the running listeners, because Bolt does not wait for them when it stops. */
export function trackWork() {
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
