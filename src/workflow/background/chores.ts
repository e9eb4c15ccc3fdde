import { tellEffects } from '../../cost-effect/effect-notice.ts';
import { traced } from '../../observability/trace.ts';
import type { World } from '../ports.ts';
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
  world: World,
  costs: Parameters<typeof tellEffects>[1],
  more: readonly Chore[] = [],
) {
  const learn = () => learnFromUsage(world).then(world.learned);
  const measure = () => tellEffects(world, costs);
  const chores = [
    { name: 'learn', work: learn, everyMs: LEARN_EVERY_MS },
    { name: 'tidy', work: () => tidy(world), everyMs: TIDY_EVERY_MS },
    { name: 'measure', work: measure, everyMs: MEASURE_EVERY_MS },
    ...more,
  ].map(({ name, work, everyMs }) => {
    const run = () =>
      traced<unknown>({ name: `chore ${name}` }, work).catch((error: unknown) => {
        world.log.warn({ err: error }, 'a chore was not done this time');
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
