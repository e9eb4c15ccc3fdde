import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import { budgetSummary } from '../../src/costs/budget-answer.ts';
import {
  type Budget,
  type BudgetStanding,
  budgetSpan,
  budgetStanding,
} from '../../src/costs/budgets.ts';
import { SECTIONS } from '../../src/costs/config.ts';
import { composeDigest } from '../../src/costs/digest.ts';
import type { DigestFacts } from '../../src/costs/digest-data.ts';
import { dayStates } from '../../src/maths/days.ts';
import type { Money } from '../../src/maths/money.ts';
import { withPrices } from '../../src/maths/money.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { microOf } from '../../src/maths/rows.ts';
import { daily, TODAY } from '../maths/rows.ts';
import { BUTTONS, budgetOf, factsFor, nineWeeks, PRODUCTION_OVER, reading } from './facts.ts';
import { written } from './written.ts';

const HEADLINE = '2026-11-17';

/** The nine weeks with another cost of one service on the day of the headline. */
function withDay(credits: number): Pick<DigestFacts, 'read'> {
  const metrics = { computeCredits: microOf(credits) };
  const rows = nineWeeks().map((one) =>
    one.day === HEADLINE && one.entityId === 's-1'
      ? { ...one, total: microOf(credits), metrics }
      : one,
  );
  return reading(rows);
}

const attention = (
  budgets: DigestFacts['attention']['budgets'],
  ...anomalies: readonly string[]
): Pick<DigestFacts, 'attention'> => ({
  attention: { budgets, anomalies: anomalies.map((text) => ({ text, buttons: BUTTONS })) },
});

function priced(): Pick<DigestFacts, 'read'> {
  const prices = [{ from: '2026-01-01', perCredit: 350_000, currency: 'EUR' }];
  return { read: { ...factsFor().read, rows: withPrices(nineWeeks(), prices), prices } };
}

function euros(whole: number): Money {
  return { currency: 'EUR', trillionths: BigInt(whole) * 10n ** 12n };
}

const OWN_OVER = budgetOf({
  amount: 3_000,
  state: 'over',
  ratio: 1.208,
  text: 'heading for 3,625 of 3,000 (+21%)',
});
const STALE = { month: '2026-11', why: 'Too many requests', denied: false, from: new Date(0) };

test.for<[string, Partial<DigestFacts>, string, string]>([
  [
    'nothing needs attention',
    attention([budgetOf()]),
    'Tue 17 Nov: 142 credits (usual 109–181) · month heading for 3,625 of 9,000',
    'Within budget, nothing unusual.',
  ],
  [
    'there is no budget',
    attention([]),
    'Tue 17 Nov: 142 credits (usual 109–181) · month heading for 3,625',
    'Nothing unusual.',
  ],
  [
    'a budget of some services is heading over',
    attention([budgetOf(), PRODUCTION_OVER]),
    'Tue 17 Nov: 142 credits (usual 109–181) · month heading for 3,625 of 9,000 · budget production heading over',
    '⚠ Budget production: heading for 5,812 of 5,500 (+6%)',
  ],
  [
    'the budget of all costs is heading over',
    attention([OWN_OVER]),
    'Tue 17 Nov: 142 credits (usual 109–181) · month heading for 3,625 of 3,000 (+21%)',
    '⚠ Budget everything: heading for 3,625 of 3,000 (+21%)',
  ],
  [
    'two budgets are heading over, the worst first',
    attention([PRODUCTION_OVER, { ...OWN_OVER, isOwn: false }]),
    'Tue 17 Nov: 142 credits (usual 109–181) · month heading for 3,625 · 2 budgets heading over',
    '⚠ Budget everything: heading for 3,625 of 3,000 (+21%)',
  ],
  [
    'two costs are unusual',
    attention([budgetOf()], 'ml-features +61%', 'ci +40%'),
    'Tue 17 Nov: 142 credits (usual 109–181) · month heading for 3,625 of 9,000 · 2 unusual costs',
    '⚠ ml-features +61%',
  ],
  [
    'the day is above its usual range',
    { ...withDay(320), ...attention([]) },
    'Tue 17 Nov: 362 credits, above the usual 109–181 · month heading for 3,850',
    '+153% vs Tue 10 Nov (143.3)',
  ],
  [
    'the day is just above its usual range',
    { ...withDay(138.95), ...attention([]) },
    'Tue 17 Nov: 181 credits, above the usual 108.5–180.9 · month heading for 3,669',
    '+26% vs Tue 10 Nov (143.3)',
  ],
  [
    'the day is below its usual range',
    { ...withDay(5), ...attention([]) },
    'Tue 17 Nov: 47 credits, below the usual 109–181 · month heading for 3,528',
    '−67% vs Tue 10 Nov (143.3)',
  ],
  [
    'a budget has no forecast yet',
    attention([budgetOf({ state: 'unknown' })]),
    'Tue 17 Nov: 142 credits (usual 109–181) · month heading for 3,625 of 9,000',
    'Nothing unusual.',
  ],
  [
    'a credit has a price',
    { ...priced(), ...attention([budgetOf({ amountMoney: euros(3_150) })]) },
    'Tue 17 Nov: 142 credits (€49.70), usual 109–181 (€37.99–€63.32) · month heading for 3,625 of 9,000 (€1,269 of €3,150)',
    'Within budget, nothing unusual.',
  ],
  [
    'a credit has a price, and the budget of all costs is heading over',
    { ...priced(), ...attention([{ ...OWN_OVER, amountMoney: euros(1_050) }]) },
    'Tue 17 Nov: 142 credits (€49.70), usual 109–181 (€37.99–€63.32) · month heading for 3,625 of 3,000 (+21%, €1,269 of €1,050)',
    '⚠ Budget everything: heading for 3,625 of 3,000 (+21%)',
  ],
  [
    'a credit has a price, and there is no budget',
    { ...priced(), ...attention([]) },
    'Tue 17 Nov: 142 credits (€49.70), usual 109–181 (€37.99–€63.32) · month heading for 3,625 (€1,269)',
    'Nothing unusual.',
  ],
  [
    'the figures are old',
    { read: { ...factsFor().read, gaps: [STALE] }, ...attention([budgetOf()]) },
    'Tue 17 Nov: 142 credits (usual 109–181) · month heading for 3,625 of 9,000',
    '⚠ These figures are from 1970-01-01 00:00 UTC: the usage report cannot be read now (Too many requests).',
  ],
  [
    'a month could never be read',
    {
      read: { ...factsFor().read, gaps: [{ ...STALE, from: null, month: '2026-09' }] },
      ...attention([]),
    },
    'Tue 17 Nov: 142 credits (usual 109–181)',
    '⚠ These figures are from 2026-11-20 08:00 UTC: the usage report cannot be read now (Too many requests).',
  ],
])('the title and the first line when %s', ([, facts, title, first]) => {
  const [shown, line] = written(composeDigest(factsFor(facts)).message).split('\n');
  expect(shown).toBe(title);
  expect(line).toBe(first);
});

test('a long name and a long scope leave the attention in the title', () => {
  const scope = 'analytics-prod, staging, ml-features, ci, archive, load-test';
  const name = 'everything that the platform team runs in production in Europe';
  const over = { ...PRODUCTION_OVER, name };
  const { options } = factsFor();
  const { title } = composeDigest(
    factsFor({
      ...attention([over], 'ci +40%'),
      scope,
      covers: { first: '2026-11-11', last: '2026-11-17' },
      options: { ...options, period: 'week' },
    }),
  ).message;
  expect(title).toBe(
    'analytics-prod, staging, ml-f…, 11–17 Nov: 851 credits (−1% vs 4–10 Nov) · budget everything that the platform … heading over, 1 unusual cost',
  );
});

test('the longest title names the attention as counts', () => {
  const over = { ...PRODUCTION_OVER, name: 'n'.repeat(60) };
  const { title } = composeDigest(
    factsFor({
      ...reading(nineWeeks().map((one) => ({ ...one, total: one.total * 54_321 }))),
      ...attention([over], ...Array.from({ length: 12 }, (_, at) => `line ${at}`)),
      scope: 's'.repeat(60),
      covers: { first: '2026-10-28', last: '2026-11-19' },
    }),
  ).message;
  expect(title).toBe(
    `${'s'.repeat(29)}…, 28 Oct – 19 Nov: 154,772,480 credits, not final · 1 budget heading over, 12 unusual costs`,
  );
});

test('an unusual day of a weekend has a line, because the title shows the total', () => {
  const covers = { first: '2026-11-15', last: HEADLINE };
  const [, line] = written(
    composeDigest(factsFor({ ...withDay(320), ...attention([]), covers })).message,
  ).split('\n');
  expect(line).toBe('⚠ Tue 17 Nov: 362 credits, above the usual 109–181');
  const prices = [{ from: '2026-01-01', perCredit: 350_000, currency: 'EUR' }];
  const { read } = withDay(320);
  const inMoney = { ...read, rows: withPrices(read.rows, prices), prices };
  const facts = factsFor({ read: inMoney, ...attention([]), covers });
  expect(written(composeDigest(facts).message)).toContain(
    '⚠ Tue 17 Nov: 362 credits (€127), above the usual 109–181 (€37.99–€63.32)',
  );
});

// Random facts. The expectations are computed from the rows and standings again, not from the composer.

/** Whole hundredths: random doubles would nearly all be close to 0. */
const hundredths = (min: number, max: number) =>
  fc.integer({ min: min * 100, max: max * 100 }).map((count) => count / 100);
const credits = fc.oneof(hundredths(80, 120), hundredths(0, 400));

interface RandomFacts {
  readonly facts: DigestFacts;
  readonly standings: readonly BudgetStanding[];
}

const BUDGET_SCOPES: readonly Budget['on'][] = [
  null,
  { services: [{ name: 'staging', id: 's-2' }], tags: null, teams: null, warehouses: null },
];

/** Some costs of the day before the open ones are multiplied, so that it is often unusual. */
function rowsOf(all: readonly number[], openDays: number, factor: number): readonly CostRow[] {
  const first = addDays(TODAY, -all.length);
  const values = all.map((value, at) =>
    at === all.length - openDays - 1 ? value * factor : value,
  );
  const locked = (day: string) => day < addDays(TODAY, -openDays);
  return [
    ...daily(first, values),
    ...daily(
      first,
      values.map((value) => value / 3),
      { entityId: 's-2', entityName: 'staging' },
    ),
  ].map((one) => ({ ...one, locked: locked(one.day) }));
}

const randomFacts: fc.Arbitrary<RandomFacts> = fc
  .record({
    values: fc.array(credits, { minLength: 3, maxLength: 75 }),
    openDays: fc.integer({ min: 0, max: 4 }),
    factor: fc.constantFrom(1, 0.05, 6),
    budgets: fc.array(
      fc.record({
        name: fc.string({ minLength: 1, maxLength: 60, unit: 'grapheme' }),
        credits: hundredths(1, 12_000),
        on: fc.constantFrom(...BUDGET_SCOPES),
      }),
      { maxLength: 3 },
    ),
    anomalies: fc.option(fc.nat({ max: 5 }), { nil: null }),
    isStale: fc.boolean(),
    sections: fc.subarray([...SECTIONS], { minLength: 1 }),
    period: fc.constantFrom('day', 'week', 'month'),
    length: fc.integer({ min: 1, max: 31 }),
    scope: fc.option(fc.string({ maxLength: 200 }), { nil: null }),
  })
  .map(({ values, openDays, factor, budgets, anomalies, isStale, ...rest }) => {
    const rows = rowsOf(values, openDays, factor);
    const base = reading(rows).read;
    const standings = budgets.map((one) => {
      const budget = { ...one, notify: '#c', thresholds: [50] };
      const states = dayStates(rows, budgetSpan(TODAY));
      return budgetStanding(budget, { read: base, states, services: [], today: TODAY });
    });
    const last = addDays(TODAY, -1);
    const facts = factsFor({
      read: { ...base, gaps: isStale ? [STALE] : [] },
      covers: { first: addDays(last, 1 - rest.length), last },
      scope: rest.scope,
      options: { ...factsFor().options, sections: rest.sections, period: rest.period },
      attention: {
        anomalies:
          anomalies === null
            ? null
            : Array.from({ length: anomalies }, (_, at) => ({
                text: `line ${at}`,
                buttons: BUTTONS,
              })),
        budgets: standings.map((standing) => ({
          ...budgetSummary(standing),
          isOwn: standing.budget.on === null,
        })),
      },
    });
    return { facts, standings };
  });

/** The parsed number of a text such as `1,234.5`. */
const numberOf = (text: string | undefined) => Number(text?.replaceAll(',', ''));
const isOver = ({ budget, spent, forecast }: BudgetStanding) =>
  spent >= budget.credits || (forecast.ok && forecast.total > budget.credits);

test('the title never contradicts the findings', () => {
  fc.assert(
    fc.property(randomFacts, ({ facts, standings }) => {
      const { message, notable } = composeDigest(facts);
      const { title } = message;
      const [, ...body] = written(message).split('\n');
      const text = body.join('\n');
      const has = (section: (typeof SECTIONS)[number]) => facts.options.sections.includes(section);
      const over = has('budgets') ? standings.filter(isOver) : [];
      const unusual = has('unusual') ? (facts.attention.anomalies ?? []).length : 0;
      const usual =
        /[:]\s([\d,.]+) credits(, not final)?(?: \(usual |, (above|below) the usual )([\d,.]+)–([\d,.]+)/.exec(
          title,
        );

      expect(title.length).toBeLessThanOrEqual(150);
      expect(`${title}${text}`).not.toMatch(/average/i);
      expect(message.parts.length).toBeLessThan(12);
      // Budgets that are over are in the title, and in the body worst first.
      expect(/heading over|month heading for \S+ of \S+ \(/.test(title)).toBe(over.length > 0);
      const ratios = over
        .map(({ budget, spent, forecast }) => {
          const total = forecast.ok ? Math.max(forecast.total, spent) : spent;
          return { name: budget.name, ratio: total / budget.credits };
        })
        .sort((a, b) => b.ratio - a.ratio);
      const shown = text.split('⚠ Budget ').slice(1);
      expect(shown).toHaveLength(over.length);
      for (const [at, { name }] of ratios.entries()) {
        expect(shown[at]?.startsWith(`${name}: `)).toBe(true);
      }
      // The month of the title is compared with its budget.
      const [, heading, amount, more] =
        /month heading for ([\d,.]+) of ([\d,.]+)( \()?/.exec(title) ?? [];
      if (numberOf(heading) > numberOf(amount)) expect(more).toBeDefined();
      if (more) expect(numberOf(heading)).toBeGreaterThanOrEqual(numberOf(amount));
      // The day is where the title says it is.
      if (usual) {
        const [value, low, high] = [usual[1], usual[4], usual[5]].map(numberOf);
        if (usual[3] === 'above') expect(value).toBeGreaterThan(high ?? 0);
        else if (usual[3] === 'below') expect(value).toBeLessThan(low ?? 0);
        else expect(value).toBeLessThanOrEqual(high ?? 0);
        if (!usual[2] && !usual[3]) expect(value).toBeGreaterThanOrEqual(low ?? 0);
      }
      expect(Number(/(\d+) unusual cost/.exec(title)?.[1] ?? 0)).toBe(unusual);
      // A claim needs all of its facts.
      const isOutside = /(above|below) the usual/.test(`${title}${text}`);
      if (/nothing unusual/i.test(text)) {
        expect(has('unusual') && facts.attention.anomalies?.length).toBe(0);
        expect(isOutside || over.length > 0 || facts.read.gaps.length > 0).toBe(false);
      }
      if (/within budget/i.test(text)) {
        expect(has('budgets') && standings.length > 0).toBe(true);
        expect(standings.every(({ forecast }) => forecast.ok)).toBe(true);
        expect(over.length + unusual + facts.read.gaps.length).toBe(0);
      }
      if (over.length + unusual > 0 || isOutside) expect(notable).toBe(true);
    }),
    { numRuns: 200, endOnFailure: true },
  );
});
