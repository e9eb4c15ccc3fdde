import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import { forecastMoney } from '../../src/maths/forecast.ts';
import {
  type Money,
  moneyOf,
  moneyOver,
  moneyText,
  type PriceList,
  priceOn,
  roughMoneyText,
  withPrices,
} from '../../src/maths/money.ts';
import { creditsText, signedCredits } from '../../src/maths/numbers.ts';
import { microOf } from '../../src/maths/rows.ts';
import { moneyByPostgres } from './postgres-money.ts';
import { row } from './rows.ts';

const PRICES: PriceList = [
  { from: '2026-10-01', currency: 'EUR', perCredit: 320_000 },
  { from: '2026-11-16', currency: 'EUR', perCredit: 350_000 },
];

function money(trillionths: bigint, currency = 'EUR'): Money {
  return { currency, trillionths };
}

test.for<[string, number | null]>([
  ['2026-09-30', null],
  ['2026-10-01', 320_000],
  ['2026-11-15', 320_000],
  ['2026-11-16', 350_000],
  ['2027-01-01', 350_000],
])('on %s a credit costs %s millionths', ([day, perCredit]) => {
  expect(priceOn(PRICES, day)?.perCredit ?? null).toBe(perCredit);
});

test.for<[bigint, string, string]>([
  [1_463_910_000_000_000n, 'EUR', '€1,463.91'],
  [4_999_999_999n, 'EUR', '<€0.01'],
  [5_000_000_000n, 'EUR', '€0.01'],
  [-5_000_000_000n, 'EUR', '−€0.01'],
  [-4_999_999_999n, 'EUR', '>−€0.01'],
  [14_999_999_999n, 'EUR', '€0.01'],
  [15_000_000_000n, 'EUR', '€0.02'],
  [0n, 'EUR', '€0.00'],
  [1_500_000_000_000n, 'JPY', '¥2'],
  [1_234_500_000_000n, 'KWD', 'KWD 1.235'],
  [90_071_992_547_409_930_010_000_000_000n, 'USD', '$90,071,992,547,409,930.01'],
])('%d trillionths of %s read %s', ([trillionths, currency, text]) => {
  expect(moneyText(money(trillionths, currency)).replace('\u00A0', ' ')).toBe(text);
});

test.for<[bigint, string, string]>([
  [2_825_900_000_000_000n, 'EUR', '€2,826'],
  [-2_825_500_000_000_000n, 'EUR', '−€2,826'],
  [99_499_999_999_999n, 'EUR', '€99.50'],
  [99_500_000_000_000n, 'EUR', '€100'],
  [12_345_678_900_000_000n, 'JPY', '¥12,346'],
])('in a forecast, %d trillionths of %s read %s', ([trillionths, currency, text]) => {
  expect(roughMoneyText(money(trillionths, currency))).toBe(text);
});

test('money is shown beside credits and never instead of them', () => {
  const price = priceOn(PRICES, '2026-11-16');
  const of = (credits: number) => moneyOf([[price, microOf(credits)]]);
  expect(creditsText(microOf(4182.6), of(4182.6))).toBe('4,182.6 credits (€1,463.91)');
  expect(signedCredits(microOf(55.1), of(55.1))).toBe('+55.1 credits (+€19.29)');
  expect(signedCredits(microOf(-18), of(-18))).toBe('−18.0 credits (−€6.30)');
  expect(signedCredits(0, of(0))).toBe('±0 credits (±€0.00)');
});

test('a sum with a day without a price has no money, and a day without costs needs none', () => {
  const price = priceOn(PRICES, '2026-10-01');
  const priced = [price, 5] as const;
  expect(moneyOf([priced, [undefined, 1]])).toBeNull();
  expect(moneyOf([priced, [undefined, 0]])).toEqual(money(1_600_000n));
  expect(moneyOf([])).toBeNull();
});

test('credits that are not known by day are spread over the days of both prices', () => {
  const days = ['2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17'];
  expect(moneyOver(microOf(100), days, PRICES)).toEqual(money(33_500_000_000_000n));
  expect(moneyOver(microOf(100), ['2026-09-30', ...days], PRICES)).toBeNull();
  expect(moneyOver(1, ['2026-11-15', '2026-11-15', '2026-11-16'], PRICES)).toEqual(money(330_000n));
});

function decimal({ trillionths }: Money): string {
  const digits = (trillionths < 0n ? -trillionths : trillionths).toString().padStart(13, '0');
  const text = `${digits.slice(0, -12)}.${digits.slice(-12)}`.replace(/\.?0+$/, '');
  return trillionths < 0n ? `-${text}` : text;
}

// Rows of 35 days, with prices of six decimals that change twice, as a bill might have them.
test('PostgreSQL computes the same money of every service, to the last digit and in cents', async () => {
  const prices: PriceList = [
    { from: '2026-10-10', currency: 'EUR', perCredit: 333_333 },
    { from: '2026-10-25', currency: 'EUR', perCredit: 1_000_001 },
    { from: '2026-11-05', currency: 'EUR', perCredit: 289_999 },
  ];
  const values = fc.record({
    entityId: fc.constantFrom('s-1', 's-2', 's-3', 's-4', 's-5'),
    day: fc.nat(34).map((index) => addDays('2026-10-10', index)),
    total: fc.oneof(fc.integer({ min: -5_000_000, max: 90_000_000_000 }), fc.constant(0)),
  });
  const early = [row({ entityId: 's-5', day: '2026-10-09' })];
  const rows = fc
    .sample(values, { numRuns: 1_000, seed: 2026 })
    .map(({ total, ...rest }) => ({ ...row(rest), total }));
  const services = Map.groupBy(
    withPrices([...rows, ...early], prices),
    ({ serviceId }) => serviceId ?? '',
  );
  const own = [...services]
    .map(([key, each]) => ({ key, sum: moneyOf(each.map(({ price, total }) => [price, total])) }))
    .map(({ key, sum }) => ({
      key,
      exact: sum && decimal(sum),
      cents: sum && moneyText(sum).replace(/[€,]/g, '').replace('−', '-'),
    }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  expect(own).toEqual(await moneyByPostgres([...rows, ...early], prices));
  expect(own.map(({ cents }) => cents === null)).toEqual([false, false, false, false, true]);
});

test('a forecast is settled days at their price and the rest over the other days', () => {
  const span = { first: '2026-11-14', last: '2026-11-17' };
  const series = [
    { day: '2026-11-14', value: 10, final: true, price: priceOn(PRICES, '2026-11-14') },
    { day: '2026-11-15', value: 3, final: false, price: priceOn(PRICES, '2026-11-15') },
  ];
  // 10 at 0.32 on the 14th; 30 on each of the 15th (0.32), 16th and 17th (0.35).
  const text = (credits: number) => {
    const money = forecastMoney(credits, series, span, PRICES);
    return money && moneyText(money);
  };
  expect(text(100)).toBe('€33.80');
  // Days before the first reported one are not part of the forecast and need no price.
  expect(forecastMoney(100, series, { ...span, first: '2026-09-30' }, PRICES)).toEqual(
    forecastMoney(100, series, span, PRICES),
  );
  expect(forecastMoney(100, series, span, PRICES.slice(1))).toBeNull();
  const all = { first: '2026-11-14', last: '2026-11-14' };
  expect(forecastMoney(10, series, all, PRICES)).toEqual(money(3_200_000_000_000n));
});
