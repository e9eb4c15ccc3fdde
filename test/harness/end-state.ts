import { type Change, targetKey } from '../../src/domain/change.ts';
import { evolveHolders } from '../../src/domain/log-events.ts';
import { type Log, listChanges } from '../../src/log/index.ts';
import { verifyAll } from '../../src/log/upkeep.ts';

const MANY = 100_000;

/** The changes of the log, and what is wrong with its chain. */
export async function readEndState(log: Log) {
  const [changes, verified] = await Promise.all([
    listChanges(log, { limit: MANY }),
    verifyAll(log),
  ]);
  const violations = verified.ok ? [] : [`the log is broken: ${verified.problem.message}`];
  const confirmed = changes.filter(({ confirmedAt }) => confirmedAt !== null);
  return { changes, confirmed, violations };
}

/** A change with an unknown outcome locks its target, and no other change does. */
export async function violationsOfLocks(log: Log, changes: readonly Change[]) {
  const found = changes.map(async (change) => {
    const { id, state } = change;
    const { state: holders } = await log.load(`target/${targetKey(change)}`, evolveHolders);
    const isLocked = (holders ?? []).includes(id);
    if (state === 'unknown') return isLocked ? [] : [`${id}: unknown outcome, and not locked`];
    return isLocked ? [`${id}: ${state}, and still locked`] : [];
  });
  return (await Promise.all(found)).flat();
}
