import type { Answer, AnswerPart, ChannelLookup } from '../../domain/answer.ts';
import type { UserId } from '../../domain/change.ts';
import { lines, message } from '../blocks/blocks.ts';
import type { Clients } from './clients.ts';
import { postMessage, type ReplyTarget } from './post.ts';

interface ThreadPosition {
  readonly channel: string;
  readonly ts: string;
}

type FindChannels = (names: readonly string[]) => Promise<ReadonlyMap<string, ChannelLookup>>;

/**
 * Uploads the files of an answer, because Slack has no private files: into the thread where the user
 * asked, else into a thread of their direct messages. Returns the answer with a note for each file.
 */
export async function sendFiles(
  posts: Clients['posts'],
  findChannels: FindChannels,
  { by, replyTarget }: { readonly by: UserId; readonly replyTarget: ReplyTarget },
  answer: Answer,
): Promise<Answer> {
  const files = answer.parts.filter((part) => part.kind === 'file');
  if (files.length === 0) return answer;
  const thread = await threadFor(findChannels, replyTarget);
  const heading = message(lines([{ bold: answer.title }]));
  const { channel, ts } = thread ?? (await postMessage(posts, by, heading));
  for (const { name, text: content } of files) {
    await posts.files.uploadV2({ channel_id: channel, thread_ts: ts, filename: name, content });
  }
  const where = thread
    ? 'in this thread, visible to everyone in it'
    : 'in your direct messages with Signalbox';
  return { ...answer, parts: answer.parts.map((part) => noteFor(part, where)) };
}

/** Null for a channel that is shared with another workspace, or whose sharing is unknown. */
async function threadFor(
  findChannels: FindChannels,
  { channel, thread }: ReplyTarget,
): Promise<ThreadPosition | null> {
  if (channel === null || thread === null) return null;
  const found = (await findChannels([channel])).get(channel);
  return found?.ok && !found.room.outside && found.room.joined ? { channel, ts: thread } : null;
}

function noteFor(part: AnswerPart, where: string): AnswerPart {
  return part.kind === 'file' ? { kind: 'note', text: `${part.name} is ${where}.` } : part;
}
