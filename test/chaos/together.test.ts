import { expect, test } from 'vitest';
import { ENGINES, emptyUrl } from '../storage/engines.ts';
import { ANA, BEN, CLEO, FINN, GUS } from './sim/people.ts';
import { openSimulation } from './sim/simulation.ts';
import type { Simulation } from './sim/simulation-types.ts';

const LONG = process.env.CHAOS === 'long';
const ROUNDS = LONG ? 100 : 8;
const MINUTE_MS = 60_000;

/** Two changes of one name are approved by three users while two processes work. */
async function round(simulation: Simulation, thing: string): Promise<void> {
  const asked = [
    await simulation.ask(ANA, 'service scale', thing),
    await simulation.ask(FINN, 'service create', thing),
  ];
  for (const { id, by } of asked) if (id) await simulation.press(by, 'confirm', id);
  await simulation.workTogether();
  for (const { id } of asked) {
    for (const by of [BEN, CLEO, GUS]) if (id) await simulation.press(by, 'approve', id, 2);
  }
  await simulation.workTogether();
}

test.for(ENGINES)(
  'two processes at once send each change once (%s)',
  {
    timeout: LONG ? 600_000 : 180_000,
  },
  async (engine) => {
    const simulation = await openSimulation(await emptyUrl(engine));
    for (let each = 0; each < ROUNDS; each += 1) {
      await round(simulation, `thing-${each}`);
      // Stays below the rate limit per user.
      simulation.pass(MINUTE_MS);
    }
    await simulation.workTogether();
    await simulation.settle();
    const wrong = await simulation.wrong();
    expect(wrong, wrong.join()).toEqual([]);
    expect(simulation.server.deliveries()).toHaveLength(2 * ROUNDS);
    await simulation.close();
  },
);
