import fc from 'fast-check';
import { listEvents } from '../../../src/storage/audit/append.ts';
import { listChanges } from '../../../src/storage/tables/changes/change-lists.ts';
import { isTakenOver } from './at-the-end.ts';
import { sequences } from './model.ts';
import { openTheatre } from './theatre.ts';
import type { Theatre } from './theatre-types.ts';

/** How far the sequences came: a property that never meets the danger proves nothing. */
export interface Reach {
  runs: number;
  steps: number;
  sent: number;
  unknown: number;
  takenOver: number;
  crashed: number;
  refused: number;
  timed: number;
  glass: number;
  /** How often a change went from one state to another, and by which deed. */
  moves: Record<string, number>;
}

export interface Walked {
  readonly reach: Reach;
  readonly failure: string | null;
}

const STEPS_AT_MOST = 40;

/** Walks at random through what can happen, and judges at the end of every walk. */
export async function walk(runs: number, seed: number): Promise<Walked> {
  const reach: Reach = {
    ...{ runs: 0, steps: 0, sent: 0, unknown: 0, takenOver: 0, crashed: 0, refused: 0 },
    ...{ timed: 0, glass: 0, moves: {} },
  };
  const property = fc.asyncProperty(sequences(STEPS_AT_MOST), async (steps) => {
    const theatre = await openTheatre();
    try {
      await fc.asyncModelRun(() => ({ model: { asked: 0 }, real: theatre }), steps);
      await theatre.calm();
      const wrong = await theatre.wrong();
      await note(reach, theatre, [...steps].length);
      if (wrong.length > 0) throw new Error(wrong.join('\n'));
    } finally {
      await theatre.close();
    }
  });
  const checked = await fc.check(property, { numRuns: runs, seed, endOnFailure: false });
  return { reach, failure: checked.failed ? reportOf(checked) : null };
}

function reportOf<T>(checked: fc.RunDetails<T>): string {
  return `${fc.defaultReportMessage(checked)}\n${checked.errorInstance}`;
}

async function note(reach: Reach, theatre: Theatre, steps: number): Promise<void> {
  const changes = await listChanges(theatre.around.database.db, { limit: 1_000 });
  const has = (found: boolean) => (found ? 1 : 0);
  reach.runs += 1;
  reach.steps += steps;
  reach.sent += has(theatre.server.deliveries().length > 0);
  reach.unknown += has(changes.some(({ outcome: ending }) => ending?.how === 'unknown'));
  reach.takenOver += has(changes.some(isTakenOver));
  reach.crashed += has(theatre.counts.crashes > 0);
  const ran = changes.filter(({ outcome: ending }) => ending !== null);
  reach.timed += has(ran.some(({ plan }) => Boolean(plan.timing?.startAt)));
  reach.glass += has(ran.some(({ breakGlass }) => breakGlass !== null));
  reach.refused += has(theatre.slack.told.some(({ ok }) => !ok));
  await noteMoves(reach, theatre);
}

async function noteMoves({ moves }: Reach, theatre: Theatre): Promise<void> {
  const trail = await listEvents(theatre.around.database.db, { afterSeq: 0, limit: 10_000 });
  for (const { from, to, kind } of trail.filter(({ version }) => version !== null)) {
    const move = `${from ?? 'nothing'} → ${to}, ${kind}`;
    moves[move] = (moves[move] ?? 0) + 1;
  }
}
