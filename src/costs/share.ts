/** Posts a private answer of a question into the channel, under the name of the user who shares it. */
import {
  type Answer,
  type AnswerPart,
  type Caller,
  type CommandOffer,
  type Poster,
  textAnswer,
} from '../domain/answer.ts';
import { postChannel } from './announcements.ts';
import { capitalized } from './standing.ts';

/** Adds `share` to a line, which posts its answer. */
export function shareOffer(line: string): CommandOffer {
  return { label: 'Share here', line: `${line} share` };
}

/** Buttons and files are for the user who asked. */
const PRIVATE: readonly AnswerPart['kind'][] = ['offers', 'actions', 'menu', 'choices', 'file'];

/** Posts the answer into the channel of the question; the private answer says so, or why not. */
export async function share(
  { title, parts }: Answer,
  line: string,
  { poster }: { readonly poster: Pick<Poster, 'postToChannel' | 'findChannels'> },
  { by, channel }: Pick<Caller, 'by' | 'channel'>,
): Promise<Answer> {
  // A direct message with the app has no other readers.
  if (channel === null || channel.startsWith('D')) {
    return textAnswer('Not shared', 'Ask in the channel in which you want to share the answer.');
  }
  const to = postChannel((await poster.findChannels([channel])).get(channel));
  if (!to.ok) return textAnswer('Not shared', `${capitalized(to.why)}.`);
  const who: AnswerPart = { kind: 'lines', lines: [[{ user: by }, ` shared “${line}”`]] };
  const shown = parts.filter(({ kind }) => !PRIVATE.includes(kind));
  const posted = await poster.postToChannel(channel, { title, parts: [who, ...shown] });
  return posted.ok
    ? textAnswer('Shared', `Posted in this channel: ${title}`)
    : textAnswer('Not shared', `Slack refused the message: ${posted.why}.`);
}
