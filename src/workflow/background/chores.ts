import { postCostEffects } from '../../cost-effect/effect-notice.ts';
import { traced } from '../../observability/trace.ts';
import type { WorkflowContext } from '../ports.ts';
import { learnFromUsage } from './learn-from-usage.ts';
import { tidy } from './prune.ts';

const LEARN_EVERY_MS = 6 * 3_600_000;
const TIDY_EVERY_MS = 3_600_000;
const MEASURE_EVERY_MS = 3_600_000;

export interface Chore {
  readonly name: string;
  readonly work: () => Promise<void>;
  readonly everyMs: number;
}

/** What nobody waits for: names from the usage report, what has served its time, old effects. */
export function startChores(
  context: WorkflowContext,
  costs: Parameters<typeof postCostEffects>[1],
  more: readonly Chore[] = [],
) {
  const learn = () => learnFromUsage(context).then(context.refreshDirectory);
  const measure = () => postCostEffects(context, costs);
  const chores = [
    { name: 'learn', work: learn, everyMs: LEARN_EVERY_MS },
    { name: 'tidy', work: () => tidy(context), everyMs: TIDY_EVERY_MS },
    { name: 'measure', work: measure, everyMs: MEASURE_EVERY_MS },
    ...more,
  ].map(({ name, work, everyMs }) => {
    const run = () =>
      traced<unknown>({ name: `chore ${name}` }, work).catch((error: unknown) => {
        context.log.warn({ err: error }, 'a chore was not done this time');
      });
    const chore = { last: run() };
    const timer = setInterval(() => {
      chore.last = run();
    }, everyMs);
    return { timer, chore };
  });
  return {
    stop: async () => {
      for (const { timer } of chores) clearInterval(timer);
      await Promise.all(chores.map(({ chore }) => chore.last));
    },
  };
}
