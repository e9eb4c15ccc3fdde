import type { ChannelId, UserId } from '../../changes/change.ts';
import type { Answer, AnswerPart } from '../../intent/answers/answer.ts';
import { lines, message } from '../blocks/blocks.ts';
import type { SlackContext } from '../slack-context.ts';
import type { ReplyTarget } from './ephemeral.ts';

const QUIET = { unfurl_links: false, unfurl_media: false } as const;

interface Place {
  readonly channel: string;
  readonly ts: string;
}

/**
 * Files of an answer, which nobody can see in private: asked for in a thread they go into that
 * thread, anywhere else into a thread of the messages of whoever asked. What comes back says where
 * they are in their stead.
 */
export async function sendFiles(
  bot: SlackContext,
  { by, spot }: { readonly by: UserId; readonly spot: ReplyTarget },
  answer: Answer,
): Promise<Answer> {
  const files = answer.parts.filter((part) => part.kind === 'file');
  if (files.length === 0) return answer;
  const thread = await threadFor(bot, spot);
  const { channel, ts } = thread ?? (await opened(bot, by, answer.title));
  const { posts } = bot.clients;
  for (const { name, text: content } of files) {
    await posts.files.uploadV2({ channel_id: channel, thread_ts: ts, filename: name, content });
  }
  const where = thread ? 'in this thread, for all who read it' : 'in your messages with Signalbox';
  return { ...answer, parts: answer.parts.map((part) => told(part, where)) };
}

/** Costs never go where people of another workspace read, nor where that could not be found out. */
async function threadFor(
  { context }: SlackContext,
  { channel, thread }: ReplyTarget,
): Promise<Place | null> {
  if (channel === null || thread === null) return null;
  const found = await roomOf(context, channel);
  return found && !found.outside && found.joined ? { channel, ts: thread } : null;
}

async function roomOf({ messenger }: SlackContext['context'], channel: ChannelId) {
  const found = (await messenger.findChannels([channel])).get(channel);
  return found?.ok ? found.room : null;
}

async function opened({ clients }: SlackContext, by: UserId, title: string): Promise<Place> {
  const { text, blocks } = message(lines([{ bold: title }]));
  const body = { channel: by, text, blocks: blocks as never[], ...QUIET };
  const { channel, ts } = await clients.posts.chat.postMessage(body);
  if (!channel || !ts) throw new Error('Slack posted without saying where');
  return { channel, ts };
}

function told(part: AnswerPart, where: string): AnswerPart {
  return part.kind === 'file' ? { kind: 'note', text: `${part.name} is ${where}.` } : part;
}
