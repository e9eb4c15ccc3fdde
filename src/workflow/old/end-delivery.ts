import type { ChangeId, Position } from '../../domain/change.ts';
import { settingCard } from '../../log/old/changes.ts';
import type { Tx } from '../../storage/old/database.ts';
import { enqueueing, markingDone, type PlannedMessage } from '../../storage/old/outbox.ts';
import { runLast } from '../../storage/old/together.ts';
import type { DecisionContext } from './ports.ts';
import { shareCommits } from './shared-commits.ts';

/** A card in Slack, and the version of its change that it shows. */
export interface DrawnCard {
  readonly changeId: ChangeId;
  readonly at: Position;
  readonly version: number;
}

/** What is stored after a message was delivered. */
export interface DeliveryResult {
  readonly card: DrawnCard | null;
  /** The message that follows this one. */
  readonly next: PlannedMessage | null;
}

interface Delivery extends DeliveryResult {
  readonly id: number;
}

type End = (delivery: Delivery) => Promise<void>;

const ends = new WeakMap<DecisionContext, End>();

/** Resolves after the commit. Deliveries that end at the same time share one. */
export function endDelivery(context: DecisionContext, delivery: Delivery): Promise<void> {
  const end = ends.get(context) ?? shareCommits((all: readonly Delivery[]) => store(context, all));
  ends.set(context, end);
  return end(delivery);
}

async function store(
  { database, now }: DecisionContext,
  deliveries: readonly Delivery[],
): Promise<() => void> {
  const cards = deliveries.flatMap(({ card }) => card ?? []);
  const ids = deliveries.map(({ id }) => id);
  const nexts = deliveries.flatMap(({ next }) => next ?? []);
  const ending = (tx: Tx) => markingDone(tx, ids, now());
  if (cards.length + nexts.length === 0) {
    await database.run(ending);
    return () => undefined;
  }
  await database.transaction(async (tx) => {
    // All replicas lock the changes in the same order, which prevents deadlocks.
    const ordered = cards.toSorted(byChange);
    await runLast(tx, [
      ...ordered.map(({ changeId, at, version }) => settingCard(tx, changeId, at, version)),
      ending(tx),
      ...nexts.flatMap((next) => enqueueing(tx, [next])),
    ]);
  });
  return () => undefined;
}

function byChange(one: DrawnCard, other: DrawnCard): number {
  return one.changeId < other.changeId ? -1 : 1;
}
