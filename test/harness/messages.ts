import { type Json, list } from '../../sandbox/json.ts';
import { elementsIn } from '../../sandbox/slack/input-state.ts';
import type { StoredMessage } from '../../sandbox/slack/records.ts';

export interface Readable {
  readonly text: string;
  readonly blocks: readonly Json[];
}

/** The text and the blocks of a message as one string. */
export function textOf({ text, blocks }: Readable): string {
  return `${text}\n${JSON.stringify(blocks)}`;
}

/** The action ids of the buttons and selects of a message, and those in its overflow menus. */
export function buttonsOf({ blocks }: Readable): string[] {
  return elementsIn(blocks).flatMap(({ element }) =>
    element.type === 'overflow'
      ? list(element.options).map(({ value }) => String(value).split(' ')[0] ?? '')
      : [String(element.action_id)],
  );
}

export function hasButton(message: Readable, actionId: string): boolean {
  return buttonsOf(message).includes(actionId);
}

/** Where a user clicks in this message. */
export function placeOf(message: Pick<StoredMessage, 'channel' | 'ts'> | undefined) {
  if (!message) throw new Error('There is no such message');
  return { in: 'message', channel: message.channel, ts: message.ts } as const;
}

/** True for a message of a channel that is neither in a thread nor visible to one user only. */
export function isCard({ threadTs, ephemeralFor }: StoredMessage): boolean {
  return threadTs === null && ephemeralFor === null;
}

/** True for the notice that precedes a slow answer. */
export function isProgress({ text }: Readable): boolean {
  return /^(Preparing the answer…|Checking your permission….*)$/.test(text);
}
