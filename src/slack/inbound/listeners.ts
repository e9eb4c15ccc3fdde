import type { AllMiddlewareArgs, AnyMiddlewareArgs, App } from '@slack/bolt';
import { z } from 'zod';
import { showHome } from '../../workflow/queries/home-queries.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { commandByCallbackId } from '../forms/form.ts';
import { openForm } from '../forms/open-form.ts';
import { optionsFor } from '../forms/options.ts';
import { openPalette, PALETTE } from '../forms/palette.ts';
import { postEphemeral, type ReplyTarget } from '../outbound/post.ts';
import { replyPrivately } from '../outbound/reply.ts';
import type { Actors } from '../people/actors.ts';
import type { SlackContext } from '../slack-context.ts';
import { sendAnswer } from './answering.ts';
import { press } from './buttons.ts';
import { answerDirectMessage, answerMention, firstDeliveries } from './direct-message.ts';
import {
  ButtonClick,
  FormSubmission,
  Searched,
  ShortcutUsed,
  SlashCommand,
  UserOf,
} from './payload.ts';
import { submit } from './submissions.ts';
import { answerTyped, nounToRead } from './typed-command.ts';

const EVERYTHING = /.*/;
const TEXT_MAX = 5_000;

/** One listener for each kind of payload, which routes it by its ids. */
export function listen(app: App, bot: SlackContext, actors: Actors): void {
  app.command(EVERYTHING, async ({ payload, ack }) => {
    const command = SlashCommand.parse(payload);
    await ack();
    await answerCommand(bot, command);
  });
  app.action(EVERYTHING, async ({ body, ack }) => press(bot, ButtonClick.parse(body), ack));
  app.view({ callback_id: EVERYTHING, type: 'view_submission' }, async ({ body, ack }) =>
    // Bolt types an acknowledgement that closes the view apart from one that shows errors in it.
    submit(bot, FormSubmission.parse(body), ack as Parameters<typeof submit>[2]),
  );
  app.options(EVERYTHING, async ({ payload, ack }) => {
    await ack({ options: await optionsFor(bot, Searched.parse(payload)) });
  });
  app.shortcut(EVERYTHING, async ({ body, ack }) => {
    await ack();
    await useShortcut(bot, ShortcutUsed.parse(body));
  });
  listenToEvents(app, bot, actors);
}

function listenToEvents(app: App, bot: SlackContext, actors: Actors): void {
  app.event('app_home_opened', async ({ event }) => {
    if (event.tab === 'home') await showHome(bot.context, UserOf.parse(event.user));
  });
  const isFirst = firstDeliveries();
  app.event('message', async ({ body }) => {
    if (isFirst(body.event_id)) await answerDirectMessage(bot, body);
  });
  app.event('app_mention', async ({ body }) => {
    if (isFirst(body.event_id)) await answerMention(bot, body);
  });
  app.event('subteam_updated', async ({ event }) => actors.forgetGroup(event.subteam.id));
  app.event('subteam_members_changed', async ({ event }) => actors.forgetGroup(event.subteam_id));
  app.event('user_change', async ({ event }) => actors.forgetUser(event.user.id));
}

async function answerCommand(
  bot: SlackContext,
  command: z.infer<typeof SlashCommand>,
): Promise<void> {
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

async function useShortcut(bot: SlackContext, used: z.infer<typeof ShortcutUsed>): Promise<void> {
  const { user, callback_id, trigger_id: trigger } = used;
  const replyTarget = replyTargetOf(used);
  const command = commandByCallbackId(bot.commands, callback_id);
  const open = async () => {
    if (callback_id === PALETTE) await openPalette(bot, { by: user.id, trigger, replyTarget });
    return command ? openForm(bot, { by: user.id, trigger, replyTarget }, command, {}) : null;
  };
  const send = (answer: Message) => postEphemeral(bot.clients.posts, user.id, replyTarget, answer);
  await sendAnswer(bot, { by: user.id, reads: () => null, replyTarget, send }, open);
}

// Slack shows an ephemeral message in a thread only if the thread has a reply already.
function replyTargetOf({ channel, message }: z.infer<typeof ShortcutUsed>): ReplyTarget {
  return { channel: channel?.id ?? null, thread: message?.thread_ts ?? null };
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

/**
 * Drops a signed payload that is of an unknown kind, for another app, or from another workspace.
 */
export function checkEnvelope(bot: SlackContext, appId: string) {
  return async (args: AnyMiddlewareArgs & AllMiddlewareArgs): Promise<void> => {
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
