import { expect, test } from 'vitest';
import { EXAMPLE, load } from './fixtures.ts';

function retentionOf(retention: string) {
  const loaded = load({}, { './signalbox.yaml': `${EXAMPLE}\nretention: ${retention}\n` });
  return loaded.ok ? loaded.config.retention : loaded.problems;
}

const DAY_MS = 86_400_000;

test('the retention of changes and costs is read in days', () => {
  expect(retentionOf('{ changes: 400d, costs: 800d }')).toEqual({
    changesMs: 400 * DAY_MS,
    costsMs: 800 * DAY_MS,
  });
  expect(retentionOf('{ changes: 90d }')).toEqual({ changesMs: 90 * DAY_MS, costsMs: null });
});

test('without a retention, nothing is ever old', () => {
  const loaded = load({}, { './signalbox.yaml': EXAMPLE });
  expect(loaded.ok && loaded.config.retention).toEqual({ changesMs: null, costsMs: null });
});

test('every wrong retention is named with the accepted values', () => {
  const wrong = (where: string, least: string) => ({
    ...{
      where,
      problem: 'must be a number of days',
      hint: `for example 400d, from ${least} to 3650d`,
    },
  });
  const problems = [wrong('retention.changes', '90d'), wrong('retention.costs', '120d')];
  expect(retentionOf('{ changes: 89d, costs: 119d }')).toEqual(problems);
});

test.for(['3651d', '0d', '400', '12h', 'forever'])('a retention of %s is refused', (text) => {
  expect(retentionOf(`{ changes: ${text} }`)).toMatchObject([{ where: 'retention.changes' }]);
});
