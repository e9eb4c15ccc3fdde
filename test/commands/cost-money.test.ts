import { expect, test } from 'vitest';
import { cost, costCsv } from '../../src/commands/cost.ts';
import type { QueryCommand } from '../../src/commands/define.ts';
import { type PriceList, withPrices } from '../../src/maths/money.ts';
import { ASKER, costContext } from '../costs/asking.ts';
import { daily } from '../maths/rows.ts';

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
) {
  const context = costContext(withPrices(ROWS, prices), {}, { prices });
  const { title, parts } = await command.answer({ words }, context, ASKER);
  return { title, parts, text: JSON.stringify(parts) };
}

test('a price that changes within the period applies by day', async () => {
  // 7 days at 10 credits and 4 at 1: 13–15 at 0.32, 16–19 at 0.35.
  const { title, text } = await answered(cost, '7d by service');
  expect(title).toBe('13–19 Nov (UTC): 74.0 credits (€25.00)');
  // Lines and changes are in credits.
  expect(text).not.toMatch(/€|EUR/);
});

test('a period that begins before the first price is in credits only', async () => {
  const { title, text } = await answered(cost, '2026-09-28..2026-10-02 by service');
  expect(title).toContain('50.0 credits');
  expect(title).not.toContain('€');
  expect(text).not.toContain('"EUR"');
});

test('without prices, answers have credits only, and files always', async () => {
  expect((await answered(cost, '7d by service vs prev', null)).text).not.toMatch(/€|EUR|money/);
  for (const prices of [null, PRICES])
    expect((await answered(costCsv, '7d', prices)).text).not.toMatch(/currency|money/);
});
