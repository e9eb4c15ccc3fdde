import { expect, test } from 'vitest';
import { homeCosts } from '../../src/costs/forecast.ts';
import type { CostReading } from '../../src/maths/report.ts';
import { daily, row } from '../maths/rows.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const ROWS = [
  ...daily('2026-09-11', Array(69).fill(10)),
  row({ day: '2026-11-19', credits: 4, locked: false }),
];

function reading(over: Partial<CostReading> = {}): CostReading {
  return { rows: ROWS, fetchedAt: NOW, problems: [], gaps: [], ...over };
}

async function lines(over: Partial<CostReading>) {
  const shown = await homeCosts(async () => reading(over), NOW);
  return shown && [shown.title, ...shown.lines];
}

test('yesterday is marked as long as it is not final, and the month has its range', async () => {
  expect(await lines({})).toEqual([
    'Yesterday 4.0 credits so far',
    'Days are in UTC.',
    expect.stringMatching(/^November is heading for [\d,]+–[\d,]+ credits, about 80% sure/),
  ]);
  const final = ROWS.map((one) => ({ ...one, locked: true }));
  expect((await lines({ rows: final }))?.slice(0, 2)).toEqual([
    'Yesterday 4.0 credits, below the usual 9.8–10.2',
    'Days are in UTC.',
  ]);
});

test('with a month that is not stored there is no forecast', async () => {
  const gap = { month: '2026-09', why: 'not read yet', denied: false, from: null };
  expect(await lines({ gaps: [gap] })).toHaveLength(2);
});

test('without a stored report, and without data of yesterday, nothing is shown', async () => {
  expect(await lines({ rows: [], fetchedAt: null })).toBeNull();
  expect(await lines({ rows: ROWS.slice(0, -1) })).toBeNull();
});

test('an organization whose stored copy is older is left out, and the line says why', async () => {
  const organizations = [
    { name: 'prod-us', read: reading(), isMissing: false },
    { name: 'prod-eu', read: reading({ rows: [] }), isMissing: true },
  ];
  expect((await lines({ organizations }))?.slice(0, 3)).toEqual([
    'Yesterday 4.0 credits so far without prod-eu',
    'Days are in UTC.',
    'The stored figures of prod-eu are older.',
  ]);
});

test('a day that is as usual in sum is not called so beside a line that is unusual', async () => {
  const staging = { entityId: 's-2', entityName: 'staging' };
  const rows = [
    ...daily('2026-09-11', [...Array(69).fill(30), 60]),
    ...daily('2026-09-11', [...Array(69).fill(100), 70], staging),
  ];
  expect((await lines({ rows }))?.[0]).toBe('Yesterday 130.0 credits');
  const usual = daily('2026-09-11', Array(70).fill(130));
  expect((await lines({ rows: usual }))?.[0]).toBe('Yesterday 130.0 credits, as usual');
});
