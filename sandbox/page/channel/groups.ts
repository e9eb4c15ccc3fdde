import type { Message } from '../../protocol.ts';
import { dayName } from '../text/slack-date.ts';

const TOGETHER_S = 5 * 60;

export interface Placed {
  readonly message: Message;
  /** The first of its author's run shows avatar and name. */
  readonly first: boolean;
  /** The name of the day where a new one begins. */
  readonly day: string | null;
}

export const momentOf = ({ ts }: Message): Date => new Date(Number(ts) * 1000);

export const isReply = ({ ts, threadTs }: Message): boolean => threadTs !== null && threadTs !== ts;

export const inChannel = (messages: readonly Message[], channel: string): readonly Message[] =>
  messages.filter((message) => message.channel === channel && !isReply(message));

export const repliesTo = (messages: readonly Message[], parent: Message): readonly Message[] =>
  messages.filter(
    (message) =>
      message.channel === parent.channel && isReply(message) && message.threadTs === parent.ts,
  );

export function placed(messages: readonly Message[], now: Date): readonly Placed[] {
  return messages.map((message, at) => {
    const before = messages[at - 1];
    const day = dayName(momentOf(message), now);
    const sameDay = before !== undefined && dayName(momentOf(before), now) === day;
    return {
      message,
      first: !(sameDay && continues(before, message)),
      day: sameDay ? null : day,
    };
  });
}

const continues = (before: Message, message: Message): boolean =>
  before.author === message.author &&
  !before.ephemeral &&
  !message.ephemeral &&
  Number(message.ts) - Number(before.ts) < TOGETHER_S;
