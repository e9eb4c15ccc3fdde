import type { Change, State } from '../../../src/changes/change.ts';
import { listEvents, type StoredEvent, verifyChain } from '../../../src/storage/audit/append.ts';
import type { Db } from '../../../src/storage/engine/database.ts';
import { listChanges } from '../../../src/storage/tables/changes/change-lists.ts';
import { cardVersion } from '../../../src/storage/tables/changes/changes.ts';
import { lockHolder } from '../../../src/storage/tables/changes/permits.ts';
import type { Simulation } from './simulation-types.ts';

const MANY = 10_000;

/** The promises that are violated after all work is done. */
export async function wrongAtTheEnd(simulation: Simulation): Promise<readonly string[]> {
  const { db } = simulation.around.database;
  const [changes, trail] = await Promise.all([
    listChanges(db, { limit: MANY }),
    listEvents(db, { afterSeq: 0, limit: MANY }),
  ]);
  const own = await Promise.all(changes.map((change) => wrongWithCard(simulation, change)));
  return [
    ...(await wrongWithChain(simulation)),
    ...changes.flatMap((change) => wrongWithTrail(change, trail)),
    ...changes.flatMap((change) => wrongWithEnding(simulation, change)),
    ...own.flat(),
    ...(await wrongWithLocks(db, changes)),
    ...wrongWithApprovals(simulation, trail),
  ];
}

/** P4: the audit chain is intact. */
async function wrongWithChain({ around }: Simulation): Promise<readonly string[]> {
  const verified = await verifyChain(around.database.db, around.auditKey);
  return verified.ok ? [] : [`the audit chain is broken at ${verified.seq}: ${verified.problem}`];
}

/** P3: one event for each version, each begins where the last one ended. */
export function wrongWithTrail(change: Change, trail: readonly StoredEvent[]): readonly string[] {
  const own = trail.filter(({ changeId, version }) => changeId === change.id && version !== null);
  const versions = own.map(({ version }) => version);
  const wanted = Array.from({ length: change.version }, (_, index) => index + 1);
  if (versions.join() !== wanted.join()) {
    return [`${change.id}: version ${change.version} has events for ${versions.join() || 'none'}`];
  }
  const states = own.map(({ to }) => to);
  const froms = own.slice(1).map(({ from }) => from);
  const isPath = froms.every((from, index) => from === states[index]);
  if (!isPath || states.at(-1) !== change.state) return [`${change.id}: its trail is no path`];
  return [];
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

/** P12: a change with an unknown outcome locks its target, and no other change does. */
async function wrongWithLocks(db: Db, changes: readonly Change[]): Promise<readonly string[]> {
  const wrong = changes.map(async ({ id, state, plan: { target } }) => {
    const holder = await lockHolder(db, `${target.kind}:${target.id}`);
    if (state === 'unknown') return holder === id ? [] : [`${id}: unknown outcome, and not locked`];
    return holder === id ? [`${id}: ${state}, and still locked`] : [];
  });
  return (await Promise.all(wrong)).flat();
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
