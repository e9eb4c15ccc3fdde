import { complete } from '../intent/understand.ts';
import { receiveClick } from '../workflow/click.ts';
import { VERBS } from '../workflow/world.ts';
import type { Message } from './blocks.ts';
import type { Bot } from './bot.ts';
import { callbackIdOf } from './modal.ts';
import { ChangeOf, ChannelOf, givenOf, type Submitted } from './payload.ts';
import { answerIntent, faultMessage, type Typed } from './typed.ts';

type Errors = Readonly<Record<string, string>>;
type Ack = (response?: { response_action: 'errors'; errors: Errors }) => Promise<void>;

/** Routes one submitted modal: the words of a decision, or the fields of a command. */
export async function submit(bot: Bot, submitted: Submitted, ack: Ack): Promise<void> {
  const id = submitted.view.callback_id;
  const verb = VERBS.find((each) => `change.${each}` === id);
  if (verb) return decide(bot, submitted, verb, ack);
  const command = bot.commands.find((each) => callbackIdOf(each) === id);
  if (!command) return ack();

  const { reason = '', ...given } = givenOf(submitted);
  const understood = complete(command, given, reason, bot.world.reach().services);
  if (understood.kind === 'intent') {
    await ack();
    return show(bot, submitted, (typed) => answerIntent(bot, typed, understood));
  }
  // What was typed stays in the modal; the sentence stands under the field that it is about.
  const first = Object.keys(command.args.shape)[0] ?? 'reason';
  const missing =
    understood.kind === 'incomplete' ? understood.missing.map(({ name }) => name) : [];
  const sentence = understood.kind === 'misread' ? understood.sentence : 'This is needed.';
  const fields = missing.length > 0 ? missing : [first];
  const errors = Object.fromEntries(fields.map((field) => [field, sentence]));
  return ack({ response_action: 'errors', errors });
}

async function decide(
  bot: Bot,
  submitted: Submitted,
  verb: (typeof VERBS)[number],
  ack: Ack,
): Promise<void> {
  const { view, user, trigger_id } = submitted;
  const change = ChangeOf.safeParse(view.private_metadata);
  if (!change.success) return ack();
  const text = givenOf(submitted).reason ?? '';
  const replyTo = { url: null, user: user.id, channel: null, replaces: false };
  const click = { verb, change: change.data, by: user.id, text, replyTo };
  await receiveClick(bot.world, `click:${trigger_id}`, click);
  await ack();
  bot.world.wake();
}

/** A modal has no address to answer to: privately where it was opened, else in direct messages. */
async function show(
  bot: Bot,
  { view, user, trigger_id }: Submitted,
  answer: (typed: Typed) => Promise<Message>,
): Promise<void> {
  const channel = ChannelOf.safeParse(view.private_metadata).data ?? null;
  const typed: Typed = { noun: '', text: '', by: user.id, channel, trigger: trigger_id };
  const { text, blocks } = await answer(typed).catch((error: unknown) => faultMessage(bot, error));
  const body = { text, blocks: blocks as never[], unfurl_links: false, unfurl_media: false };
  const { chat } = bot.clients.posts;
  const privately = channel
    ? await chat.postEphemeral({ ...body, channel, user: user.id }).catch(() => null)
    : null;
  if (!privately) await chat.postMessage({ ...body, channel: user.id });
}
