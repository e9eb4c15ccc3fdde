import { expect, test } from 'vitest';
import { emptyUrl } from '../storage/engines.ts';
import { runChaos } from './processes/replicas.ts';

const LONG = process.env.CHAOS === 'long';
const CHANGES = LONG ? 500 : 12;
const KILLS = LONG ? 20 : 1;

test('with three replicas, 20 approvers, faults and crashes, each change is executed at most once', {
  timeout: LONG ? 3_600_000 : 180_000,
}, async () => {
  const databaseUrl = await emptyUrl('postgres');
  const seed = process.env.SEED ?? 'a tuesday';
  const outcome = await runChaos({ databaseUrl, changes: CHANGES, kills: KILLS, seed });
  if (LONG)
    process.stdout.write(`${JSON.stringify({ ...outcome, wrong: outcome.wrong.length })}\n`);
  expect(outcome.wrong, outcome.wrong.join('\n')).toEqual([]);
  expect(outcome.killed).toBe(KILLS);
  expect(outcome.sent).toBeGreaterThan(0);
});
