import { expect, test } from 'vitest';
import { composeDigest } from '../../src/costs/digest.ts';
import { rowsNeeded } from '../../src/costs/digest-data.ts';
import { dayStates } from '../../src/maths/days.ts';
import { type PriceList, withPrices } from '../../src/maths/money.ts';
import { microOf } from '../../src/maths/rows.ts';
import { row, TODAY } from '../maths/rows.ts';
import { factsFor, nineWeeks } from './facts.ts';
import { written } from './written.ts';

const PRICES: PriceList = [
  { from: '2026-01-01', currency: 'EUR', perCredit: 320_000 },
  { from: '2026-11-16', currency: 'EUR', perCredit: 350_000 },
];

const spiked = nineWeeks().map((one) =>
  one.day === '2026-11-17' && one.entityId === 's-1'
    ? row({ day: one.day, credits: 320, metrics: { computeCredits: microOf(320) } })
    : one,
);

function digestInMoney() {
  const rows = withPrices(spiked, PRICES);
  const { read } = factsFor();
  const posted = [{ day: '2026-11-13', total: microOf(90) }];
  const facts = factsFor({ read: { ...read, rows, prices: PRICES }, posted });
  return composeDigest({ ...facts, states: dayStates(rows, rowsNeeded(TODAY)) });
}

test('every figure of a digest has money beside it', () => {
  expect(written(digestInMoney().message)).toMatchInlineSnapshot(`
    "Tue 17 Nov: 362 credits (€127), above the usual 109–181 (€37.99–€63.32) · month heading for 3,850 (€1,294)
    +153% vs Tue 10 Nov (143.3, €45.86)

    Top movers vs Tue 10 Nov:
    • analytics-prod · compute +219.0 (+€79.68, ×3.2)

    Revised:
    • Fri 13 Nov: 90.0 → 144.6 (€28.80 → €46.27, +61%)
    chart of 14, the last 19*
    As of 2026-11-20 08:00 UTC · Not final: 18–19 Nov: 291.8 credits (€102.13) · days in UTC · Next digest 2026-11-23 08:30 UTC"
  `);
});

test('its thread has money beside the credits of each service', () => {
  const { thread } = digestInMoney();
  expect(thread && written(thread)).toMatchInlineSnapshot(`
    "Details of Tue 17 Nov (UTC)
    Usual on Tue 17 Nov: 109–181 credits (€37.99–€63.32)
    Month to date: 2,570.9 credits (€846.68), not final · 1–17 Nov: 2,279.1 (€744.55), +11% vs 1–17 Oct (2,060.4, €659.33)
    Forecast: November 2026 about 3,850 (3,818–3,881, about 80% sure) if usage does not change · €1,294 (€1,283–€1,305)
    Not final: 18–19 Nov: 291.8 credits (€102.13)
    Service | Tue 17 Nov | Tue 10 Nov | 7 days | Month | Share of month
    analytics-prod | 320.0 (€112.00) | 101.0 (€32.32) | 810.0 (€271.89) | 1,647.0 (€539.73) | 72%
    staging | 30.0 (€10.50) | 30.3 (€9.70) | 177.0 (€58.47) | 428.1 (€138.82) | 19%
    warehouse main: storage + backup | 12.0 (€4.20) | 12.0 (€3.84) | 84.0 (€27.60) | 204.0 (€66.00) | 9%
    offers
    As of 2026-11-20 08:00 UTC · 1 credit = €0.35 from 2026-11-16, €0.32 from 2026-01-01; money rounded to €0.01, forecasts and budgets to €1 · 362.0 credits (€126.70) on Tue 17 Nov"
  `);
});
