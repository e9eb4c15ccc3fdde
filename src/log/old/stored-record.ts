import type { Change, ChangeId } from '../../domain/change.ts';
import type { ApprovalTable, ChangeTable } from '../../storage/old/schema.ts';
import type { VersionEvent } from './version-events.ts';

/** The row of a change and its verdicts, as they are stored. */
export interface StoredRecord {
  readonly row: ChangeTable;
  readonly verdicts: readonly ApprovalTable[];
}

/** A change and the record from which it was read, in one statement. */
export interface StoredChange {
  readonly change: Change;
  readonly record: StoredRecord;
}

/** A stored change with the audit events of its versions, which were read right after it. */
export interface VerifiableChange extends StoredChange {
  readonly events: readonly VersionEvent[];
}

/** The columns of a joined verdict. Two have another name, because the change has the same columns. */
export const VERDICT_COLUMNS = [
  'verdict.person',
  'verdict.decision',
  'verdict.source',
  'verdict.digest as verdict_digest',
  'verdict.at as verdict_at',
] as const;

interface JoinedVerdict {
  readonly id: ChangeId;
  readonly person: ApprovalTable['person'] | null;
  readonly decision: ApprovalTable['decision'] | null;
  readonly source: string | null;
  readonly verdict_digest: string | null;
  readonly verdict_at: string | null;
}

/** Returns the record of a change from its joined rows. The first one has no columns of other tables. */
export function recordFrom(
  first: ChangeTable & JoinedVerdict,
  rows: readonly JoinedVerdict[],
): StoredRecord {
  const { person, decision, source, verdict_digest, verdict_at, ...row } = first;
  return { row, verdicts: rows.flatMap(verdictFrom) };
}

function verdictFrom(row: JoinedVerdict): ApprovalTable[] {
  const { id: change_id, person, decision, source, verdict_digest: digest, verdict_at: at } = row;
  if (person === null || decision === null || source === null) return [];
  if (digest === null || at === null) return [];
  return [{ change_id, person, decision, digest, at, source }];
}
