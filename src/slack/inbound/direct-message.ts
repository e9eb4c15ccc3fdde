import { z } from 'zod';
import { nounOf } from '../../commands/define.ts';
import type { Message } from '../blocks/blocks.ts';
import { formlessTrigger } from '../forms/open-form.ts';
import { postEphemeral, postMessage } from '../outbound/post.ts';
import type { CommandLine, SlackContext } from '../slack-context.ts';
import { sendAnswer } from './answering.ts';
import { ChannelOf, UserOf } from './payload.ts';
import { answerTyped, nounToRead } from './typed-command.ts';

// A longer text is no command: it gets the help.
const TEXT_MAX = 5_000;

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
type Written = z.infer<typeof Written>;

/**
 * Answers a message in the direct messages of the app: a command line runs as the slash command,
 * any other words get the help.
 */
export async function answerDirectMessage(bot: SlackContext, body: unknown): Promise<void> {
  const read = Written.safeParse(body);
  // A subscription to other channels would make the app answer everyone there.
  if (!read.success || !read.data.event.channel.startsWith('D')) return;
  const { channel, thread_ts, text } = read.data.event;
  const words = text.length > TEXT_MAX ? '' : wordsOf(text, bot);
  await answerWritten(bot, read.data, words, async (answer) => {
    await postMessage(bot.clients.posts, channel, answer, thread_ts);
  });
}

/** Answers a mention with the help, which only its author sees. */
export async function answerMention(bot: SlackContext, body: unknown): Promise<void> {
  const read = Written.safeParse(body);
  if (!read.success) return;
  const { user, channel, thread_ts = null } = read.data.event;
  await answerWritten(bot, read.data, '', (answer) =>
    postEphemeral(bot.clients.posts, user, { channel, thread: thread_ts }, answer),
  );
}

function answerWritten(
  bot: SlackContext,
  { event_id, event }: Written,
  words: string,
  send: (answer: Message) => Promise<void>,
) {
  const [, first = '', text = ''] = /^(\S+)\s*([\s\S]*)$/.exec(words) ?? [];
  const noun = first.toLowerCase();
  const isCommand = bot.commands.some((command) => nounOf(command) === noun);
  const typed: CommandLine = {
    noun: isCommand ? noun : '',
    text: isCommand ? text : '',
    by: event.user,
    replyTarget: { channel: event.channel, thread: event.thread_ts ?? null },
    trigger: formlessTrigger(event_id),
  };
  const reads = () => nounToRead(bot, typed);
  return sendAnswer(bot, { ...typed, reads, send }, () => answerTyped(bot, typed));
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
    .replace(/^<@([A-Z0-9]+)>\s*/, (mention, id) => (id === botUserId ? '' : mention))
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
  const recent = new Set<string>();
  return (eventId) => {
    if (recent.has(eventId)) return false;
    recent.add(eventId);
    const [oldest] = recent;
    if (recent.size > RECENT_MAX && oldest !== undefined) recent.delete(oldest);
    return true;
  };
}
