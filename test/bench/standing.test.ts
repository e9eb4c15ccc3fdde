import { expect, test } from 'vitest';
import { replay } from '../../bench/standing.ts';
import { quarter } from '../../bench/standing-quarter.ts';

test('a seeded quarter has a hundred requests per day, the same for the same seed, and the share of repeats', () => {
  const made = quarter({ seed: 7, days: 14, repeats: 0.5 });
  expect(quarter({ seed: 7, days: 14, repeats: 0.5 })).toEqual(made);
  expect(made.services).toHaveLength(20);
  const requests = made.events.flatMap((event) => (event.kind === 'request' ? [event] : []));
  expect(requests).toHaveLength(1_400);
  const repeated = requests.filter(({ habit }) => habit !== null).length / requests.length;
  expect(repeated).toBeCloseTo(0.5, 1);
});

test('two weeks with standing approvals ask approvers less often, and break no rule', () => {
  const { broken, cardsWith, cardsWithout, uses, standing, refused } = replay({
    ...{ seed: 7, days: 14, repeats: 0.5 },
  });
  expect(broken).toEqual([]);
  expect(uses).toBeGreaterThan(300);
  expect(cardsWith).toBeLessThan(cardsWithout * 0.8);
  expect(standing).toBeGreaterThan(20);
  // What happens around the requests is met by the gate.
  expect(Object.keys(refused)).toEqual(
    expect.arrayContaining(['not-covered', 'lookup-failed', 'frozen', 'agent-not-admitted']),
  );
});

test('the rules of the replay find what a gate that covers everything would do', () => {
  const { broken } = replay({ seed: 7, days: 28, repeats: 0.5, withoutGate: true });
  const found = [...new Set(broken)].toSorted();
  expect(found).toEqual(
    expect.arrayContaining([
      ...['after its end', 'after its revocation', 'more often than agreed', 'more than agreed'],
      ...['during a freeze', 'by an agent that may not', 'without enough approvers'],
      'without knowing who the approvers are',
    ]),
  );
});
