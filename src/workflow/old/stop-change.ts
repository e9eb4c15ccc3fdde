import type { JsonObject } from '../../base/text.ts';
import type { BlockingFreeze, Change, Refusal, StateCheck } from '../../domain/change.ts';
import { stop } from '../../domain/decide.ts';
import type { Freeze } from '../../domain/policy.ts';
import type { Tx } from '../../storage/old/database.ts';
import type { DecisionContext } from './ports.ts';
import { assertMoved, recordMove } from './record.ts';

/** The request no longer fits its target; any other refusal is about permissions. */
const STALE: readonly Refusal[] = ['target-changed', 'tags-changed', 'not-verified', 'upgraded'];

export interface StopReason {
  readonly why: Refusal;
  readonly freeze?: Freeze | undefined;
  /** How the target differs from the preview. */
  readonly stateCheck?: StateCheck | undefined;
  readonly facts?: JsonObject;
}

/** Ends a change that was not sent, with its reason, and returns it. */
export async function stopChange(
  tx: Tx,
  context: DecisionContext,
  change: Change,
  { why, freeze, stateCheck, facts }: StopReason,
): Promise<Change> {
  if (why === 'audit-mismatch') {
    context.log.error(
      { change: change.id },
      'change does not match the audit trail; it is stopped',
    );
  }
  // A draft has no card, so that there is nobody else to read why it was denied.
  const state = STALE.includes(why) || change.state === 'draft' ? 'stale' : 'denied';
  const found = {
    ...(freeze && { frozenBy: frozenBy(freeze) }),
    ...(stateCheck && { stateCheck }),
  };
  const stopped = assertMoved(stop(change, state, why, found));
  const frozen = freeze && { freeze: freeze.made?.id ?? freeze.reason };
  const all = { refusal: why, ...frozen, ...differenceFacts(stateCheck), ...facts };
  await recordMove(tx, context, change, stopped, { kind: state, by: 'signalbox', facts: all });
  return stopped;
}

/** For the audit event: `Memory per replica: 16–64 GB → 32–64 GB`. */
function differenceFacts(check: StateCheck | undefined): JsonObject {
  if (check?.kind !== 'differs' || check.differences.length === 0) return {};
  return { differences: check.differences.map(({ label, was, is }) => `${label}: ${was} → ${is}`) };
}

function frozenBy({ until, reason, by, made }: Freeze): BlockingFreeze {
  return { until, reason, by, ...(made && { made }) };
}
