import type { Change, State } from '../../../src/domain/change.ts';
import type { StoredEvent } from '../../../src/log/old/append.ts';
import { cardVersion } from '../../../src/log/old/changes.ts';
import { readEndState, violationsOfLocks } from '../../harness/end-state.ts';
import type { Simulation } from './simulation-types.ts';

/** The promises that are violated after all work is done. */
export async function wrongAtTheEnd(simulation: Simulation): Promise<readonly string[]> {
  const { database, auditKey } = simulation.around;
  const { changes, trail, violations } = await readEndState(database.db, auditKey);
  const own = await Promise.all(changes.map((change) => wrongWithCard(simulation, change)));
  return [
    ...violations,
    ...changes.flatMap((change) => wrongWithEnding(simulation, change)),
    ...own.flat(),
    ...(await violationsOfLocks(database.db, changes)),
    ...wrongWithApprovals(simulation, trail),
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

/** P15: one card, which shows the current version. */
async function wrongWithCard(simulation: Simulation, change: Change): Promise<readonly string[]> {
  const { id, version, card, confirmedAt } = change;
  const posted = simulation.slack.cards.filter((each) => each.change === id);
  if (!confirmedAt) return posted.length > 0 ? [`${id}: a draft has a card`] : [];
  if (posted.length !== 1) return [`${id}: it has ${posted.length} cards`];
  const shown = posted.find(({ ts }) => ts === card?.ts)?.version;
  const stored = await cardVersion(simulation.around.database.db, id);
  return shown === version && stored === version ? [] : [`${id}: its card shows an older state`];
}

/** Each recorded approval is by a user who may approve, and not by the requester. */
function wrongWithApprovals({ slack, asked }: Simulation, trail: readonly StoredEvent[]) {
  const approvals = trail.filter(({ kind }) => kind === 'approved');
  return approvals.flatMap(({ changeId, body }) => {
    const by = asked.find(({ id }) => id === changeId)?.by;
    if (body.by === by) return [`${changeId}: approved by its requester`];
    const ever = slack.everIn('approver', String(body.by));
    return ever ? [] : [`${changeId}: approved by ${body.by}, who never was an approver`];
  });
}

/** Whether the process crashed before it stored the answer. */
export function isTakenOver({ outcome: ending }: Change): boolean {
  return ending?.how === 'unknown' && ending.text.includes('Signalbox stopped');
}
