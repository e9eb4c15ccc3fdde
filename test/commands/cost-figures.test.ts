import { expect, test } from 'vitest';
import { cost } from '../../src/commands/cost.ts';
import type { AnswerPart } from '../../src/domain/answer.ts';
import type { CostReading } from '../../src/maths/report.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { ASKER, costContext } from '../costs/asking.ts';
import { costService } from '../costs/facts.ts';
import { daily, row } from '../maths/rows.ts';

const STAGING = costService('s-2', { name: 'staging' });

/** Ten final days, one of them without data, and two that are not final. */
const NOVEMBER = [
  ...daily('2026-11-08', [10, 10, 10, 10]),
  ...daily('2026-11-13', [10, 10, 10, 10, 10]),
  ...daily('2026-11-18', [8, 4], { locked: false }),
];

async function answered(words: string, rows: readonly CostRow[], read: Partial<CostReading> = {}) {
  const context = costContext(rows, { services: [STAGING] }, read);
  const { title, parts } = await cost.answer({ words }, context, ASKER);
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return { title, text: texts.join('\n'), table: tableOf(parts), footer: noteOf(parts) };
}

function tableOf(parts: readonly AnswerPart[]) {
  const part = parts.find(({ kind }) => kind === 'table');
  return part?.kind === 'table' ? part : null;
}

function noteOf(parts: readonly AnswerPart[]): string {
  return parts.flatMap((part) => (part.kind === 'note' ? [part.text] : [])).join('\n');
}

function firstCells(table: ReturnType<typeof tableOf>) {
  return (table?.rows ?? []).map((cells) =>
    cells
      .slice(0, 2)
      .map((cell) => (cell && typeof cell === 'object' && 'text' in cell ? cell.text : cell)),
  );
}

test('a missing day has a row of its own and is not part of the sum', async () => {
  const { title, footer, table } = await answered('2026-11-10..2026-11-14 by day', NOVEMBER);
  expect(title).toBe('10–14 Nov (UTC): 40.0 credits');
  expect(footer).toBe('no data for Thu 12 Nov');
  expect(firstCells(table)).toEqual([
    ['Tue 10 Nov', '10.0'],
    ['Wed 11 Nov', '10.0'],
    ['Thu 12 Nov', 'no data'],
    ['Fri 13 Nov', '10.0'],
    ['Sat 14 Nov', '10.0'],
  ]);
  expect(table?.caption).toBe('Credits by day');
});

test('days that are not final are named once, in the footer', async () => {
  const { title, text, table, footer } = await answered('2026-11-16..2026-11-19 by day', NOVEMBER);
  expect(title).toBe('16–19 Nov (UTC): 32.0 credits so far');
  expect(text).toBe('');
  expect(footer).toBe('not final 18–19 Nov');
  expect(firstCells(table).at(-1)).toEqual(['Thu 19 Nov', '4.0']);
  expect(table?.caption).toBe('Credits by day');
});

test.for([
  ['yesterday', 'not final Thu 19 Nov'],
  ['2026-11-18..', 'not final 18–19 Nov'],
  ['2026-11-16..2026-11-18', 'not final Wed 18 Nov'],
  ['2026-11-16..2026-11-17', ''],
])('%s says once, in the footer: %s', async ([words = '', expected]) => {
  const { text, table, footer } = await answered(words, NOVEMBER);
  expect(footer).toBe(expected);
  expect(text).toBe('');
  expect(JSON.stringify(table)).not.toContain('*');
});

test('a period without data is not zero, even if the days before it have data', async () => {
  const { title, text } = await answered('2026-11-12 vs prev', [
    ...NOVEMBER,
    row({ day: '2026-11-05' }),
  ]);
  expect(title).toBe('Thu 12 Nov (UTC)');
  expect(text).toBe('The usage report has no data for these days. Thu 5 Nov (UTC): 100.0 credits.');
  const today = await answered('today vs yesterday', NOVEMBER);
  expect(today.text).toContain('Thu 19 Nov (UTC): 4.0 credits so far.');
  expect((await answered('2026-11-12', NOVEMBER)).text).toMatch(/these days\.$/);
});

test('a service without rows on days with other rows costs 0, and no day is missing', async () => {
  const { title, footer } = await answered('2026-11-13..2026-11-14 staging', NOVEMBER);
  expect(title).toBe('staging · 13–14 Nov (UTC): 0 credits');
  expect(footer).not.toContain('no data');
});

test('days are sorted by date and credits by value', async () => {
  const { table } = await answered('2026-11-10..2026-11-13 by day', NOVEMBER);
  const values = table?.rows.map((cells) =>
    cells
      .slice(0, 2)
      .map((cell) => (cell && typeof cell === 'object' && 'value' in cell ? cell.value : cell)),
  );
  expect(values).toEqual([
    [20767, 10],
    [20768, 10],
    [20769, null],
    [20770, 10],
  ]);
});

test('the footer reports the faults of the shown days', async () => {
  const problems = [{ name: 'without-total', day: '2026-11-14', count: 2 } as const];
  const footerOf = async (words: string) => (await answered(words, NOVEMBER, { problems })).footer;
  expect(await footerOf('2026-11-13..2026-11-17')).toContain('2 rows without a total');
  expect(await footerOf('2026-11-08')).not.toContain('without a total');
});
