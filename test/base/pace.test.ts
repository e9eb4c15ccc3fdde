import { expect, test } from 'vitest';
import { createPace } from '../../src/base/http-limits.ts';

/** The times at which `calls` calls start that are all made at once. */
async function starts(calls: number, replicas: number): Promise<readonly number[]> {
  const sleep = async (ms: number) => {
    slept.push(ms);
  };
  const slept: number[] = [];
  const pace = createPace({ burst: 6, everyMs: 4_700 }, { now: () => 0, sleep });
  pace.share(replicas);
  for (let call = 0; call < calls; call += 1) await pace.turn();
  return [...Array.from({ length: calls - slept.length }, () => 0), ...slept];
}

test.for([
  [1, [0, 0, 0, 0, 0, 0, 4_700, 9_400]],
  [3, [0, 0, 14_100, 28_200]],
  [10, [0, 47_000, 94_000]],
] as const)('with %i replicas the calls start at %j', async ([replicas, expected]) => {
  expect(await starts(expected.length, replicas)).toEqual(expected);
});
