import { expect, test } from 'vitest';
import { walk } from './sim/walk.ts';

const RUNS = Number(process.env.RUNS ?? 200);
/** A failure says which seed and path to play again. */
const SEED = Number(process.env.SEED ?? 20_261_121);

test('whatever people, servers and fate do, every promise holds', { timeout: 0 }, async () => {
  const { reach, failure } = await walk(RUNS, SEED);
  expect(failure, failure ?? '').toBeNull();
  if (process.env.RUNS) process.stdout.write(`${JSON.stringify(reach)}\n`);
  // The walks must meet what they are to prove something about.
  expect(reach.sent / reach.runs).toBeGreaterThan(0.4);
  expect(reach.unknown / reach.runs).toBeGreaterThan(0.1);
  expect(reach.takenOver).toBeGreaterThan(0);
});
