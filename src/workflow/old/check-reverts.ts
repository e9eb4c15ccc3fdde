import { HOUR_MS } from '../../base/time.ts';
import type { ChangeId } from '../../domain/change.ts';
import { appendEvent, eventsOf } from '../../log/old/append.ts';
import { markedReverts } from '../../log/old/change-due.ts';
import { lockChange, removeRevertMark } from '../../log/old/changes.ts';
import { enqueueOperatorsNotice } from '../../log/old/notices.ts';
import { plannedParents } from '../../log/old/planned-reverts.ts';
import type { DecisionContext } from './ports.ts';

const REMOVED = 'revert-mark-removed';
/** A revert runs up to one day late, and an outage of two days must not hide it. */
const CHECKED_MS = 3 * 24 * HOUR_MS;

/**
 * Compares the marks of planned reverts with the audit trail. A mark without a signed event was
 * written into the database: it is removed, so that the revert is planned or reported as late.
 */
export async function checkReverts(context: DecisionContext): Promise<void> {
  const { database, auditKey, now } = context;
  const marked = await markedReverts(database.db, new Date(now().getTime() - CHECKED_MS));
  const planned = await plannedParents(database.db, auditKey, marked);
  for (const id of marked) {
    if (!planned.has(id)) await removeMark(context, id);
  }
}

async function removeMark(context: DecisionContext, id: ChangeId): Promise<void> {
  const { database, auditKey, now, log } = context;
  await database.transaction(async (tx) => {
    // Under the lock, because another replica may have removed the mark and planned the revert.
    const change = await lockChange(tx, id);
    if (!change) return;
    // A row of a revert that no event plans: it is never executed, and it was reported once.
    const events = await eventsOf(tx, id);
    if (change.child && events.some(({ kind }) => kind === REMOVED)) return;
    if ((await plannedParents(tx, auditKey, [id])).has(id)) return;
    if (!(await removeRevertMark(tx, id))) return;
    const did = 'removed a mark that hid the revert of';
    const body = { by: 'signalbox', did };
    await appendEvent(tx, auditKey, { kind: REMOVED, changeId: id, at: now(), body });
    log.error({ change: id }, 'revert was marked as planned without an event; it is planned now');
    const sentence =
      `The revert of change ${id} was marked as planned in the database, but the audit trail has no ` +
      'such event. Signalbox plans it now, or reports it as late. Check who can write to the database.';
    await enqueueOperatorsNotice(tx, sentence, now());
  });
}
