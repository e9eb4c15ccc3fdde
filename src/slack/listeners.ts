import type {
  AllMiddlewareArgs,
  AnyMiddlewareArgs,
  App,
  SlackOptionsMiddlewareArgs,
} from '@slack/bolt';
import { z } from 'zod';
import { Cache } from '../base/cache.ts';
import { grouped } from '../base/text.ts';
import { peopleChanged, showHome } from '../workflow/index.ts';
import type { Actors } from './actors.ts';
import { sentenceMessage } from './answer.ts';
import type { Installation } from './api.ts';
import type { Message } from './blocks.ts';
import type { CommandLine, SlackContext } from './context.ts';
import { commandByCallbackId } from './form.ts';
import { optionsFor } from './form-lists.ts';
import { formlessTrigger, openForm, openPalette, PALETTE } from './open-form.ts';
import {
  ButtonPress,
  ChannelOf,
  FormSubmission,
  Searched,
  ShortcutUsed,
  SlashCommand,
  UserOf,
} from './payload.ts';
import { postMessage } from './post.ts';
import { press } from './press.ts';
import { sendAnswer } from './private-answers.ts';
import { submit } from './submit.ts';
import { answerTyped } from './typed.ts';

type Payload = AnyMiddlewareArgs & AllMiddlewareArgs;
type EventPayload = Extract<Payload, { readonly event: unknown }>;

/**
 * Routes each payload by its kind. With a listener of Bolt for each kind, Bolt would call all of them for
 * each payload. A payload that is not handled here, for example of a closed form, is acknowledged after it.
 */
export function listen(
  app: App,
  bot: SlackContext,
  actors: Actors,
  installation: Installation,
): void {
  const handleEvent = eventHandler(bot, actors, installation);
  app.use(async (payload) => {
    if ('command' in payload) return answerCommand(bot, payload);
    if ('event' in payload) return handleEvent(payload);
    const { body } = payload;
    if ('action' in payload && has('action_id', payload.action)) {
      return press(bot, ButtonPress.parse(body), payload.ack);
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

function eventHandler(bot: SlackContext, actors: Actors, { lost }: Installation) {
  const isFirst = firstDeliveries();
  return async ({ event, body }: EventPayload): Promise<void> => {
    switch (event.type) {
      case 'app_home_opened':
        if (event.tab === 'home') await showHome(bot.context, UserOf.parse(event.user));
        return;
      case 'message':
        if (isFirst(body.event_id)) await answerDirectMessage(bot, body);
        return;
      case 'app_mention': {
        const { data } = Written.safeParse(body);
        if (data && isFirst(data.event_id)) await answerWritten(bot, data);
        return;
      }
      case 'subteam_updated':
        actors.groupChanged(event.subteam.id);
        return peopleChanged(bot.context, null);
      case 'subteam_members_changed':
        actors.groupChanged(event.subteam_id);
        return peopleChanged(bot.context, null);
      case 'app_uninstalled':
        return lost('account_inactive');
      case 'tokens_revoked':
        if (event.tokens?.bot?.includes(bot.botUserId)) lost('token_revoked');
        return;
      case 'user_change':
        actors.forgetUser(event.user.id);
        return peopleChanged(bot.context, event.user.id);
    }
  };
}

/** The longest command that is read, in characters. */
const TEXT_MAX = 5_000;

async function answerCommand(
  bot: SlackContext,
  { payload, ack }: Extract<Payload, { readonly command: unknown }>,
): Promise<void> {
  const command = SlashCommand.parse(payload);
  await ack();
  const noun = command.command.replace(/^\//, '').slice(bot.prefix.length);
  const { text, user_id: by, trigger_id: trigger } = command;
  const replyTarget = { channel: command.channel_id ?? null, thread: null };
  await answerLimited(bot, { noun, text, by, replyTarget, trigger }, command.response_url);
}

/** Answers a line that is not too long. */
function answerLimited(
  bot: SlackContext,
  typed: CommandLine,
  url: string | null,
  send?: (answer: Message) => Promise<void>,
): Promise<boolean> {
  const asked = { ...typed.replyTarget, user: typed.by, url };
  return sendAnswer(bot, { asked, ...(send && { send }) }, async () => {
    const { length } = typed.text;
    if (length <= TEXT_MAX) return answerTyped(bot, typed);
    const tooLong = `The command is too long: ${grouped(length)} of at most ${grouped(TEXT_MAX)} characters. Shorten it.`;
    return sentenceMessage([tooLong]);
  });
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
  const asked = { ...replyTarget, user: user.id, url: null };
  await sendAnswer(bot, { asked }, open);
}

/** A message of a user; edited, deleted and own messages have a subtype or a bot id. */
const Written = z.object({
  event_id: z.string().max(60),
  event: z.object({
    user: UserOf,
    channel: ChannelOf,
    text: z.string(),
    thread_ts: z.string().max(30).optional(),
    subtype: z.undefined().optional(),
    bot_id: z.undefined().optional(),
  }),
});

/** Answers a message in the direct messages of the app like the slash command: noun and verb in any order. */
export async function answerDirectMessage(bot: SlackContext, body: unknown): Promise<void> {
  const { data } = Written.safeParse(body);
  // A subscription to other channels would make the app answer everyone there.
  if (!data?.event.channel.startsWith('D')) return;
  const { channel, thread_ts } = data.event;
  await answerWritten(bot, data, async (answer) => {
    await postMessage(bot.clients.posts, channel, answer, thread_ts);
  });
}

/** Answers a message like the slash command; without `send` only its author sees the answer. */
async function answerWritten(
  bot: SlackContext,
  { event_id, event }: z.infer<typeof Written>,
  send?: (answer: Message) => Promise<void>,
): Promise<void> {
  const typed: CommandLine = {
    noun: '',
    text: wordsOf(event.text, bot),
    by: event.user,
    replyTarget: { channel: event.channel, thread: event.thread_ts ?? null },
    trigger: formlessTrigger(event_id),
  };
  await answerLimited(bot, typed, null, send);
}

/**
 * The typed words, without a mention of the app before them and without code or bold marks around
 * them. Slack sends names as ids and addresses as links.
 */
function wordsOf(text: string, { prefix, botUserId }: SlackContext): string {
  const typed = text
    .replace(/<#[A-Z0-9]+\|([^>]+)>/g, '#$1')
    .replace(/<(?:https?:|mailto:)[^>|]*\|([^>]+)>/g, '$1')
    .replace(/<(https?:[^>|]*)>/g, '$1')
    .trim()
    .replace(/<@([A-Z0-9]+)>[\s,:]*/g, (mention, id) => (id === botUserId ? '' : mention))
    .replace(/^([`*]+)([^`*]+)\1$/, '$2')
    .trim()
    .replace(/^\//, '');
  const isPrefixed = prefix !== '' && typed.toLowerCase().startsWith(prefix);
  return isPrefixed ? typed.slice(prefix.length) : typed;
}

const RECENT_MAX = 1_000;

/**
 * Returns whether an event id arrives for the first time. Slack may deliver an event twice. Keeps
 * the newest 1,000 ids in memory. Source: docs/slack.md#private-messages.
 */
export function firstDeliveries(): (eventId: string) => boolean {
  const recent = new Cache<string, true>(RECENT_MAX);
  return (eventId) => {
    if (recent.has(eventId)) return false;
    recent.set(eventId, true);
    return true;
  };
}
