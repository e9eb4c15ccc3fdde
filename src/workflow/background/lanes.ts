import type { ChangeId } from '../../changes/change.ts';
import { during } from '../../observability/log.ts';
import { apart, note, traced } from '../../observability/trace.ts';
import { dueToClaim } from '../../storage/tables/changes/change-due.ts';
import { execute } from '../execute/execute.ts';
import { expireDue, recover } from '../execute/recover.ts';
import { deliver } from '../notify/deliver.ts';
import type { WorkflowContext } from '../ports.ts';
import { returnsOf } from '../revert/reverts.ts';
import { handleInbox } from '../review/handle-inbox.ts';
import { stillBackingOff } from './backoff.ts';

/**
 * Work that waits in the database; each tells how much it found. A lane runs alone, so that a slow
 * one holds up no other, and what one has done may be work for the next.
 */
const LANES = { handleInbox, deliver, expireDue, recover };

/** About as many as an API that hangs lets start before it is given up. */
const EXECUTIONS_AT_ONCE = 40;
const AGAIN_AFTER_MS = 10_000;

export interface Lanes {
  /** Looks at every lane soon; calling it often costs one more look. */
  readonly wake: () => void;
  /** No new work; what is under way is finished first. */
  readonly stop: () => Promise<void>;
}

/** Work of another room that is done in a lane as well. */
export type MoreLanes = Readonly<Record<string, (context: WorkflowContext) => Promise<number>>>;

export function startLanes(context: WorkflowContext, everyMs: number, more: MoreLanes = {}): Lanes {
  const executions = executionsOf(context);
  const own = { executeDue: executions.startDue, planReturns: returnsOf() };
  const all = { ...LANES, ...own, ...more };
  const lanes = Object.entries(all).map(([name, work]) => lane(context, name, work));
  const wake = () => {
    for (const { wake: wakeOne } of lanes) wakeOne();
  };
  const timer = setInterval(wake, everyMs);
  wake();
  return {
    wake,
    stop: async () => {
      clearInterval(timer);
      await Promise.all(lanes.map(({ stop }) => stop()));
      await executions.finished();
    },
  };
}

/** One pass at a time; a wake during a pass means exactly one more. */
function lane(
  context: WorkflowContext,
  name: string,
  work: (context: WorkflowContext) => Promise<number>,
): Lanes {
  let running: Promise<void> | null = null;
  let again = false;
  let stopped = false;
  let told: string | null = null;

  // Once a second for as long as the database is away, it would bury whatever else is said.
  const tell = (error: unknown) => {
    const level = String(error) === told ? 'debug' : 'error';
    told = String(error);
    context.log[level]({ err: error, lane: name }, 'a pass failed and is tried again');
    return 0;
  };
  const well = (found: number) => {
    if (told !== null) context.log.info({ lane: name }, 'passes go on');
    told = null;
    return found;
  };
  const pass = async () => {
    do {
      again = false;
      const found = await work(context).then(well, tell);
      if (found > 0) context.wake();
    } while (again && !stopped);
  };
  const wake = () => {
    again = true;
    if (running || stopped) return;
    // Whoever woke it is not whom its work is about.
    running = apart(() => during({}, pass)).finally(() => {
      running = null;
    });
  };
  const stop = async () => {
    stopped = true;
    await running;
  };
  return { wake, stop };
}

function executionOf(id: ChangeId) {
  return { name: 'execute', kind: 'consumer', facts: { 'signalbox.change': id } } as const;
}

/** A send may take its 40 seconds: it is not waited for, so that the next one starts at once. */
function executionsOf(context: WorkflowContext) {
  const running = new Map<ChangeId, Promise<void>>();
  // Only a brake on asking Slack again and again; whether a change may run is not decided here.
  const later = new Map<ChangeId, number>();

  const run = async (id: ChangeId) => {
    // From the start of a try: what was answered slowly is as old as its question.
    const again = context.now().getTime() + AGAIN_AFTER_MS;
    try {
      const executed = await execute(context, id);
      note({ 'signalbox.executed': executed });
      if (executed === 'later') later.set(id, again);
      else later.delete(id);
    } catch (error) {
      later.set(id, again);
      note({ 'error.type': 'failed' });
      context.log.error({ err: error, change: id }, 'an execution failed');
    } finally {
      running.delete(id);
      context.wake();
    }
  };
  const begin = (id: ChangeId) =>
    during({ change: id }, () => traced(executionOf(id), () => run(id)));
  const startDue = async (): Promise<number> => {
    const now = context.now();
    const pass = { limit: EXECUTIONS_AT_ONCE, except: stillBackingOff(later, now.getTime()) };
    const due = await dueToClaim(context.database.db, now, pass);
    const free = due.filter((id) => !running.has(id));
    const places = EXECUTIONS_AT_ONCE - running.size;
    for (const id of free.slice(0, places)) running.set(id, begin(id));
    // Each wakes the lanes when it ends.
    return 0;
  };
  return { startDue, finished: async () => void (await Promise.all(running.values())) };
}
