import type { Change } from '../../domain/change.ts';
import { changesWithCard, changesWithoutCard } from '../../log/old/cards.ts';
import { enqueue, enqueueAgain } from '../../storage/old/outbox.ts';
import type { DecisionContext } from './ports.ts';

const AT_ONCE = 500;
// Slack accepts about 50 updates per minute, and cards of changes that move come first.
const SPREAD_MS = 5_000;

/**
 * Posts the cards of open changes again that have no card and no waiting message, and redraws the
 * others, which finds deleted cards.
 */
export async function checkCards({ database, now }: DecisionContext): Promise<void> {
  const at = now();
  await database.transaction(async (tx) => {
    for (const changeId of await changesWithoutCard(tx, AT_ONCE)) {
      await enqueueAgain(tx, { changeId, kind: 'card', at });
    }
    for (const [index, changeId] of (await changesWithCard(tx, AT_ONCE)).entries()) {
      const later = new Date(at.getTime() + index * SPREAD_MS);
      await enqueue(tx, { changeId, kind: 'card-repost', at: later });
    }
  });
}

const WITH_CARD: readonly Change['state'][] = ['pending', 'approved', 'executing', 'unknown'];

/** Whether users still act on the card of a change, so that a deleted one is posted again. */
export function needsCard({ state }: Change): boolean {
  return WITH_CARD.includes(state);
}
