import { expect, test } from 'vitest';
import { STATES } from '../../src/changes/change.ts';
import { isReview, MOVES } from './sim/moves.ts';
import { walk } from './sim/walk.ts';

const RUNS = Number(process.env.RUNS ?? 200);
/** A failure says which seed and path to play again. */
const SEED = Number(process.env.SEED ?? 20_261_121);
/** So many walks are enough to ask for a hundred of everything. */
const MANY_RUNS = 10_000;
const OFTEN = 100;

test('whatever people, servers and fate do, every promise holds', { timeout: 0 }, async () => {
  const { reach, failure } = await walk(RUNS, SEED);
  expect(failure, failure ?? '').toBeNull();
  if (process.env.RUNS) process.stdout.write(`${JSON.stringify(reach)}\n`);
  // The walks must meet what they are to prove something about.
  expect(reach.sent / reach.runs).toBeGreaterThan(0.4);
  expect(reach.unknown / reach.runs).toBeGreaterThan(0.1);
  expect(reach.takenOver).toBeGreaterThan(0);
  const taken = Object.keys(reach.moves).filter((move) => !isReview(move));
  expect(taken.filter((move) => !(MOVES as readonly string[]).includes(move))).toEqual([]);
  const seldom = MOVES.filter((move) => (reach.moves[move] ?? 0) < OFTEN);
  if (RUNS >= MANY_RUNS) expect(seldom).toEqual([]);
});

test.for(STATES)('the walks are to reach %s', (state) => {
  expect(MOVES.some((move) => move.includes(` → ${state},`))).toBe(true);
});
