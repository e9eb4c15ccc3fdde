import { expect, test } from 'vitest';
import { STATES } from '../../src/domain/change.ts';
import { emptyUrl } from '../storage/engines.ts';
import { isReview, MOVES } from './sim/moves.ts';
import { walk } from './sim/walk.ts';

const RUNS = Number(process.env.RUNS ?? 16);
const ROLLBACK_RUNS = Number(process.env.RUNS ?? 7);
/** `ENGINE=postgres` runs the sequences with rollbacks on PostgreSQL. */
const ENGINE = process.env.ENGINE === 'postgres' ? 'postgres' : 'sqlite';
/** A failure prints the seed and the path for a replay. */
const { SEED } = process.env;
/** From this number of runs on, each transition must occur at least OFTEN times. */
const MANY_RUNS = 10_000;
const OFTEN = 100;

test('every promise holds in random sequences of users, servers and faults', {
  timeout: 0,
}, async () => {
  const { coverage, failure } = await walk(RUNS, Number(SEED ?? 1));
  expect(failure, failure ?? '').toBeNull();
  if (process.env.RUNS) process.stdout.write(`${JSON.stringify(coverage)}\n`);
  // The walks must reach the cases that they are to verify.
  expect(coverage.sent / coverage.runs).toBeGreaterThan(0.4);
  expect(coverage.unknown / coverage.runs).toBeGreaterThan(0.1);
  expect(coverage.takenOver).toBeGreaterThan(0);
  const taken = Object.keys(coverage.moves).filter((move) => !isReview(move));
  expect(taken.filter((move) => !(MOVES as readonly string[]).includes(move))).toEqual([]);
  const seldom = MOVES.filter((move) => (coverage.moves[move] ?? 0) < OFTEN);
  if (RUNS >= MANY_RUNS) expect(seldom).toEqual([]);
});

test('every promise holds in random sequences with rollbacks of the database', {
  timeout: 0,
}, async () => {
  const databaseUrl = async () => (ENGINE === 'sqlite' ? 'file::memory:' : emptyUrl(ENGINE));
  const { coverage, failure } = await walk(ROLLBACK_RUNS, Number(SEED ?? 20_261_130), {
    rollsBack: true,
    databaseUrl,
  });
  expect(failure, failure ?? '').toBeNull();
  if (process.env.RUNS) process.stdout.write(`${JSON.stringify(coverage)}\n`);
  if (process.env.CASE) return;
  expect(coverage.rollbacks / coverage.runs).toBeGreaterThan(1);
  expect(coverage.sentAfter / coverage.runs).toBeGreaterThan(0.4);
  expect(coverage.restored / coverage.runs).toBeGreaterThan(0.05);
});

test.for(STATES)('the walks can reach the state %s', (state) => {
  expect(MOVES.some((move) => move.includes(` → ${state},`))).toBe(true);
});
