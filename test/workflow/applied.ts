import type { Change, ChangeId } from '../../src/domain/change.ts';
import { append, loadChange } from '../../src/log/index.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import { move } from '../../src/workflow/moves.ts';
import { type OwnEffect, ownEvents } from '../../src/workflow/own.ts';
import { aChange, type Example, loaded, NONCE } from './context.ts';

/** Records an approved change of Signalbox itself and its effect. */
export async function applied(context: WorkflowContext, example: Example): Promise<Change> {
  const { id } = await aChange(context, { ...example, state: 'approved' });
  const effect = await applyOwn(context, id);
  if (!effect.ok) throw new Error(effect.text);
  return loaded(context, id);
}

/** Appends the effect of an approved change with its outcome, as the claim does. */
export async function applyOwn(context: WorkflowContext, id: ChangeId): Promise<OwnEffect> {
  const { result } = await append<OwnEffect>(context.events, async (locked) => {
    const change = await loadChange(locked, id);
    if (!change) throw new Error(`There is no change ${id}`);
    const result = await ownEvents(context, locked, change);
    const call = { nonce: NONCE, answeredAt: new Date(locked.at), tookMs: 0, requestId: null };
    if (!result.ok) {
      const failed = { type: 'failed', ...call, status: null, text: result.text } as const;
      return { ...move(context, locked.at, change, failed), result };
    }
    const ended = { type: 'succeeded', ...call, reported: [] } as const;
    const { events, jobs } = move(context, locked.at, change, ended);
    return { events: [...result.events, ...events], jobs: [...result.jobs, ...jobs], result };
  });
  return result;
}
