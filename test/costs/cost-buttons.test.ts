import { expect, test } from 'vitest';
import type { CommandContext } from '../../src/commands/index.ts';
import { answerCosts } from '../../src/costs/answer.ts';
import { answerForecast } from '../../src/costs/forecast.ts';
import type { CostContext } from '../../src/costs/question.ts';
import { answerWhy } from '../../src/costs/why.ts';
import type { Answer } from '../../src/domain/answer.ts';
import { type PriceList, withPrices } from '../../src/maths/money.ts';
import type { CostGap } from '../../src/maths/report.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { daily } from '../maths/rows.ts';
import { ASKER, costContext, NOW } from './asking.ts';
import { written } from './written.ts';

/** Three services from 1 August to 19 November; each day costs more. */
const RISING = ['s-1', 's-2', 's-3'].flatMap((entityId, place) =>
  daily(
    '2026-08-01',
    Array.from({ length: 111 }, (_, index) => 100 + index * (place + 1)),
    { entityId, entityName: entityId },
  ),
);

const TOMORROW = new Date('2026-11-21T12:00:00Z');

interface Report {
  readonly now?: Date;
  readonly rows?: readonly CostRow[];
  readonly gaps?: readonly CostGap[];
  readonly prices?: PriceList | null;
}

function context({ rows = RISING, gaps = [], now = NOW, prices = null }: Report): CostContext {
  const whole = costContext(withPrices(rows, prices), { now: () => now }, { prices });
  const costs: CostContext['costs'] = async (span) => {
    const months = gaps.filter(({ month }) => month >= span.first.slice(0, 7));
    return { ...(await whole.costs(span)), gaps: months };
  };
  const refreshCosts: CostContext['refreshCosts'] = async (span) => {
    return { ok: true, read: await costs(span) };
  };
  const costChanges = async () => [];
  return { ...whole, costs, refreshCosts, costChanges } as CommandContext;
}

/** The answer to a line as it is typed after the slash. */
async function answered(line: string, report: Report = {}): Promise<Answer> {
  const [, verb = '', words = ''] = /^cost (why|forecast|)\s?(.*)$/.exec(line) ?? [];
  const own = context(report);
  if (verb === 'forecast') return answerForecast(words, own, ASKER);
  if (verb === 'why') return answerWhy(words, own as Parameters<typeof answerWhy>[1], ASKER);
  return answerCosts(words, own, ASKER);
}

/** The line of each button, by its label. */
function buttons(answer: Answer): Readonly<Record<string, string>> {
  return offersIn(answer, 'offers');
}

function offersIn({ parts }: Answer, kind: 'offers' | 'menu'): Readonly<Record<string, string>> {
  const offers = parts.flatMap((part) =>
    part.kind === kind && 'offers' in part ? part.offers : [],
  );
  return Object.fromEntries(offers.map(({ label, line }) => [label, line]));
}

test('one day is not offered by day', async () => {
  expect(buttons(await answered('cost yesterday'))).toHaveProperty('By metric');
  expect(buttons(await answered('cost yesterday by metric'))).toHaveProperty('By service');
});

test('an answer has at most four buttons, the rest is in a menu', async () => {
  const month = await answered('cost');
  expect(Object.keys(buttons(month))).toEqual(['By day', 'Why', 'Share here', 'Refresh']);
  expect(offersIn(month, 'menu')).toEqual({
    CSV: 'cost csv 2026-11-01..2026-11-19 by service',
    Forecast: 'cost forecast',
    'Last month': 'cost last-month by service',
  });
  expect(Object.keys(offersIn(await answered('cost last-month'), 'menu'))).toEqual(['CSV']);
});

test.for([
  'cost',
  'cost mtd vs prev',
  'cost qtd vs prev top 3',
  'cost last-month vs prev',
  'cost last-month by day',
  'cost 2026-07..2026-09 by month',
  'cost 7d by metric top 2',
  'cost why',
  'cost why last-month',
  'cost why 7d',
  'cost why this-week vs last-week',
  'cost forecast year',
])('the button “Refresh” of “%s” asks the same question', async (line) => {
  const first = await answered(line);
  const again = await answered(buttons(first).Refresh ?? '');
  expect(written(again)).toBe(written(first));
  expect(buttons(again)).toEqual(buttons(first));
});

test.for(['cost mtd vs prev', 'cost qtd vs prev', 'cost last-month vs prev', 'cost 7d vs prev'])(
  'the button “Why” of “%s” explains the same two periods, also on the next day',
  async (line) => {
    const answer = await answered(line);
    const [, compared] = / vs ([^(,]+?)(?: \(|, on)/.exec(written(answer)) ?? [];
    const { title } = await answered(buttons(answer).Why ?? '', { now: TOMORROW });
    // Where not all days of the periods compare, the title says how many do.
    const withoutDays = title?.replace(/, on \d+ of \d+ days: /, ': ');
    expect(withoutDays).toContain(` vs ${compared} (UTC): +`);
  },
);

test.for([
  ['cost qtd by day', 'vs 1 Jul – 19 Aug'],
  ['cost last-month', 'vs September 2026'],
  ['cost 7d', 'vs 6–12 Nov'],
])(
  'the button “Compare with previous” of “%s” compares %s, also on the next day',
  async ([line = '', words = '']) => {
    const offered = buttons(await answered(line))['Compare with previous'] ?? '';
    expect(written(await answered(offered, { now: TOMORROW }))).toContain(words);
  },
);

test('the month so far is compared with the same days of the previous month, if possible', async () => {
  const month = await answered('cost');
  expect(written(month)).toContain('+26% vs 1–19 Oct (13,680). The weekdays differ.');
  expect(written(month)).toContain('Service | Credits | Share | Change');
  expect(Object.keys(buttons(month))).toContain('Why');
  const prices = [{ from: '2026-01-01', currency: 'EUR', perCredit: 320_000 }];
  const priced = written(await answered('cost', { prices }));
  expect(priced).toContain('+26% vs 1–19 Oct');
  expect(priced).toContain('Service | Credits | Share | Change\n');
  const alone = { rows: RISING.filter(({ day }) => day >= '2026-11-01') };
  const first = await answered('cost', alone);
  expect(written(first)).not.toContain('compare');
  expect(Object.keys(buttons(first))).toContain('Compare with previous');
  for (const line of ['cost 7d', 'cost 19d', 'cost last-month', 'cost qtd'])
    expect(written(await answered(line))).not.toContain(' vs ');
});

const OLDER: CostGap = {
  month: '2026-10',
  why: 'no connection',
  denied: false,
  from: new Date('2026-11-19T12:00:00Z'),
};

test('the month has its forecast with an older copy of a month, and shows its age', async () => {
  const now = await answered('cost mtd');
  const older = await answered('cost mtd', { gaps: [OLDER] });
  expect(older.title).toBe(now.title);
  expect(older.title).toContain(' · November heading for ');
  expect(written(older)).toContain('2026-10 is from 2026-11-19 12:00 UTC');
  const unread = await answered('cost mtd', { gaps: [{ ...OLDER, from: null }] });
  expect(unread.title).not.toContain('forecast');
});

test('“final” leaves out open days, says so, and stays in the buttons', async () => {
  const rows = RISING.map((one) => ({ ...one, locked: one.day < '2026-11-18' }));
  const all = await answered('cost 7d', { rows });
  const final = await answered('cost 7d final', { rows });
  expect(all.title).toMatch(/ so far$/);
  expect(final.title).toBe('13–19 Nov (UTC): 4,680.0 credits');
  expect(written(final)).toContain('not final or no data for 18–19 Nov');
  expect(Object.values(buttons(final)).every((line) => line.includes(' final'))).toBe(true);
  const open = await answered('cost yesterday final', { rows });
  expect(written(open)).toContain('None of these days is final.');
});
