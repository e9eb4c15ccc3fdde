import type { Change, ChangeId, UserId, Verdict } from '../../domain/change.ts';
import { compileOnce } from '../../storage/old/compile-once.ts';
import { toText } from '../../storage/old/portable.ts';
import type { ApprovalTable, Tx } from '../../storage/old/schema.ts';
import type { Statement } from '../../storage/old/together.ts';

/** Another transaction was first. This one rolls back, and its caller reads the change again. */
export class OptimisticLockError extends Error {
  override readonly name = 'OptimisticLockError';
}

interface NewVerdict {
  readonly row: ApprovalTable;
  /** Returns no rows for a rejection by a user whose earlier approval keeps its row. */
  readonly insert: Statement<Pick<ApprovalTable, 'person'>>;
}

/** Returns the verdicts of a change that it had not before its move, with the statements that store them. */
export function newVerdicts(
  tx: Tx,
  before: Change | null,
  after: Change,
  source: string,
): readonly NewVerdict[] {
  const approvals = after.approvals.slice(before?.approvals.length ?? 0).map((approval) => {
    const row = verdictRow(after, approval, 'approved', source);
    return { row, insert: { ...insertOf(tx, row), check: refuseSecond(row) } };
  });
  const { rejection } = after;
  if (!rejection || before?.rejection) return approvals;
  // The change itself stores the rejection.
  const row = verdictRow(after, rejection, 'rejected', source);
  return [...approvals, { row, insert: insertOf(tx, row) }];
}

function refuseSecond({ person, change_id }: ApprovalTable) {
  return (inserted: readonly unknown[]) => {
    if (inserted.length > 0) return;
    throw new OptimisticLockError(`${person} already decided on change ${change_id}`);
  };
}

function verdictRow(
  { id, digest }: Change,
  { by, at }: Verdict,
  decision: ApprovalTable['decision'],
  source: string,
): ApprovalTable {
  return { change_id: id, person: by, decision, digest, at: toText(at), source };
}

function insertOf(tx: Tx, row: ApprovalTable): NewVerdict['insert'] {
  const { change_id, person, decision, digest, at, source } = row;
  return insertRow.with(tx, change_id, person, decision, digest, at, source);
}

type VerdictValues = [ChangeId, UserId, ApprovalTable['decision'], string, string, string];

const insertRow = compileOnce(
  (tx: Tx, ...[change_id, person, decision, digest, at, source]: VerdictValues) =>
    tx
      .insertInto('approval')
      .values({ change_id, person, decision, digest, at, source })
      .onConflict((conflict) => conflict.doNothing())
      .returning('person'),
);
