import { expect, test } from 'vitest';
import { ENGINES, freshUrl } from '../storage/engines.ts';
import { FAULTS, play, STEPS } from './processes/crash-case.ts';
import { CALLS } from './processes/driver.ts';

const ALL = Object.values(CALLS).flatMap((call) =>
  ENGINES.flatMap((engine) =>
    FAULTS.flatMap((fault) => STEPS.map((step) => ({ call, engine, fault, step }))),
  ),
);
// No divisor of any side of the table, so that the few cases come from everywhere in it.
const EVERY = process.env.CHAOS === 'long' ? 1 : 83;
const CASES = ALL.filter((_, index) => index % EVERY === 0);

test.for(CASES)(
  'killed $step, $call.operation on $engine, the server: $fault',
  { timeout: 120_000 },
  async ({ engine, ...one }) => {
    const { died, wrong } = await play(await freshUrl(engine), one);
    expect(wrong, wrong.join()).toEqual([]);
    expect(died).toBe(true);
  },
);
