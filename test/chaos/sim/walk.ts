import fc from 'fast-check';
import type { Change } from '../../../src/domain/change.ts';
import { foldOf } from '../../../src/domain/fold.ts';
import { type Log, listChanges } from '../../../src/log/index.ts';
import { isTakenOver } from './at-the-end.ts';
import { logOf } from './bot.ts';
import { sequences } from './model.ts';
import { openSimulation } from './simulation.ts';
import type { Simulation } from './simulation-types.ts';

/** Which cases the sequences reached: a property that never reaches a fault proves nothing. */
export interface Coverage {
  runs: number;
  steps: number;
  sent: number;
  unknown: number;
  takenOver: number;
  crashed: number;
  refused: number;
  timed: number;
  breakGlass: number;
  rollbacks: number;
  /** Requests after a rollback. */
  sentAfter: number;
  /** Changes of which a rollback lost an event, and those that ended because of it. */
  lost: number;
  restored: number;
  deleted: number;
  /** Changes that were confirmed by a standing approval, and those that were sent. */
  used: number;
  usedAndSent: number;
  /** The number of transitions by states and audit event. */
  moves: Record<string, number>;
}

export interface WalkResult {
  readonly coverage: Coverage;
  readonly failure: string | null;
}

const STEPS_AT_MOST = 40;
/** Finding the shortest sequence takes minutes, which a seeded defect is not worth. */
const isQuick = process.env.SIGNALBOX_DEFECT !== undefined || process.env.QUICK !== undefined;

interface WalkOptions {
  readonly rollsBack?: boolean;
  readonly databaseUrl?: () => Promise<string>;
}

/** Runs random sequences, and checks all promises after each one. */
export async function walk(
  runs: number,
  seed: number,
  { rollsBack = false, databaseUrl = async () => 'file::memory:' }: WalkOptions = {},
): Promise<WalkResult> {
  const coverage: Coverage = {
    ...{ runs: 0, steps: 0, sent: 0, unknown: 0, takenOver: 0, crashed: 0, refused: 0 },
    ...{ timed: 0, breakGlass: 0, moves: {} },
    ...{ rollbacks: 0, sentAfter: 0, lost: 0, restored: 0, deleted: 0 },
    ...{ used: 0, usedAndSent: 0 },
  };
  const property = fc.asyncProperty(sequences(STEPS_AT_MOST, { rollsBack }), async (steps) => {
    const simulation = await openSimulation(await databaseUrl(), { rollsBack });
    try {
      await fc.asyncModelRun(() => ({ model: { asked: 0 }, real: simulation }), steps);
      await simulation.settle();
      const wrong = await simulation.wrong();
      await note(coverage, simulation, [...steps].length);
      if (wrong.length > 0) throw new Error(wrong.join('\n'));
    } finally {
      await simulation.close();
    }
  });
  const checked = await fc.check(property, {
    numRuns: runs,
    seed,
    endOnFailure: isQuick,
    ...(process.env.CASE && { path: process.env.CASE }),
  });
  return { coverage, failure: checked.failed ? reportOf(checked) : null };
}

function reportOf<T>(checked: fc.RunDetails<T>): string {
  return `${fc.defaultReportMessage(checked)}\n${checked.errorInstance instanceof Error ? checked.errorInstance.stack : checked.errorInstance}`;
}

async function note(coverage: Coverage, simulation: Simulation, steps: number): Promise<void> {
  const log = await logOf(simulation.around.store);
  const changes = await listChanges(log, { limit: 1_000 });
  const has = (found: boolean) => (found ? 1 : 0);
  coverage.runs += 1;
  coverage.steps += steps;
  coverage.sent += has(simulation.server.deliveries().length > 0);
  coverage.unknown += has(changes.some(({ outcome: ending }) => ending?.how === 'unknown'));
  coverage.takenOver += has(changes.some(isTakenOver));
  coverage.crashed += has(simulation.counts.crashes > 0);
  const ran = changes.filter(({ outcome: ending }) => ending !== null);
  coverage.timed += has(ran.some(({ plan }) => Boolean(plan.timing?.startAt)));
  coverage.breakGlass += has(ran.some(({ breakGlass }) => breakGlass !== null));
  coverage.refused += has(simulation.slack.told.some(({ ok }) => !ok));
  const { rollbacks } = simulation.counts;
  coverage.rollbacks += rollbacks.length;
  coverage.sentAfter +=
    rollbacks.length > 0 ? simulation.server.deliveries().length - (rollbacks[0] ?? 0) : 0;
  coverage.lost += simulation.lost.size;
  coverage.restored += changes.filter(({ stopReason }) => stopReason === 'restored').length;
  const uses = changes.filter(({ standing, confirmedAt }) => standing && confirmedAt);
  coverage.used += uses.length;
  coverage.usedAndSent += uses.filter(({ outcome }) => outcome !== null).length;
  coverage.deleted += simulation.slack.cards.filter(({ isDeleted }) => isDeleted).length;
  for (const { id } of changes) await noteMoves(coverage, log, id);
}

/** Counts the events that a change went through. */
async function noteMoves({ moves }: Coverage, log: Log, id: Change['id']): Promise<void> {
  const fold = foldOf(id);
  type Passed = { readonly change: Change; readonly moves: readonly string[] };
  const { state } = await log.load(`change/${id}`, (before: Passed | null, event): Passed => {
    const change = fold(before?.change ?? null, event);
    const move = `${before?.change.state ?? 'nothing'} → ${change.state}, ${event.type}`;
    return { change, moves: [...(before?.moves ?? []), move] };
  });
  for (const move of state?.moves ?? []) moves[move] = (moves[move] ?? 0) + 1;
}
