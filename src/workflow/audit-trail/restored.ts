import { invalidateAfterRestore } from '../../changes/after-outcome.ts';
import type { Change, ChangeId } from '../../changes/change.ts';
import { appendEvent, auditHead, type Head, listEvents } from '../../storage/audit/append.ts';
import { dueReverts } from '../../storage/tables/changes/change-due.ts';
import { listChanges } from '../../storage/tables/changes/change-lists.ts';
import { lockChange } from '../../storage/tables/changes/changes.ts';
import { closeOpenPermits, unlockTarget } from '../../storage/tables/changes/permits.ts';
import { markDigestsUnknown } from '../../storage/tables/digests.ts';
import { discardReports } from '../../storage/tables/queues/outbox.ts';
import {
  announcedRestore,
  lastHandledRestore,
  recordHandledRestore,
} from '../../storage/tables/restore-mark.ts';
import type { DecisionContext } from '../ports.ts';
import { recordMove } from '../record.ts';
import { stopRevert } from '../revert/reverts.ts';
import { anchorText, lastAnchor } from './anchors.ts';

const OPEN = ['draft', 'pending', 'approved', 'executing', 'unknown'] as const;
const AT_ONCE = 100;

/**
 * Stops all open changes of a restored database, because an older copy does not contain what was sent
 * after it was made. To be called at the start, before anything is claimed.
 */
export async function stopRestoredChanges(context: DecisionContext): Promise<void> {
  const signs = await signsOfRestore(context);
  const before = await lastHandledRestore(context.database.db);
  // Each sign is handled once. Later starts and other replicas find it again.
  const known = (before ?? '').split('\n');
  if (signs.every((sign) => known.includes(sign))) return;
  const stopped = await stopOpenChanges(context);
  await stopReverts(context);
  const isFirst = await context.database.transaction(async (tx) => {
    if (!(await recordHandledRestore(tx, before, signs.join('\n')))) return false;
    const digests = await markDigestsUnknown(tx);
    await discardReports(tx, context.now());
    const body = { by: 'signalbox', signs, changes: stopped, digests };
    await appendEvent(tx, context.auditKey, { kind: 'restored', at: context.now(), body });
    return true;
  });
  if (isFirst) await notify(context, stopped);
}

/** Returns one line per sign of a restore, which identifies it. */
async function signsOfRestore(context: DecisionContext): Promise<readonly string[]> {
  const announced = await announcedRestore(context.database.db);
  const signs = announced ? [`announced ${announced}`] : [];
  for (const anchor of await anchorsOutside(context)) {
    if (!(await isKnown(context, anchor))) signs.push(anchorText(anchor));
  }
  return signs;
}

async function anchorsOutside(context: DecisionContext): Promise<readonly Head[]> {
  const nextToDatabase = context.database.checkpoint?.read() ?? null;
  const posted = await lastAnchor(context.messenger);
  if (!posted.ok) {
    const message = 'last anchor in the audit channel could not be read; see docs/operating.md';
    context.log.warn({ why: posted.why }, message);
  }
  return [nextToDatabase, posted.ok ? posted.head : null].filter((anchor) => anchor !== null);
}

/** Whether the trail contains this anchor. A copy that was used since has other events there. */
async function isKnown({ database }: DecisionContext, { seq, hash }: Head): Promise<boolean> {
  const end = await auditHead(database.db);
  if (end.seq < seq) return false;
  if (seq === 0) return true;
  const [event] = await listEvents(database.db, { afterSeq: seq - 1, limit: 1 });
  return event?.hash === hash;
}

async function stopOpenChanges(context: DecisionContext): Promise<readonly ChangeId[]> {
  const open = () => listChanges(context.database.db, { states: OPEN, limit: AT_ONCE });
  return eachOnce(open, ({ id }) => stopOpenChange(context, id));
}

// The copy does not contain whether a change was reverted since.
async function stopReverts(context: DecisionContext): Promise<void> {
  const due = () => dueReverts(context.database.db, { limit: AT_ONCE });
  await eachOnce(due, (change) => stopRevert(context, change, 'restored'));
}

/** Handles every change that `find` returns, once each, page by page. */
async function eachOnce(
  find: () => Promise<readonly Change[]>,
  handle: (change: Change) => Promise<void>,
): Promise<readonly ChangeId[]> {
  const seen = new Set<ChangeId>();
  for (;;) {
    const fresh = (await find()).filter(({ id }) => !seen.has(id));
    if (fresh.length === 0) return [...seen];
    for (const change of fresh) {
      seen.add(change.id);
      await handle(change);
    }
  }
}

async function stopOpenChange(context: DecisionContext, id: Change['id']): Promise<void> {
  await context.database.transaction(async (tx) => {
    const change = await lockChange(tx, id);
    const outcome = change && invalidateAfterRestore(change);
    if (!change || !outcome?.ok) return;
    await closeOpenPermits(tx, id);
    await unlockTarget(tx, id);
    await recordMove(tx, context, change, outcome.change, { kind: 'distrusted', by: 'signalbox' });
  });
}

async function notify(context: DecisionContext, stopped: readonly ChangeId[]): Promise<void> {
  context.log.warn({ changes: stopped }, 'database was restored; its open changes are stopped');
  const open =
    stopped.length === 0
      ? 'It had no open changes.'
      : `Its open changes are stopped (${stopped.length}); each card says so. Check the current ` +
        'state of the targets before you request them again.';
  const sentence = `The database was restored from an older copy, or replaced. ${open}`;
  await context.messenger.notifyOperators(sentence).catch((error: unknown) => {
    context.log.warn({ err: error }, 'operators were not notified of the restored database');
  });
}
