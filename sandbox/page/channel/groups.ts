import type { Message } from '../../protocol.ts';
import { dayName, type Reading } from '../text/slack-date.ts';

const GROUP_SECONDS = 5 * 60;

export interface GroupedMessage {
  readonly message: Message;
  /** True for the first message of a group, which shows avatar and name of the author. */
  readonly first: boolean;
  /** The name of the day before its first message; null for the other messages. */
  readonly day: string | null;
}

export const dateOf = ({ ts }: Message): Date => new Date(Number(ts) * 1000);

const isReply = ({ ts, threadTs }: Message): boolean => threadTs !== null && threadTs !== ts;

export const inChannel = (messages: readonly Message[], channel: string): readonly Message[] =>
  messages.filter((message) => message.channel === channel && !isReply(message));

export const repliesTo = (messages: readonly Message[], parent: Message): readonly Message[] =>
  messages.filter(
    (message) =>
      message.channel === parent.channel && isReply(message) && message.threadTs === parent.ts,
  );

/** Groups the messages of one author within five minutes and one day. */
export function groupMessages(
  messages: readonly Message[],
  reading: Reading,
): readonly GroupedMessage[] {
  return messages.map((message, at) => {
    const before = messages[at - 1];
    const day = dayName(dateOf(message), reading);
    const isSameDay = before !== undefined && dayName(dateOf(before), reading) === day;
    const first = !(isSameDay && isSameGroup(before, message));
    return { message, first, day: isSameDay ? null : day };
  });
}

const isSameGroup = (before: Message, message: Message): boolean =>
  before.author === message.author &&
  !before.ephemeral &&
  !message.ephemeral &&
  Number(message.ts) - Number(before.ts) < GROUP_SECONDS;
