import { expect, test } from 'vitest';
import { EXAMPLE, load, said } from './fixtures.ts';

function withCosts(costs: string): string {
  return `${EXAMPLE}\ncosts: ${costs}\n`;
}

function pricesOf(yaml: string) {
  const loaded = load({}, { './signalbox.yaml': yaml });
  return loaded.ok ? loaded.config.prices : loaded.problems;
}

const FIRST = '{ perCredit: 0.32, currency: EUR, from: 2026-01-01 }';

test('prices are read in millionths, the earliest first', () => {
  const later = '{ perCredit: 1.000001, currency: EUR, from: 2026-11-16 }';
  expect(pricesOf(withCosts(`{ price: [${later}, ${FIRST}] }`))).toEqual([
    { perCredit: 320_000, currency: 'EUR', from: '2026-01-01' },
    { perCredit: 1_000_001, currency: 'EUR', from: '2026-11-16' },
  ]);
});

test('without prices, nothing is shown in money', () => {
  expect(pricesOf(EXAMPLE)).toBeNull();
  expect(pricesOf(withCosts('{}'))).toBeNull();
});

const CODE = 'a code of ISO 4217, for example EUR';
const DAY = 'a UTC day, for example 2026-01-01';

test.for<[string, string]>([
  ['perCredit: 0', 'perCredit: must be more than 0'],
  ['perCredit: -1', 'perCredit: must be more than 0'],
  ['perCredit: "0,35"', 'perCredit: must be a number, not text'],
  ['perCredit: .inf', 'perCredit: must be a finite number'],
  ['perCredit: 1000001', 'perCredit: must be at most 1000000'],
  ['perCredit: 0.3500001', 'perCredit: must have at most 6 decimals (for example 0.35)'],
  ['perCredit: 0.0000001', 'perCredit: must have at most 6 decimals (for example 0.35)'],
  ['currency: €', `currency: is not a currency: “€” (${CODE})`],
  ['currency: eur', `currency: is not a currency: “eur” (${CODE})`],
  ['currency: EUX', `currency: is not a currency: “EUX” (${CODE})`],
  [
    'currency: USD',
    'currency: differs from costs.price[0]: EUR (one currency only: sums cannot mix currencies)',
  ],
  ['from: 2026-11-31', `from: is not a day: “2026-11-31” (${DAY})`],
  ['from: 2026-11-16T00:00Z', `from: is not a day: “2026-11-16T00:00Z” (${DAY})`],
  ['from: 2026-01-01', 'from: repeats 2026-01-01 (already used at costs.price[0])'],
  ['until: 2026-12-01', 'until: is not a known key (known: perCredit, currency, from)'],
])('a price with %s is refused', ([field, problem]) => {
  const key = field.split(':')[0] ?? '';
  const fields = ['perCredit: 0.35', 'currency: EUR', 'from: 2026-11-16'];
  const kept = fields.filter((one) => !one.startsWith(`${key}:`));
  const yaml = withCosts(`{ price: [${FIRST}, { ${[...kept, field].join(', ')} }] }`);
  expect(said({}, yaml)).toEqual([`costs.price[1].${problem}`]);
});

test.for<[string, string]>([
  ['{ price: [] }', 'costs.price: must not be empty'],
  [`{ price: ${FIRST} }`, 'costs.price: must be a list, not a set of keys'],
  ['{ price: [{ currency: EUR, from: 2026-01-01 }] }', 'costs.price[0].perCredit: is missing'],
  [`{ prices: [${FIRST}] }`, 'costs.prices: is not a known key (did you mean “price”?)'],
])('costs: %s is refused', ([costs, problem]) => {
  expect(said({}, withCosts(costs))).toEqual([problem]);
});
