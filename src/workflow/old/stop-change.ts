import type { JsonObject } from '../../base/text.ts';
import type { Change, StateCheck } from '../../domain/change.ts';
import type { Stopped } from '../../domain/fold.ts';
import type { Tx } from '../../storage/old/database.ts';
import type { DecisionContext } from './ports.ts';
import { recordMove } from './record.ts';

/** Ends a change that was not sent, with its reason, and returns it. */
export async function stopChange(
  tx: Tx,
  context: DecisionContext,
  change: Change,
  end: Stopped,
  facts: JsonObject = {},
): Promise<Change> {
  const { as, why, frozenBy, stateCheck } = end;
  if (why === 'audit-mismatch') {
    context.log.error(
      { change: change.id },
      'change does not match the audit trail; it is stopped',
    );
  }
  const frozen = frozenBy && { freeze: frozenBy.made?.id ?? frozenBy.reason };
  const all = { refusal: why, ...frozen, ...differenceFacts(stateCheck), ...facts };
  return recordMove(tx, context, change, end, { kind: as, by: 'signalbox', facts: all });
}

/** For the audit event: `Memory per replica: 16–64 GB → 32–64 GB`. */
function differenceFacts(check: StateCheck | undefined): JsonObject {
  if (check?.kind !== 'differs' || check.differences.length === 0) return {};
  return { differences: check.differences.map(({ label, was, is }) => `${label}: ${was} → ${is}`) };
}
