import { expect, test } from 'vitest';
import type { EndState } from '../../bench/soak/check-end-state.ts';
import { growthOf } from '../../bench/soak/memory.ts';
import { promises, type Soaked } from '../../bench/soak/report.ts';
import { emptyTally } from '../../bench/soak/user-actions.ts';

const fine: EndState = {
  endings: { succeeded: 1 },
  events: 9,
  lost: [],
  twice: [],
  contradicted: [],
  chain: [],
  unsent: 0,
};
const samples = Array.from({ length: 180 }, () => 200);
const soaked = (other: Partial<Soaked>): Soaked => {
  return { minutes: 30, samples, tally: emptyTally(), verdict: fine, died: false, ...other };
};
const broken = (all: Soaked) => promises(all).flatMap(({ label, kept }) => (kept ? [] : [label]));

test('a soak in which nothing went wrong has kept all promises', () => {
  expect(broken(soaked({}))).toEqual([]);
});

test.for<[string, Partial<Soaked>]>([
  ['memory, late to early', { samples: samples.map((mib, index) => mib + index) }],
  ['crashed', { died: true }],
  ['not acknowledged', { tally: { ...emptyTally(), unacknowledged: ['change.approve'] } }],
  ['unanswered', { tally: { ...emptyTally(), unanswered: ['cost'] } }],
  ['changes lost', { verdict: { ...fine, lost: ['7KQ2MX'] } }],
  ['executed twice', { verdict: { ...fine, twice: ['scale'] } }],
  ['otherwise than the server counted', { verdict: { ...fine, contradicted: ['scale'] } }],
  ['audit chain broken', { verdict: { ...fine, chain: ['broken at 4'] } }],
  ['waiting in the queues after a calm', { verdict: { ...fine, unsent: 1 } }],
])('a soak has broken its promise: %s', ([label, other]) => {
  expect(broken(soaked(other))).toEqual([label]);
});

test('memory is compared with what it was after five minutes, in a short soak after a sixth', () => {
  const rising = Array.from({ length: 180 }, (_, index) => index);
  expect(growthOf(rising, 30)).toEqual({ early: 29.5, late: 176.5, most: 179 });
  expect(growthOf(rising.slice(0, 54), 9)).toEqual({ early: 8.5, late: 50.5, most: 53 });
});
