import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Span } from '../../src/base/calendar.ts';
import { addDays } from '../../src/base/time.ts';
import { answerCosts } from '../../src/costs/answer.ts';
import { answerForecast } from '../../src/costs/forecast.ts';
import type { CostContext } from '../../src/costs/question.ts';
import type { Service } from '../../src/domain/targets.ts';
import { type PriceList, withPrices } from '../../src/maths/money.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { row, TODAY } from '../maths/rows.ts';
import { ASKER, costContext } from './asking.ts';
import { costService } from './facts.ts';
import { written } from './written.ts';

const SERVICES: readonly Service[] = [
  costService('s-1', { name: 'analytics-prod', tags: ['prod'], team: 'search' }),
  costService('s-2', { name: 'staging' }),
];
const HISTORY = 340;

/** A day at the weekend costs a fifth. Yesterday and the day before are not locked and half complete. */
function costsOf(entityId: string, credits: number, days = HISTORY): readonly CostRow[] {
  return Array.from({ length: days }, (_, index) => {
    const day = addDays(TODAY, index - days);
    const isOpen = index >= days - 2;
    const value = usual(day, credits) * (isOpen ? 0.5 : 1);
    const openDay = { age: 1, completeness: { share: 0.5, error: 0.01, common: 0 } };
    return {
      ...row({ entityId, day, credits: value, locked: !isOpen }),
      ...(isOpen ? { openDay } : {}),
    };
  });
}

function usual(day: string, credits: number): number {
  return [0, 6].includes(new Date(`${day}T00:00:00Z`).getUTCDay()) ? credits / 5 : credits;
}

function context(rows: readonly CostRow[], spans: Span[] = []): CostContext {
  const whole = costContext(rows, { services: SERVICES });
  const costs = async (span: Span) => {
    spans.push(span);
    return whole.costs(span);
  };
  return { ...whole, costs };
}

async function answered(words: string, rows: readonly CostRow[]): Promise<string> {
  return written(await answerForecast(words, context(rows), ASKER));
}

/**
 * The expected total by another way, in millionths: the locked days of the rows, and for each other day
 * the last locked day of the same weekday.
 */
function sameWeekday(rows: readonly CostRow[], { first, last }: Span): bigint {
  const locked = new Map<string, bigint>();
  for (const { day, total, locked: isLocked } of rows) {
    if (isLocked) locked.set(day, (locked.get(day) ?? 0n) + BigInt(total));
  }
  const start = [...locked.keys()].sort()[0] ?? first;
  let sum = 0n;
  for (let day = first < start ? start : first; day <= last; day = addDays(day, 1)) {
    let like = day;
    while (!locked.has(like)) like = addDays(like, -7);
    sum += locked.get(like) ?? 0n;
  }
  return sum;
}

const SPANS: Readonly<Record<string, Span>> = {
  month: { first: '2026-11-01', last: '2026-11-30' },
  quarter: { first: '2026-10-01', last: '2026-12-31' },
  year: { first: '2026-01-01', last: '2026-12-31' },
};

test.for(Object.entries(SPANS))(
  'the forecast of the %s is the locked days and the same weekdays again',
  async ([unit, span]) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 50, max: 5_000 }), fc.nat(900), async (one, other) => {
        const rows = [...costsOf('s-1', one), ...costsOf('s-2', other)];
        const [, total = ''] =
          /heading for ([\d,]+) credits/.exec(await answered(unit, rows)) ?? [];
        const expected = Number(sameWeekday(rows, span)) / 1e6;
        expect(Math.abs(Number(total.replaceAll(',', '')) - expected)).toBeLessThan(1);
      }),
      { numRuns: 20 },
    );
  },
);

test('a forecast has its range, its assumptions in one line, and what is reported so far', async () => {
  expect(await answered('', costsOf('s-1', 100))).toMatchInlineSnapshot(`
    "November 2026: heading for 2,280 credits (2,275–2,285)
    About 80% sure, if usage does not change: usually 77 credits per day, adjusted for weekdays.
    Reported 1–20 Nov: 1,400.0 credits
    Still expected: 880 credits in 11 days
    offers
    As of 2026-11-20 12:00 UTC · not final 18–19 Nov"
  `);
});

test.for<[string, string]>([
  ['refresh', 'month'],
  ['refresh year tag prod', 'year tag prod'],
  ['quarter refresh', 'quarter'],
])('cost forecast %s reads the report again', async ([words, same]) => {
  const spans: Span[] = [];
  const whole = context(costsOf('s-1', 100), spans);
  const by: string[] = [];
  const refreshCosts: CostContext['refreshCosts'] = async (span, asker) => {
    by.push(asker);
    return { ok: true, read: await whole.costs(span) };
  };
  const stored = { ...whole, costs: () => expect.fail('the stored report was read') };
  const refreshed = await answerForecast(words, { ...stored, refreshCosts }, ASKER);
  expect(by).toEqual([ASKER.by]);
  expect(written(refreshed)).toBe(written(await answerForecast(same, whole, ASKER)));
  expect(JSON.stringify(refreshed.parts)).toContain(`"line":"cost forecast ${same} refresh"`);
  expect(spans[0]).toEqual(spans[1]);
});

test('too many refreshes offer the stored forecast', async () => {
  const again = new Date('2026-11-20T12:10:00Z');
  const refreshCosts: CostContext['refreshCosts'] = async () => ({ ok: false, again });
  const limited = { ...context(costsOf('s-1', 100)), refreshCosts };
  const { title, parts } = await answerForecast('year refresh', limited, ASKER);
  expect(title).toBe('Not refreshed');
  expect(JSON.stringify(parts)).toContain('"line":"cost forecast year"');
});

test('a forecast of a scope has only its costs, and what it leaves out', async () => {
  const rows = [...costsOf('s-1', 100), ...costsOf('s-2', 50), ...costsOf('s-3', 10)];
  const all = await answered('year', costsOf('s-1', 100));
  const own = await answered('tag prod year', rows);
  expect(own.split('\n')[0]).toBe(`tag prod · ${all.split('\n')[0]}`);
  expect(own).toContain('storage and backups are billed to warehouses and not included');
  expect(own).toContain('1 service left out: not in signalbox.yaml');
  const named = await answered('analytics-prod year', rows);
  expect(named.split('\n')[0]).toBe(`analytics-prod · ${all.split('\n')[0]}`);
});

test('a day without data counts half of a usual day, and is named', async () => {
  const rows = costsOf('s-1', 100).filter(({ day }) => day !== '2026-11-11');
  const text = await answered('month', rows);
  expect(text).toContain('no data for Wed 11 Nov');
  expect(text).toContain('November 2026: heading for 2,230 credits');
});

test('days before the first report are not counted, and not called expected costs', async () => {
  const text = await answered('year', costsOf('s-1', 100, 60));
  const expected = Number(sameWeekday(costsOf('s-1', 100, 60), SPANS.year ?? expect.fail())) / 1e6;
  expect(text).toContain(`2026: heading for ${expected.toLocaleString('en-US')} credits`);
  expect(text).toContain('no data for 1 Jan – 20 Sep');
});

test('a shift of a few days has both hypotheses, and a range instead of a point', async () => {
  const rows = costsOf('s-1', 100).map((one) =>
    one.day >= '2026-11-16' ? { ...one, total: one.total * 4 } : one,
  );
  const text = await answered('month', rows);
  expect(text).toMatch(/^November 2026: heading for [\d,]+–[\d,]+ credits$/m);
  expect(text).toContain(
    'Since Mon 16 Nov it is 309: the range covers both, until seven days show a new level.',
  );
});

test('the next month is forecast, typed as one word or two', async () => {
  const text = await answered('next month', costsOf('s-1', 100));
  expect(text).toContain('December 2026: heading for 2,460 credits');
  expect(await answered('next-month', costsOf('s-1', 100))).toBe(text);
  expect(await answered('december', costsOf('s-1', 100))).toBe(text);
  expect(text).not.toMatch(/Reported|Still expected/);
});

test('with two days there is no forecast, and the reason', async () => {
  const text = await answered('month', costsOf('s-1', 100, 2));
  expect(text).toContain('November 2026: no forecast');
  expect(text).toContain('Only 2 days are known. A forecast needs 3.');
});

test('rows that cannot be read give no forecast, never 0', async () => {
  const lost = { name: 'without-figures', day: '2026-11-12', count: 3 } as const;
  const broken = costContext(costsOf('s-1', 100), {}, { problems: [lost] });
  const text = written(await answerForecast('', broken, ASKER));
  expect(text).toContain('November 2026: no forecast');
  expect(text).toContain('3 rows of the report could not be read.');
});

test('a month that could not be read is the reason for no forecast; an older copy is enough', async () => {
  const gap = { month: '2026-10', why: 'Too many requests', denied: false };
  const rows = costsOf('s-1', 100);
  const textWith = async (from: Date | null, kept: readonly CostRow[]) => {
    const { costs, ...rest } = context(kept);
    const withGap: CostContext['costs'] = async (span) => {
      return { ...(await costs(span)), gaps: [{ ...gap, from }] };
    };
    return written(await answerForecast('quarter', { ...rest, costs: withGap }, ASKER));
  };
  const unread = await textWith(
    null,
    rows.filter(({ day }) => !day.startsWith('2026-10')),
  );
  expect(unread).toContain('1 Oct – 31 Dec: no forecast\n2026-10 could not be read.');
  const stale = await textWith(new Date('2026-11-19T12:00:00Z'), rows);
  expect(stale).toContain('1 Oct – 31 Dec: heading for');
  expect(stale).toContain('2026-10 is from 2026-11-19 12:00 UTC');
});

test.for<[string, string, string]>([
  ['yaer', 'called “yaer”', 'cost forecast year'],
  ['7d', 'A forecast takes month, next-month, quarter or year', 'cost forecast month'],
  ['by day', 'A forecast takes month, next-month, quarter or year', 'cost forecast quarter'],
  ['month year', 'Choose one', 'cost forecast year'],
  ['tag prd', "There's no tag called “prd”", 'cost forecast tag prod'],
  ['stagin', 'called “stagin”', 'cost forecast staging'],
])('"%s" gets suggestions instead of a guess', async ([words, sentence, offer]) => {
  const { title, parts } = await answerForecast(words, context([]), ASKER);
  expect(title).toBe("I didn't understand that");
  expect(JSON.stringify(parts)).toContain(sentence);
  expect(JSON.stringify(parts)).toContain(`"line":"${offer}"`);
});

test('the month to date has the forecast of the month, of the same scope', async () => {
  const rows = [...costsOf('s-1', 100), ...costsOf('s-2', 50)];
  const alone = await answered('tag prod', rows);
  const [, total = ''] = /heading for ([\d,]+) credits/.exec(alone) ?? [];
  const answer = written(await answerCosts('mtd tag prod', context(rows), ASKER));
  expect(answer.split('\n')[0]).toMatch(new RegExp(` · November heading for ${total}$`));
});

test.for(['7d', 'last-month', 'qtd'])('%s has no forecast', async (words) => {
  const answer = await answerCosts(words, context(costsOf('s-1', 100)), ASKER);
  expect(written(answer)).not.toContain('forecast');
});

test('with a month that cannot be read the month to date has no forecast', async () => {
  const rows = costsOf('s-1', 100);
  const whole = context(rows);
  const gap = { month: '2026-09', why: 'FORBIDDEN', denied: true, from: null };
  const costs: CostContext['costs'] = async (span) => {
    const read = await whole.costs(span);
    return span.first < '2026-11-01' ? { ...read, gaps: [gap] } : read;
  };
  const answer = written(await answerCosts('mtd', { ...whole, costs }, ASKER));
  expect(answer).toContain('1–19 Nov');
  expect(answer).not.toContain('forecast');
});

/** The price of all days, and the price since Monday of last week. */
const PRICES: PriceList = [
  { from: '2026-01-01', currency: 'EUR', perCredit: 320_000 },
  { from: '2026-11-16', currency: 'EUR', perCredit: 350_000 },
];

async function inMoney(words: string, rows: readonly CostRow[], prices = PRICES) {
  const { costs, ...rest } = context(withPrices(rows, prices));
  const priced: CostContext['costs'] = async (span) => ({ ...(await costs(span)), prices });
  return {
    ...rest,
    costs: priced,
    answer: await answerForecast(words, { ...rest, costs: priced }, ASKER),
  };
}

test('with a price the total of a forecast has money beside it', async () => {
  // Settled: 10 weekdays and 5 days of weekends at 0.32 (352.00), 2 weekdays at 0.35 (70.00). The
  // other 13 days cost 980 credits at 0.35 (343.00), of which 100 are reported (35.00).
  const { answer } = await inMoney('', costsOf('s-1', 100));
  expect(written(answer)).toMatchInlineSnapshot(`
    "November 2026: heading for 2,280 credits (2,275–2,285) · €765
    About 80% sure, if usage does not change: usually 77 credits per day, adjusted for weekdays.
    Reported 1–20 Nov: 1,400.0 credits
    Still expected: 880 credits in 11 days
    offers
    As of 2026-11-20 12:00 UTC · not final 18–19 Nov"
  `);
});

test('the title of the month to date has the forecast in money', async () => {
  const { answer: _, ...priced } = await inMoney('', costsOf('s-1', 100));
  const { title } = await answerCosts('mtd', priced, ASKER);
  expect(title).toMatch(/credits \(€[\d,.]+\) so far · November heading for 2,280 \(€\d{3}\)$/);
});

test('a price that begins with the first report is the price of the whole year', async () => {
  // 60 days of rows: 1 January to 20 September have no rows and no price.
  const prices = [{ from: '2026-09-21', currency: 'EUR', perCredit: 500_000 }];
  const { answer } = await inMoney('year', costsOf('s-1', 100, 60), prices);
  const [, credits = '', money = ''] =
    /for ([\d,]+) credits \(.*?\) · €([\d,]+)/.exec(answer.title) ?? [];
  const number = (text: string) => Number(text.replaceAll(',', ''));
  expect(number(money)).toBeCloseTo(number(credits) / 2, -0.5);
});

test('a price that begins within the month gives no money for a part of it', async () => {
  const prices = [{ from: '2026-11-16', currency: 'EUR', perCredit: 500_000 }];
  const { answer } = await inMoney('', costsOf('s-1', 100), prices);
  expect(answer.title).toBe('November 2026: heading for 2,280 credits (2,275–2,285)');
});
