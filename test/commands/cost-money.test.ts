import { expect, test } from 'vitest';
import { within } from '../../src/base/calendar.ts';
import { cost, costCsv } from '../../src/commands/cost.ts';
import type { CommandContext, QueryCommand } from '../../src/commands/define.ts';
import type { UserId } from '../../src/domain/change.ts';
import { type PriceList, withPrices } from '../../src/maths/money.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { daily } from '../maths/rows.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const ASKER = { by: 'U0ANA00001' as UserId, channel: null };
const PRICES: PriceList = [
  { from: '2026-10-01', currency: 'EUR', perCredit: 320_000 },
  { from: '2026-11-16', currency: 'EUR', perCredit: 350_000 },
];
const LAB = { entityId: 's-2', entityName: 'lab', serviceId: 's-2' };
const ROWS = [
  ...daily('2026-09-28', Array(53).fill(10)),
  ...daily('2026-11-16', [1, 1, 1, 1], LAB),
];

/** Ten credits per day since 28 September; one more per day since Monday 16 November. */
async function answered(
  command: Pick<QueryCommand, 'answer'>,
  words: string,
  prices: PriceList | null = PRICES,
  rows: readonly CostRow[] = ROWS,
) {
  const priced = withPrices(rows, prices);
  const costs = async (span: Parameters<typeof within>[1]) => ({
    rows: within(priced, span),
    fetchedAt: NOW,
    problems: [],
    gaps: [],
    prices,
  });
  // Everything that these commands read; any other read throws.
  const context = { costs, services: [], now: () => NOW } as unknown as CommandContext;
  const { title, parts } = await command.answer({ words }, context, ASKER);
  return { title, parts, text: JSON.stringify(parts) };
}

test('a price that changes within the period applies by day', async () => {
  // 7 days at 10 credits and 4 at 1: 13–15 at 0.32, 16–19 at 0.35.
  const { title, text } = await answered(cost, '7d by service');
  expect(title).toBe('13–19 Nov (UTC): 74.0 credits (€25.00)');
  expect(text).toContain('["Service","Credits","EUR","Share"]');
  expect(text).toContain('{"value":70,"text":"70.0"},{"value":23.6,"text":"€23.60"}');
  expect(text).toContain('{"value":4,"text":"4.0"},{"value":1.4,"text":"€1.40"}');
  expect(text).toContain(`1 credit = €0.35 from 2026-11-16, €0.32 from 2026-10-01; money rounded`);
});

test('the rest of the lines has money as well', async () => {
  const { text } = await answered(cost, '7d by service top 1 vs prev');
  expect(text).toContain('"Other (1)",{"value":4,"text":"4.0"},{"value":1.4,"text":"€1.40"}');
});

test('a comparison includes the change of the price', async () => {
  // The week before: 70 credits at 0.32. Ten credits per day cost 4 · 0.03 more since 16 November.
  const { text } = await answered(cost, '7d by service vs prev');
  expect(text).toContain('"Change","Change, EUR"');
  expect(text).toContain('{"value":0,"text":"±0"},{"value":1.2,"text":"+€1.20"}');
  expect(text).toContain('{"value":4,"text":"+4.0 (new)"},{"value":1.4,"text":"+€1.40"}');
});

test('a period that begins before the first price is in credits only', async () => {
  const { title, text } = await answered(cost, '2026-09-28..2026-10-02 by service');
  expect(title).toContain('50.0 credits');
  expect(title).not.toContain('€');
  expect(text).not.toContain('"EUR"');
});

test('the file has the price and the exact money of each row', async () => {
  const { text } = await answered(costCsv, '2026-11-15..2026-11-16');
  const lines = text.slice(text.indexOf('day,kind')).split('\\r\\n');
  expect(lines[0]).toMatch(/,currency,perCredit,money$/);
  expect(lines.map((line) => line.split(',').slice(-3).join(',').replace(/".*/, ''))).toEqual([
    'currency,perCredit,money',
    'EUR,0.32,3.2',
    'EUR,0.35,3.5',
    'EUR,0.35,0.35',
  ]);
  expect(text).toContain('in credits and in money that is not rounded');
});

test('refunds that cancel the credits of a line leave its money in the rest', async () => {
  // 10 credits at 0.32 on Sunday and a refund of 10 at 0.35 on Monday: 0 credits, −0.30.
  const refund = daily('2026-11-15', [10, -10], LAB);
  const rows = [...daily('2026-11-15', [20, 20]), ...refund];
  const { text } = await answered(cost, '2026-11-15..2026-11-16 by service top 1', PRICES, rows);
  expect(text).toContain('"Other (1)",{"value":0,"text":"0"},{"value":-0.3,"text":"−€0.30"}');
});

test('without prices, answers and files have credits only', async () => {
  expect((await answered(cost, '7d by service vs prev', null)).text).not.toMatch(/€|EUR|money/);
  expect((await answered(costCsv, '7d', null)).text).not.toMatch(/currency|money/);
});
