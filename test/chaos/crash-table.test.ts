import { expect, test } from 'vitest';
import { ENGINES, emptyUrl } from '../storage/engines.ts';
import { FAULTS, play, STEPS } from './processes/crash-case.ts';
import { CALLS } from './processes/driver.ts';

const ALL = Object.values(CALLS).flatMap((call) =>
  ENGINES.flatMap((engine) =>
    FAULTS.flatMap((fault) => STEPS.map((step) => ({ call, engine, fault, step }))),
  ),
);
// The sample kills around the confirmation, the card, the approval, the claim, the outcome, and the card that shows it.
const isLong = process.env.CHAOS === 'long';
const CASES = ALL.filter((_, index) => isLong || index % 108 === 88);

test.for(CASES)(
  'a process killed $step, $call.operation on $engine, server reply: $fault',
  async ({ engine, ...one }) => {
    const { crashed, wrong } = await play(await emptyUrl(engine), one);
    expect(wrong, wrong.join()).toEqual([]);
    // On a loaded machine the second and the third drawing of a card become one.
    if (one.step !== 'before job card 3') expect(crashed).toBe(true);
  },
);
