import type { ChangeId } from '../../domain/change.ts';
import { gate } from '../../domain/gate.ts';
import { dueReverts, openChangeIds } from '../../log/old/change-due.ts';
import { lockChange } from '../../log/old/changes.ts';
import { closeOpenPermits, unlockTarget } from '../../log/old/permits.ts';
import { currentSchedules } from '../../log/old/schedules.ts';
import type { Tx } from '../../storage/old/database.ts';
import { enqueue } from '../../storage/old/outbox.ts';
import { UnreadableRowError } from '../../storage/old/portable.ts';
import type { Db } from '../../storage/old/schema.ts';
import type { DecisionContext } from './ports.ts';
import { recordMove } from './record.ts';
import { stopRevertIn } from './reverts.ts';
import { pauseSchedule } from './schedule-service.ts';

const AT_ONCE = 100;

/** Why the trail does not show what happened to open changes. */
type Invalidation = 'restored' | 'gap-accepted';

interface Stopping {
  readonly why: Invalidation;
  readonly db: Db;
  /** Runs the work for one change in a transaction. */
  readonly inTx: (work: (tx: Tx) => Promise<void>) => Promise<void>;
}

/**
 * Ends all open changes as `stale`, stops the reverts that are not planned, and pauses the schedules.
 * Returns the changes.
 */
export async function stopOpenChanges(
  context: DecisionContext,
  { why, db, inTx }: Stopping,
): Promise<readonly ChangeId[]> {
  const open = (except: readonly ChangeId[]) => openChangeIds(db, { limit: AT_ONCE, except });
  const stopped = await eachOnce(context, open, (id) =>
    inTx((tx) => stopOpenChange(tx, context, id, why)),
  );
  // It is unknown whether such a change was reverted.
  const due = (except: readonly ChangeId[]) => dueReverts(db, { limit: AT_ONCE, except });
  await eachOnce(context, due, (id) => inTx((tx) => stopRevertIn(tx, context, { id }, why)));
  // It is unknown whether a schedule has run since, or was removed.
  for (const { id } of await currentSchedules(db)) {
    await inTx((tx) => pauseUntrusted(tx, context, id, why));
  }
  return stopped;
}

/**
 * Handles every change that `find` returns, once each, page by page. A change whose row is damaged
 * is logged: it cannot be executed either.
 */
async function eachOnce(
  { log }: DecisionContext,
  find: (except: readonly ChangeId[]) => Promise<readonly ChangeId[]>,
  handle: (id: ChangeId) => Promise<void>,
): Promise<readonly ChangeId[]> {
  const seen: ChangeId[] = [];
  for (;;) {
    const fresh = await find(seen);
    if (fresh.length === 0) return seen;
    for (const id of fresh) {
      seen.push(id);
      await handle(id).catch((error: unknown) => {
        if (!(error instanceof UnreadableRowError)) throw error;
        log.error({ err: error, change: id }, 'open change is not readable and was not stopped');
      });
    }
  }
}

async function stopOpenChange(
  tx: Tx,
  context: DecisionContext,
  id: ChangeId,
  why: Invalidation,
): Promise<void> {
  const change = await lockChange(tx, id);
  const answer = change && gate(change, 'distrust', { why });
  if (!change || !answer || 'refusal' in answer) return;
  await closeOpenPermits(tx, id);
  await unlockTarget(tx, id);
  await recordMove(tx, context, change, answer, { kind: 'distrusted', by: 'signalbox' });
}

const UNTRUSTED: Readonly<Record<Invalidation, string>> = {
  restored: 'the database was restored from an older copy',
  'gap-accepted': 'operators accepted a gap of the audit trail',
};

async function pauseUntrusted(
  tx: Tx,
  context: DecisionContext,
  changeId: ChangeId,
  why: Invalidation,
): Promise<void> {
  if (!(await pauseSchedule(tx, context, changeId, 'signalbox'))) return;
  const text = `The schedule is paused, because ${UNTRUSTED[why]}. Check it, then resume it.`;
  await enqueue(tx, { changeId, kind: 'schedule-note', key: why, text, at: context.now() });
}
