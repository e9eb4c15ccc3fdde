import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import { moversOf } from '../../src/maths/compare.ts';
import { type CostRow, microOf } from '../../src/maths/rows.ts';
import { days, randomRows, row, warehouseRow } from './rows.ts';

const NOW = { first: '2026-11-17', last: '2026-11-17' };
const BEFORE = { first: '2026-11-10', last: '2026-11-10' };

/** What each service cost a week before and now; null: no row on that day. */
function costs(
  given: Readonly<Record<string, readonly [number | null, number | null]>>,
): CostRow[] {
  return Object.entries(given).flatMap(([entityId, [before, now]]) => {
    const one = (day: string, credits: number | null) =>
      credits === null ? [] : [row({ day, entityId, entityName: entityId, credits })];
    return [...one(BEFORE.first, before), ...one(NOW.first, now)];
  });
}

function movers(rows: readonly CostRow[], minimum = 2) {
  const read = moversOf(rows, NOW, BEFORE, { by: 'service', minimum: microOf(minimum) });
  return read.ok ? read.movers.map(({ key, kind }) => `${key} ${kind}`) : read.why;
}

test('new and vanished services have no percentage', () => {
  const rows = costs({ a: [null, 30], b: [20, null], c: [10, 40] });
  const read = moversOf(rows, NOW, BEFORE, { by: 'service', minimum: microOf(2) });
  expect(read).toEqual({
    ok: true,
    days: 1,
    notLocked: 0,
    movers: [
      {
        key: 'a',
        name: 'a',
        kind: 'new',
        now: microOf(30),
        before: 0,
        delta: microOf(30),
        money: null,
        relative: null,
      },
      {
        key: 'c',
        name: 'c',
        kind: 'changed',
        now: microOf(40),
        before: microOf(10),
        delta: microOf(30),
        money: null,
        relative: 3,
      },
      {
        key: 'b',
        name: 'b',
        kind: 'vanished',
        now: 0,
        before: microOf(20),
        delta: microOf(-20),
        money: null,
        relative: -1,
      },
    ],
  });
});

test.for<[string, ReturnType<typeof costs>, readonly string[]]>([
  [
    'end once they explain four fifths',
    costs({ a: [10, 90], b: [10, 25], c: [10, 15] }),
    ['a changed'],
  ],
  [
    'go on while they do not',
    costs({ a: [10, 89], b: [10, 25], c: [10, 15] }),
    ['a changed', 'b changed'],
  ],
  [
    'are five at most',
    costs({ a: [0, 9], b: [0, 9], c: [0, 9], d: [0, 9], e: [0, 9], f: [0, 9], g: [0, 9] }),
    ['a changed', 'b changed', 'c changed', 'd changed', 'e changed'],
  ],
  ['leave out what is too little', costs({ a: [10, 12], b: [10, 11.99] }), ['a changed']],
  ['are none where nothing moved', costs({ a: [10, 10], b: [0, 0] }), []],
  ['show falls as well as rises', costs({ a: [50, 10], b: [10, 20] }), ['a changed']],
])('movers %s', ([, rows, expected]) => {
  expect(movers(rows)).toEqual(expected);
});

test('the change of a warehouse has its own line', () => {
  const rows = [
    ...costs({ a: [10, 10] }),
    warehouseRow({ day: BEFORE.first, credits: 1 }),
    warehouseRow({ day: NOW.first, credits: 9 }),
  ];
  expect(movers(rows)).toEqual(['warehouse w-1 changed']);
});

test('days that are not final on both sides have no movers', () => {
  const open = row({ day: NOW.first, entityId: 'z', locked: false });
  expect(movers([...costs({ a: [10, 90] }), open])).toBe('no-common-settled-days');
});

test('a settled day that is not locked has movers, and is counted', () => {
  const openDay = { settled: true, completion: null };
  const rows = costs({ a: [10, 90] }).map((one) => ({ ...one, locked: false, openDay }));
  const found = moversOf(rows, NOW, BEFORE, { by: 'service', minimum: 0 });
  expect(found).toMatchObject({ ok: true, days: 1, notLocked: 1 });
});

test('a service that only has rows on days that are not compared is neither new nor vanished', () => {
  const week = { first: '2026-11-16', last: '2026-11-17' };
  const before = { first: '2026-11-09', last: '2026-11-10' };
  const rows = [
    ...costs({ a: [10, 90] }),
    row({ day: '2026-11-09', entityId: 'z', credits: 500 }),
    row({ day: '2026-11-16', entityId: 'z', credits: 1, locked: false }),
  ];
  const read = moversOf(rows, week, before, { by: 'service', minimum: 0 });
  expect(read.ok && read.movers.map(({ key }) => key)).toEqual(['a']);
});

test('the order of the rows changes no mover, and each is above the minimum', () => {
  const shuffled = randomRows.chain((rows) =>
    fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length })),
  );
  fc.assert(
    fc.property(shuffled, days, ([one, other], first) => {
      const now = { first, last: addDays(first, 13) };
      const before = { first: addDays(first, -14), last: addDays(first, -1) };
      const asked = { by: 'entity-metric', minimum: microOf(1) } as const;
      const final = one.map((each) => ({ ...each, locked: true }));
      const read = moversOf(final, now, before, asked);
      const again = other.map((each) => ({ ...each, locked: true }));
      expect(moversOf(again, now, before, asked)).toEqual(read);
      const small = read.ok ? read.movers.filter(({ delta }) => Math.abs(delta) < 1e6) : [];
      expect(small).toEqual([]);
    }),
  );
});
