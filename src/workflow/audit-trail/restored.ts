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
 * An older copy of the database knows nothing of what was sent after it was made. To be called
 * before anything is claimed: what is open in such a copy does not go on.
 */
export async function stopRestoredChanges(context: DecisionContext): Promise<void> {
  const signs = await signsOfRestore(context);
  const before = await lastHandledRestore(context.database.db);
  // Other replicas, and later starts, find the same signs: what was asked for since may go on.
  const known = (before ?? '').split('\n');
  if (signs.every((sign) => known.includes(sign))) return;
  const given = await distrustAll(context);
  await leaveAll(context);
  const isOurs = await context.database.transaction(async (tx) => {
    if (!(await recordHandledRestore(tx, before, signs.join('\n')))) return false;
    const digests = await markDigestsUnknown(tx);
    await discardReports(tx, context.now());
    const body = { by: 'signalbox', signs, changes: given, digests };
    await appendEvent(tx, context.auditKey, { kind: 'restored', at: context.now(), body });
    return true;
  });
  if (isOurs) await tell(context, given);
}

/** Names what was found, so that it is acted on once. */
async function signsOfRestore(context: DecisionContext): Promise<readonly string[]> {
  const announced = await announcedRestore(context.database.db);
  const signs = announced ? [`announced ${announced}`] : [];
  for (const anchor of await anchorsOutside(context)) {
    if (!(await isKnown(context, anchor))) signs.push(anchorText(anchor));
  }
  return signs;
}

async function anchorsOutside(context: DecisionContext): Promise<readonly Head[]> {
  const beside = context.database.checkpoint?.read() ?? null;
  const posted = await lastAnchor(context.messenger);
  if (!posted.ok) {
    const said = 'the last anchor in the audit channel could not be read; see docs/operating.md';
    context.log.warn({ why: posted.why }, said);
  }
  return [beside, posted.ok ? posted.head : null].filter((anchor) => anchor !== null);
}

/** Not only older: a copy that has gone on since has other events under the same numbers. */
async function isKnown({ database }: DecisionContext, { seq, hash }: Head): Promise<boolean> {
  const end = await auditHead(database.db);
  if (end.seq < seq) return false;
  if (seq === 0) return true;
  const [event] = await listEvents(database.db, { afterSeq: seq - 1, limit: 1 });
  return event?.hash === hash;
}

async function distrustAll(context: DecisionContext): Promise<readonly ChangeId[]> {
  const open = () => listChanges(context.database.db, { states: OPEN, limit: AT_ONCE });
  return eachOnce(open, ({ id }) => distrustOne(context, id));
}

// Whether it was taken back since, the copy cannot know.
async function leaveAll(context: DecisionContext): Promise<void> {
  const due = () => dueReverts(context.database.db, { limit: AT_ONCE });
  await eachOnce(due, (change) => stopRevert(context, change, 'restored'));
}

/** Until nothing is left that was not seen to; what stays all the same does not hold up the start. */
async function eachOnce(
  find: () => Promise<readonly Change[]>,
  see: (change: Change) => Promise<void>,
): Promise<readonly ChangeId[]> {
  const seen = new Set<ChangeId>();
  for (;;) {
    const fresh = (await find()).filter(({ id }) => !seen.has(id));
    if (fresh.length === 0) return [...seen];
    for (const change of fresh) {
      seen.add(change.id);
      await see(change);
    }
  }
}

async function distrustOne(context: DecisionContext, id: Change['id']): Promise<void> {
  await context.database.transaction(async (tx) => {
    const change = await lockChange(tx, id);
    const outcome = change && invalidateAfterRestore(change);
    if (!change || !outcome?.ok) return;
    await closeOpenPermits(tx, id);
    await unlockTarget(tx, id);
    await recordMove(tx, context, change, outcome.change, { kind: 'distrusted', by: 'signalbox' });
  });
}

async function tell(context: DecisionContext, given: readonly ChangeId[]): Promise<void> {
  context.log.warn({ changes: given }, 'the database was restored: what was open does not go on');
  const open =
    given.length === 0
      ? 'Nothing was open in it.'
      : `What was open in it does not go on (${given.length}); each card tells so. Look at what ` +
        'the targets are now before asking again.';
  const sentence = `The database is an older copy, or another one, than was noted last. ${open}`;
  await context.messenger.notifyOperators(sentence).catch((error: unknown) => {
    context.log.warn({ err: error }, 'nobody was told that the database was restored');
  });
}
