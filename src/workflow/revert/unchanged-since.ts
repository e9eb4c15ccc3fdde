import { type Change, targetKey } from '../../changes/change.ts';
import { hasTargetChangedSinceEnd } from '../../storage/tables/changes/permits.ts';
import type { WorkflowContext } from '../ports.ts';

/**
 * Whether a target still is as a change left it, as far as anybody can say: nothing else of ours
 * ran since, and where it can be read, it holds what was sent. Throws where that read fails.
 */
export async function isUnchangedSince(context: WorkflowContext, change: Change): Promise<boolean> {
  const { target, body } = change.plan;
  if (await hasTargetChangedSinceEnd(context.database.db, targetKey(target), change)) return false;
  const settle = context.commands.get(change.command)?.verifyOutcome;
  return settle ? (await settle(target, body, context.commandContext(), change)) !== null : true;
}
