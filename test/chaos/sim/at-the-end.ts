import type { Change, State } from '../../../src/domain/change.ts';
import type { Log } from '../../../src/log/index.ts';
import { readEndState, violationsOfLocks } from '../../harness/end-state.ts';
import { logOf } from './bot.ts';
import type { Simulation } from './simulation-types.ts';

/** The promises that are violated after all work is done. */
export async function wrongAtTheEnd(simulation: Simulation): Promise<readonly string[]> {
  const log = await logOf(simulation.around.store);
  const { changes, violations } = await readEndState(log);
  return [
    ...violations,
    ...changes.flatMap((change) => wrongWithEnding(simulation, change)),
    ...(await Promise.all(changes.map((each) => wrongWithCard(simulation, log, each)))).flat(),
    ...(await violationsOfLocks(log, changes)),
    ...changes.flatMap((change) => wrongWithApprovals(simulation, change)),
  ];
}

/** P7 and P8: the stored outcome matches what the server counted. */
function wrongWithEnding(simulation: Simulation, change: Change): readonly string[] {
  const { id, state, resolution } = change;
  if (state === 'executing') return [`${id}: still executing`];
  const mark = simulation.asked.find((asked) => asked.id === id)?.mark;
  const applied = simulation.server
    .deliveries()
    .filter((each) => each.mark === mark && each.applied);
  if (resolution) return [];
  if (state === 'succeeded' && applied.length === 0) return [`${id}: “succeeded” without effect`];
  const nothing: readonly State[] = [
    'failed',
    'stale',
    'denied',
    'rejected',
    'cancelled',
    'expired',
  ];
  return nothing.includes(state) && applied.length > 0 ? [`${id}: “${state}” with an effect`] : [];
}

/** What is not drawn: where the card stands. */
const NOT_DRAWN = ['card-posted', 'copy-posted', 'card-lost'];

/** P15: one card, which shows the last event. */
async function wrongWithCard(
  { slack }: Simulation,
  log: Log,
  change: Change,
): Promise<readonly string[]> {
  const { id, card, confirmedAt } = change;
  const posted = slack.cards.filter((each) => each.change === id);
  if (!confirmedAt) return posted.length > 0 ? [`${id}: a draft has a card`] : [];
  if (posted.length !== 1) return [`${id}: it has ${posted.length} cards`];
  const shown = posted.find(({ ts }) => ts === card?.ts)?.mark.version ?? 0;
  const { state: last } = await log.load(`change/${id}`, (version: number | null, event) =>
    NOT_DRAWN.includes(event.type) ? (version ?? 0) : event.version,
  );
  return shown >= (last ?? 0) ? [] : [`${id}: its card shows an older state`];
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
