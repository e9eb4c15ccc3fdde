import { z } from 'zod';
import { type ChangeId, type ChannelId, type UserId, VERBS } from '../../domain/change.ts';
import type { Place } from '../../domain/place.ts';
import { enqueueClick, type Receipt } from './click-intake.ts';
import type { ReplyTo } from './clicks.ts';
import type { DecisionContext } from './ports.ts';

/** Where the answer to a stored click goes. */
export const StoredReplyTo = z.object({
  url: z.string().nullable(),
  user: z.string().transform((id) => id as UserId),
  channel: z.string().nullable(),
  replaces: z.boolean(),
  // Missing in clicks that an older release stored.
  ts: z.string().nullable().default(null),
  thread: z.string().nullable().default(null),
  home: z.boolean().default(false),
});

const StoredPlace: z.ZodType<Place> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('message'),
    at: z.object({ channel: z.string().transform((id) => id as ChannelId), ts: z.string() }),
    thread: z.string().nullable(),
  }),
  z.object({ kind: z.literal('own') }),
  z.object({ kind: z.literal('unknown') }),
]);

/** A click that decides. It is stored unchecked; handling it checks the user who pressed. */
export const Click = z.object({
  verb: z.enum(VERBS),
  change: z.string().transform((id) => id as ChangeId),
  by: z.string().transform((id) => id as UserId),
  text: z.string().max(3000),
  /** Missing in clicks that an older release stored: those do not count. */
  place: StoredPlace.default({ kind: 'unknown' }),
  replyTo: StoredReplyTo,
});
export interface Click extends Omit<z.infer<typeof Click>, 'replyTo'> {
  readonly replyTo: ReplyTo;
}

/** Stores a click. To be called before Slack's acknowledgement: Slack never sends a click again. */
export function receiveClick(
  context: DecisionContext,
  key: string,
  click: Click,
): Promise<Receipt> {
  const { verb, change, by, text, place, replyTo } = click;
  const body = { verb, change, by, text, place, replyTo: { ...replyTo } };
  return enqueueClick(context, { key, kind: 'click', body, by, at: context.now() });
}
