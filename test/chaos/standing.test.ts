import { expect, test } from 'vitest';
import { ANA, FINN } from './sim/people.ts';
import { allowed } from './sim/scenarios.ts';
import { openSimulation } from './sim/simulation.ts';
import type { AfterRollback, Simulation } from './sim/simulation-types.ts';

async function stop(simulation: Simulation, by = FINN) {
  const asked = await simulation.ask(by, 'service stop', 'staging');
  if (asked.id) await simulation.press(by, 'confirm', asked.id);
  await simulation.work();
  return asked;
}

const OLDER = 'its card shows an older state';
/** Without CHAOS=long a sample; from 20 on, a restarted process finds nothing of the use in its log. */
const LOST = process.env.CHAOS === 'long' ? [1, 2, 3, 5, 8, 12, 20, 30] : [2, 8, 20];
const AFTER: readonly AfterRollback[] = ['no sign', 'connections end', 'restart'];
const CASES = AFTER.flatMap((then) => [true, false].map((isLate) => [then, isLate] as const));

test.for(CASES)(
  'a database that went back gives no use back that was sent: %s, card late %s',
  async ([then, isLate]) => {
    for (const commits of LOST) {
      const simulation = await openSimulation('file::memory:', { rollsBack: true });
      const id = await allowed(simulation, 1);
      const card = simulation.slack.cards.find(({ change }) => change === id) ?? expect.fail();
      const before = card.mark;
      const first = await stop(simulation);
      expect(first.standing).toBe(id);
      expect(simulation.server.deliveries()).toHaveLength(1);
      // The update of a slower process, which was drawn earlier: only the thread shows the use.
      if (isLate) card.mark = before;
      await simulation.rollBack(commits, then);
      await simulation.work();
      await stop(simulation, ANA);
      await simulation.settle();
      const wrong = (await simulation.wrong()).filter((each) => !isLate || !each.includes(OLDER));
      expect(wrong, `${commits} commits lost`).toEqual([]);
      expect(simulation.server.deliveries()).toHaveLength(1);
      await simulation.close();
    }
  },
);
