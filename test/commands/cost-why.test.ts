import { expect, test } from 'vitest';
import { costWhy } from '../../src/commands/cost.ts';
import type { AcceptedChange, AcceptedChangeFilter } from '../../src/costs/index.ts';
import type { CostReading } from '../../src/maths/report.ts';
import { type CostRow, microOf } from '../../src/maths/rows.ts';
import { ASKER, costContext } from '../costs/asking.ts';
import { costService } from '../costs/facts.ts';
import { written } from '../costs/written.ts';
import { daily, warehouseRow } from '../maths/rows.ts';

const STAGING = costService('s-2', { name: 'staging', warehouse: 'main' });
const OF_STAGING = { entityId: 's-2', entityName: 'staging' };

/** Two weeks of final days: staging costs three times as much in the second one. */
const ROWS: readonly CostRow[] = [
  ...daily('2026-11-06', Array(14).fill(10)),
  ...daily('2026-11-06', Array(7).fill(5), OF_STAGING),
  ...daily('2026-11-13', Array(7).fill(15), OF_STAGING),
  warehouseRow({ day: '2026-11-19', credits: 2, metrics: { storageCredits: microOf(2) } }),
];

const SCALE: AcceptedChange = {
  id: '6MD57G',
  by: ASKER.by,
  at: new Date('2026-11-12T14:02:00Z'),
  text: 'Scale staging · Maximum memory per replica (GB) 32 → 128',
};

/** The answer, and what the command asked for. */
async function answered(
  words: string,
  {
    rows = ROWS,
    changes = [],
    ...more
  }: Omit<Partial<CostReading>, 'changes'> & { changes?: readonly AcceptedChange[] } = {},
) {
  const asked: AcceptedChangeFilter[] = [];
  const costChanges = async (filter: AcceptedChangeFilter) => {
    asked.push(filter);
    return changes;
  };
  const context = costContext(rows, { costChanges, services: [STAGING] }, more);
  const answer = await costWhy.answer({ words }, context, ASKER);
  return { asked, answer, text: written(answer) };
}

test('a rise has its largest changes by service and metric, with the changes of these services', async () => {
  const { text, asked } = await answered('7d', { changes: [SCALE] });
  expect(text).toMatchInlineSnapshot(`
    "13–19 Nov vs 6–12 Nov (UTC): +72.0 credits (+69%)
    Total: 105.0 → 177.0 credits
    • staging · compute +70.0 (×3.0)
    • 1 other +2.0
    Changes of these services, 6–19 Nov
    • 2026-11-12 14:02 UTC · Scale staging · Maximum memory per replica (GB) 32 → 128 · @U0ANA00001 · 6MD57G
    offers
    As of 2026-11-20 12:00 UTC"
  `);
  expect(asked).toEqual([
    {
      services: [{ id: 's-2', name: 'staging' }],
      span: { first: '2026-11-06', last: '2026-11-19' },
    },
  ]);
});

test('without a change in Signalbox the answer says so', async () => {
  const { text } = await answered('7d');
  expect(text).toContain('No change of these services ran in Signalbox (6–19 Nov).');
});

test('of ten changes the last eight are shown', async () => {
  const changes = Array.from({ length: 10 }, (_, n) => ({ ...SCALE, id: `CHANGE${n}` }));
  const { text } = await answered('7d', { changes });
  expect(text.match(/Scale staging/g)).toHaveLength(8);
  expect(text).not.toContain('CHANGE1\n');
});

test('periods without a change have no lines, and no change is looked up', async () => {
  const { text, asked } = await answered('7d', { rows: daily('2026-11-06', Array(14).fill(10)) });
  expect(text).toContain('±0 credits (±0%)\nTotal: 70.0 → 70.0 credits\nNo line changed.');
  expect(text).not.toContain('ran in Signalbox');
  expect(asked).toEqual([{ services: [], span: { first: '2026-11-06', last: '2026-11-19' } }]);
});

test('like is compared with like: days that are not settled are left out on both sides', async () => {
  const open = daily('2026-11-18', [99, 99], { locked: false });
  const rows = [...ROWS.filter(({ day }) => day < '2026-11-18'), ...open];
  const { text } = await answered('7d', { rows });
  expect(text).toContain('13–19 Nov vs 6–12 Nov (UTC), on 5 of 7 days: +50.0 credits');
  // Five days of 15 and 25 credits.
  expect(text).toContain('Total: 75.0 → 125.0 credits');
});

test('a day of a service is open while another row of the day is open', async () => {
  const open = daily('2026-11-19', [10], { entityId: 's-3', locked: false });
  const { text } = await answered('7d staging', { rows: [...ROWS, ...open] });
  expect(text).toContain('13–19 Nov vs 6–12 Nov (UTC), on 6 of 7 days: ');
  expect(text).toContain('Total: 30.0 → 90.0 credits');
});

test('months are compared day by day, and their weekdays differ', async () => {
  const rows = [
    ...daily('2026-10-01', Array(19).fill(10)),
    ...daily('2026-11-01', Array(19).fill(11)),
  ];
  const { text } = await answered('mtd', { rows });
  expect(text).toContain('+19.0 credits (+10%)\nThe weekdays differ.');
  expect((await answered('7d')).text).not.toContain('weekdays');
});

test('the footer has the problems of the compared days and what the scope leaves out', async () => {
  const problem = { name: 'without-figures', count: 2 } as const;
  const problems = [
    { ...problem, day: '2026-11-13' },
    { ...problem, day: '2026-11-06', name: 'without-total' as const },
    { ...problem, day: '2026-11-01', name: 'metrics-off' as const },
  ];
  const { text } = await answered('7d staging', { problems });
  expect(text).toContain('2 rows without any figure');
  expect(text).toContain('2 rows without a total');
  expect(text).not.toContain('do not add up');
  expect(text).toContain('storage and backups are billed to warehouses and not included');
  expect((await answered('7d')).text).not.toContain('storage and backups');
});

test('a line without costs in the later period is gone', async () => {
  const gone = daily('2026-11-12', [50], { entityId: 's-4', entityName: 'archive' });
  const { text } = await answered('7d', { rows: [...ROWS, ...gone] });
  expect(text).toContain('archive · compute −50.0 (gone)');
});

test('the buttons show the first change, and refresh what is not final', async () => {
  const linesOf = async (more: Parameters<typeof answered>[1]) => {
    const { answer } = await answered('7d vs prev', more);
    return [...JSON.stringify(answer.parts).matchAll(/"line":"([^"]*)"/g)].map(([, line]) => line);
  };
  const question = '2026-11-13..2026-11-19';
  const byService = `cost ${question} by service vs prev`;
  const own = `cost why ${question} by service vs prev`;
  expect(await linesOf({ changes: [SCALE] })).toEqual([
    byService,
    'change show 6MD57G',
    `${own} share`,
    `${own} refresh`,
  ]);
  expect(await linesOf({ isFinal: true })).toEqual([byService, `${own} share`]);
});

test.for<[string, string, string]>([
  ['yesterday', '13', 'Thu 19 Nov vs Thu 12 Nov (UTC), as reported: +12.0 credits (+80%)'],
  ['7d', '13', '13–19 Nov vs 6–12 Nov (UTC), as reported: +72.0 credits (+69%)'],
  ['this-week vs last-week', '16', '16–19 Nov vs 9–15 Nov (UTC), on 4 of 7 days, as reported: '],
  ['7d vs 2026-11-01..2026-11-08', '01', '13–19 Nov vs 1–8 Nov (UTC), on 7 of 8 days, as reported'],
])(
  'cost why %s answers on the first morning, when no day is final',
  async ([words, first, text]) => {
    const openDay = { age: 1, completeness: null };
    const rows = ROWS.map((row) =>
      row.day < `2026-11-${first}` ? row : { ...row, locked: false, openDay },
    );
    expect((await answered(words, { rows })).text).toContain(text);
  },
);

test('today is compared with whole days, and the title says so', async () => {
  const openDay = { age: 0, completeness: null };
  const today = { ...daily('2026-11-20', [5])[0], locked: false, openDay } as CostRow;
  const { text } = await answered('today', { rows: [...ROWS, today] });
  expect(text).toContain('(UTC), as reported, today is not over: ');
});

test('without data there is nothing to compare with', async () => {
  const { text, asked } = await answered('7d', { rows: daily('2026-11-13', [1, 1]) });
  expect(text).toContain(': not compared\nNo data of 6–12 Nov to compare with.');
  expect(asked).toEqual([]);
});

test.for([
  ['by day', 'are not possible here', 'cost why 7d'],
  ['7d by metric', 'are not possible here', 'cost why mtd'],
  ['7d top 1', 'are not possible here', 'cost why mtd'],
  ['7d vs 2020-01', '806 days back', 'cost why 2026-11-13..2026-11-19 by service vs prev'],
  ['lastmonth', 'called “lastmonth”', 'cost why last-month'],
])(
  'cost why %s is refused with a question that is possible',
  async ([words = '', reason, line]) => {
    const { text, answer, asked } = await answered(words);
    expect(text).toContain(reason);
    expect(JSON.stringify(answer.parts)).toContain(`"line":"${line}"`);
    expect(asked).toEqual([]);
  },
);

test('vs and a scope select the days and the rows', async () => {
  const { text, answer } = await answered('2026-11-19 vs 2026-11-12 staging');
  expect(text).toContain('staging · Thu 19 Nov vs Thu 12 Nov (UTC): +10.0 credits (×3.0)');
  expect(text).not.toContain(' other');
  const lines = JSON.stringify(answer.parts);
  expect(lines).toContain(
    '"cost 2026-11-19..2026-11-19 by service only staging vs 2026-11-12..2026-11-12"',
  );
});

test('a report without rows shows the reason and no zero', async () => {
  const gaps = [{ month: '2026-11', why: 'no connection', denied: false, from: null }];
  const { text } = await answered('7d', { rows: [], gaps, fetchedAt: null });
  expect(text).toContain('The usage report cannot be read now: no connection.');
  expect(text).not.toContain('0 credits');
});
