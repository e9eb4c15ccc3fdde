import type { UserId } from '../changes/change.ts';
import type { Answer } from '../intent/answer.ts';
import { lines, message } from './blocks.ts';
import type { Bot } from './bot.ts';

const QUIET = { unfurl_links: false, unfurl_media: false } as const;

/** Files of an answer, in the thread of a message to the one person who asked: they hold costs. */
export async function sendFiles(bot: Bot, to: UserId, answer: Answer): Promise<void> {
  const files = answer.parts.filter((part) => part.kind === 'file');
  if (files.length === 0) return;
  const { text, blocks } = message(lines([{ bold: answer.title }]));
  const { posts } = bot.clients;
  const posted = await posts.chat.postMessage({
    channel: to,
    text,
    blocks: blocks as never[],
    ...QUIET,
  });
  if (!posted.channel || !posted.ts) throw new Error('Slack posted without saying where');
  for (const { name, text: content } of files) {
    const { channel, ts } = posted;
    await posts.files.uploadV2({ channel_id: channel, thread_ts: ts, filename: name, content });
  }
}
