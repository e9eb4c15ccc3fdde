import { during, note, traced } from '../../base/log.ts';
import type { ChangeId } from '../../domain/change.ts';
import { dueClaims } from '../../log/old/change-due.ts';
import { createBackoff } from './backoff.ts';
import { deliver } from './deliver.ts';
import { execute } from './execute.ts';
import { handleInbox } from './handle-inbox.ts';
import type { WorkflowContext } from './ports.ts';
import { createReadPatience } from './read-target.ts';
import { expireDue, recover, stopOutdated } from './recover.ts';
import { createRevertPlanner } from './reverts.ts';
import { createScheduleRunner } from './run-schedules.ts';
import type { BackgroundLoops } from './scheduler.ts';

/** About as many as a hanging API lets start before their requests time out. */
const EXECUTIONS_AT_ONCE = 40;
const RETRY_AFTER_MS = 10_000;

interface WorkflowLoops {
  readonly loops: BackgroundLoops;
  /** Resolves when all started executions have ended. To be called after the scheduler stopped. */
  readonly drain: () => Promise<void>;
}

/** The background work of the workflow: clicks, messages, expiry, recovery, executions, reverts. */
export function workflowLoops(context: WorkflowContext): WorkflowLoops {
  const executions = executionsOf(context);
  const loops = {
    woken: {
      handleInbox: () => handleInbox(context),
      deliver: () => deliver(context),
      executeDue: executions.startDue,
      planReverts: createRevertPlanner(context),
    },
    timed: {
      expireDue: () => expireDue(context),
      stopOutdated: () => stopOutdated(context),
      recover: () => recover(context),
      runSchedules: createScheduleRunner(context),
    },
  };
  return { loops, drain: executions.drain };
}

/** A pass does not wait for executions: one request may take 40 s, and others are due meanwhile. */
function executionsOf(context: WorkflowContext) {
  const running = new Map<ChangeId, Promise<void>>();
  const backoff = createBackoff(RETRY_AFTER_MS);
  const patience = createReadPatience();

  const run = async (id: ChangeId) => {
    // Counted from the start of the attempt: a slow attempt does not wait longer than a fast one.
    const began = context.now();
    try {
      const executed = await execute(context, id, patience);
      note({ 'signalbox.executed': executed });
      if (executed === 'later') backoff.postpone(id, began);
      else backoff.clear(id);
    } catch (error) {
      backoff.postpone(id, began);
      note({ 'error.type': 'failed' });
      context.log.error({ err: error, change: id }, 'execution failed; it is tried again');
    } finally {
      running.delete(id);
      context.wake();
    }
  };
  const begin = (id: ChangeId) => {
    const work = { name: 'execute', kind: 'consumer', facts: { 'signalbox.change': id } } as const;
    return during({ change: id }, () => traced(work, () => run(id)));
  };
  const startDue = async (): Promise<number> => {
    const now = context.now();
    const page = { limit: EXECUTIONS_AT_ONCE, except: backoff.postponed(now) };
    const due = await dueClaims(context.database.db, now, page);
    const idle = due.filter((id) => !running.has(id));
    const places = EXECUTIONS_AT_ONCE - running.size;
    for (const id of idle.slice(0, places)) running.set(id, begin(id));
    // Each execution wakes the loops when it ends.
    return 0;
  };
  return { startDue, drain: async () => void (await Promise.all(running.values())) };
}
