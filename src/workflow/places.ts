import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import type { Change, ChannelId, UserId } from '../domain/change.ts';
import { evolvePost } from '../domain/log-events.ts';
import { isPlaceOf, type Place } from '../domain/place.ts';
import { loadChange } from '../log/index.ts';
import type { DecisionContext } from './context.ts';
import type { Notice } from './notices.ts';

// A press counts only where Signalbox put the button, and where the log says so.

/** Only the card of the change, its copies, the card of what it reverts, and what was made for the user count. */
export async function isPlace(
  { events }: Pick<DecisionContext, 'events'>,
  { card, states = [], copies, state, parent }: Change,
  place: Place,
): Promise<boolean> {
  const above = parent ? await loadChange(events, parent) : null;
  const all = [card, above?.card ?? null, ...states, ...(above?.states ?? [])];
  const cards = all.filter((each) => each !== null);
  // A draft has no message: its preview is private.
  return isPlaceOf(place, state === 'draft' ? [] : [...cards, ...copies]);
}

/** Whether a newer reply shows the state of the card: only the buttons of that one count. */
export function isOlderState({ card, states = [] }: Change, place: Place): boolean {
  const newest = states.at(-1);
  if (!newest || isPlaceOf(place, [newest])) return false;
  return place.kind === 'message' && isPlaceOf(place, card ? [card, ...states] : states);
}

/** Whether a message with this name was posted there, as the log says. The name is what the message says about itself. */
export async function isPostedAt(
  { events }: Pick<DecisionContext, 'events'>,
  place: Place,
  name: string | null,
): Promise<boolean> {
  if (place.kind !== 'message') return place.kind === 'own';
  const { data: post } = LoggedName.safeParse(name);
  const at = post && (await events.load(post, evolvePost)).state?.at;
  return at?.channel === place.at.channel && at.ts === place.at.ts;
}

const LoggedName = z.templateLiteral([z.enum(['post', 'digest']), '/', z.string()]);

/** The place as the log has it. */
export const LoggedPlace: z.ZodType<Place> = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('message'),
    at: z.object({ channel: z.custom<ChannelId>(), ts: z.string() }),
    thread: z.string().nullable(),
  }),
  z.object({ kind: z.literal('own') }),
  z.object({ kind: z.literal('unknown') }),
]);

const POLLS = 20;
const POLL_MS = 100;

/** A card is often pressed in the moment between its post and the event of that post. */
export async function becomesPlace(
  context: Pick<DecisionContext, 'events'>,
  { id }: Change,
  place: Place,
): Promise<boolean> {
  for (let polls = 0; polls < POLLS; polls += 1) {
    await wait(POLL_MS);
    const change = await loadChange(context.events, id);
    if (change && (await isPlace(context, change, place))) return true;
  }
  return false;
}

/** Only the bot token can put a button elsewhere. `what`: `approve on change 7KQ2MX`, `“cost digest”`. */
export function foreignPlace(press: { what: string; by: UserId; place: Place }): Notice {
  const { what, by, place } = press;
  const where =
    place.kind === 'message'
      ? `in a message in which Signalbox did not put it (channel ${place.at.channel}, message ${place.at.ts})`
      : 'in a private message or on a Home tab that Signalbox did not make';
  const text =
    `A press of ${what} did not count: it was made ${where}. ` +
    'Someone may use the bot token of Signalbox. Pressed by ';
  return { to: null, title: 'Notice', text, line: [{ user: by }] };
}
