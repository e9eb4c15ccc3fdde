import { type Change, type State, targetKey } from '../../../src/domain/change.ts';
import { evolveHolders } from '../../../src/domain/log-events.ts';
import type { Log } from '../../../src/log/index.ts';
import { readEndState, violationsOfLocks } from '../../harness/end-state.ts';
import { logOf } from './bot.ts';
import type { Simulation } from './simulation-types.ts';
import type { Card } from './slack.ts';

/** The promises that are violated after all work is done. */
export async function wrongAtTheEnd(simulation: Simulation): Promise<readonly string[]> {
  const log = await logOf(simulation.around.store);
  const { changes, violations } = await readEndState(log);
  return [
    ...violations,
    ...changes.flatMap((change) => wrongWithEnding(simulation, change)),
    ...(await Promise.all(changes.map((each) => wrongWithCard(simulation, log, each)))).flat(),
    ...(await Promise.all(changes.map((each) => stuck(simulation, log, each)))).flat(),
    ...simulation.slack.cards
      .filter(({ change }) => changes.every(({ id }) => id !== change))
      .flatMap(wrongWithLost),
    ...changes.flatMap((change) => falseAlarm(simulation, change)),
    ...(await violationsOfLocks(log, changes)),
    ...changes.flatMap((change) => wrongWithApprovals(simulation, change)),
  ];
}

/** P7 and P8: the stored outcome matches what the server counted. */
function wrongWithEnding(simulation: Simulation, change: Change): readonly string[] {
  const { id, state, resolution } = change;
  if (state === 'executing') return [`${id}: still executing`];
  if (change.plan.target.kind === 'standing approval') return wrongWithUses(simulation, change);
  const mark = simulation.asked.find((asked) => asked.id === id)?.mark;
  const applied = simulation.server
    .deliveries()
    .filter((each) => each.mark === mark && each.applied);
  if (resolution) return [];
  if (state === 'succeeded' && applied.length === 0) return [`${id}: “succeeded” without effect`];
  const nothing: readonly State[] = [
    ...(['failed', 'denied', 'rejected', 'cancelled', 'expired'] as const),
    // What the log has lost of it, its card says.
    ...(simulation.lost.has(id) ? [] : (['stale'] as const)),
  ];
  return nothing.includes(state) && applied.length > 0 ? [`${id}: “${state}” with an effect`] : [];
}

/** Its uses are no more than people agreed to, and nothing ends it but people, its time and a loss. */
function wrongWithUses({ allowed, counts, slack }: Simulation, { id, uses = [], revoked }: Change) {
  const most = allowed.find((each) => each.id === id)?.uses ?? 0;
  const isDeleted = slack.cards.some((card) => card.change === id && card.isDeleted);
  const isFalse = revoked?.by === 'signalbox' && counts.rollbacks.length === 0 && !isDeleted;
  return [
    ...(uses.length > most ? [`${id}: used ${uses.length} times of ${most}`] : []),
    ...(isFalse ? [`${id}: a false alarm, revoked`] : []),
  ];
}

/** What is not drawn: where the card stands. */
const NOT_DRAWN = ['card-posted', 'copy-posted', 'card-lost'];

/** P15: one card, which shows the last event. A message that the log has lost says so. */
async function wrongWithCard(
  { slack, lost, counts }: Simulation,
  log: Log,
  { id, card, confirmedAt, state }: Change,
): Promise<readonly string[]> {
  const all = slack.cards.filter((each) => each.change === id);
  const standing = all.filter(({ isDeleted }) => !isDeleted);
  if (!confirmedAt && !lost.has(id)) return all.length > 0 ? [`${id}: a draft has a card`] : [];
  const isWhole = !lost.has(id) && all.length === standing.length;
  // With the lease of its job lost, two processes post a card: the second one says that another one counts.
  const isMore = (each: Card) => counts.rollbacks.length > 0 && each.states.at(-1) === 'other';
  const cards = all.filter((each) => !isMore(each));
  if (isWhole && cards.length !== 1) return [`${id}: it has ${cards.length} cards`];
  const own = standing.find(({ ts }) => ts === card?.ts);
  if (isOpen(state) && state !== 'draft' && !own) return [`${id}: ${state} without a card`];
  const { state: last } = await log.load(`change/${id}`, (version: number | null, event) =>
    NOT_DRAWN.includes(event.type) ? (version ?? 0) : event.version,
  );
  const isOld = own && own.mark.version < (last ?? 0);
  const others = standing.filter((each) => each !== own);
  return [
    ...(isOld ? [`${id}: its card shows an older state`] : []),
    ...(own && isMore(own) ? [`${id}: its own card says that another one counts`] : []),
    ...others.flatMap((each) => wrongWithLost(each)),
  ];
}

const isOpen = (state: Card['states'][number] | undefined) =>
  ['draft', 'pending', 'approved', 'executing', 'unknown'].includes(state ?? '');

/** A card that no change of the log has may not ask anybody for anything. */
function wrongWithLost({ change, states, isDeleted }: Card): readonly string[] {
  const state = states.at(-1);
  const isWrong = !isDeleted && isOpen(state);
  return isWrong ? [`${change}: a card that is not its card shows ${state}`] : [];
}

/** What has been approved for its time runs, or waits for an outcome that people have to answer. */
async function stuck({ clock }: Simulation, log: Log, change: Change): Promise<readonly string[]> {
  const { id, state, notBefore } = change;
  if (state !== 'approved' || (notBefore && notBefore > clock.now)) return [];
  const { state: holders } = await log.load(`target/${targetKey(change)}`, evolveHolders);
  return (holders ?? []).length > 0 ? [] : [`${id}: approved, and nothing happens`];
}

/** Only what a rollback or a person took away is missed. */
function falseAlarm({ counts, slack }: Simulation, { id, stopReason }: Change) {
  const isHonest =
    stopReason === 'restored'
      ? counts.rollbacks.length === 0
      : stopReason === 'card-deleted' && slack.cards.every(({ isDeleted }) => !isDeleted);
  return isHonest ? [`${id}: a false alarm, ${stopReason}`] : [];
}

/** Each recorded approval is by a user who may approve, and not by the requester. */
function wrongWithApprovals({ slack, asked }: Simulation, { id, approvals }: Change) {
  const requester = asked.find((each) => each.id === id)?.by;
  return approvals.flatMap(({ by }) => {
    if (by === requester) return [`${id}: approved by its requester`];
    return slack.everIn('approver', by)
      ? []
      : [`${id}: approved by ${by}, who never was an approver`];
  });
}

/** Whether the process crashed before it stored the answer. */
export function isTakenOver({ outcome: ending }: Change): boolean {
  return ending?.how === 'unknown' && ending.text.includes('No answer was recorded');
}
