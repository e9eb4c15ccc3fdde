import type { Change } from '../../src/domain/change.ts';
import { listEvents, type StoredEvent } from '../../src/log/old/append.ts';
import { listChanges } from '../../src/log/old/change-lists.ts';
import { lockHolder } from '../../src/log/old/permits.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import type { Db } from '../../src/storage/old/database.ts';

const MANY = 100_000;

/** The stored changes and audit events, and what is wrong with the audit chain and with each trail. */
export async function readEndState(db: Db, auditKey: Buffer) {
  const [changes, trail, verified] = await Promise.all([
    listChanges(db, { limit: MANY }),
    listEvents(db, { afterSeq: 0, limit: MANY }),
    verifyChain(db, auditKey),
  ]);
  const byChange = Map.groupBy(trail, ({ changeId }) => changeId);
  const violations = [
    ...(verified.ok ? [] : [`the audit chain is broken at ${verified.seq}: ${verified.problem}`]),
    ...changes.flatMap((change) => violationsOfTrail(change, byChange.get(change.id) ?? [])),
  ];
  const confirmed = changes.filter(({ confirmedAt }) => confirmedAt !== null);
  return { changes, confirmed, trail, violations };
}

/** One event for each version of a change, and each begins in the state where the last one ended. */
function violationsOfTrail(change: Change, trail: readonly StoredEvent[]): readonly string[] {
  const own = trail.filter(({ version }) => version !== null);
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

/** A change with an unknown outcome locks its target, and no other change does. */
export async function violationsOfLocks(db: Db, changes: readonly Change[]) {
  const found = changes.map(async ({ id, state, plan: { target } }) => {
    const isLocked = (await lockHolder(db, `${target.kind}:${target.id}`)) === id;
    if (state === 'unknown') return isLocked ? [] : [`${id}: unknown outcome, and not locked`];
    return isLocked ? [`${id}: ${state}, and still locked`] : [];
  });
  return (await Promise.all(found)).flat();
}
