import { describe, expect, test } from 'vitest';
import { addDays } from '../../src/base/time.ts';
import { composeDigest } from '../../src/costs/digest.ts';
import { judgeCosts } from '../../src/costs/unusual.ts';
import type { AppliedChange } from '../../src/maths/anomalies.ts';
import { row, TODAY } from '../maths/rows.ts';
import { budgetFor, factsFor, nineWeeks, readingOf } from './facts.ts';
import { written } from './written.ts';

const YESTERDAY = '2026-11-19';
const QUIET = nineWeeks();
/** Two lines of a title on a phone. */
const TITLE_MAX = 56;

const STOPPED: AppliedChange = {
  id: 'ADHZMF',
  serviceId: 's-2',
  service: 'staging',
  what: 'stopped',
  day: '2026-11-17',
  direction: 'down',
  before: null,
  after: null,
  isUnknown: false,
};

function digestOf(...given: Parameters<typeof factsFor>) {
  const facts = factsFor(...given);
  const composed = composeDigest(facts);
  return { ...composed, facts, text: written(composed.message), title: composed.message.title };
}

test('a quiet day is one conclusion, one line, the bars and one grey line', () => {
  const read = readingOf(QUIET);
  const { text, title } = digestOf(read, { budgets: [budgetFor(read)] });
  expect(text).toMatchInlineSnapshot(`
    "Yesterday, Thu 19 Nov: 145 credits so far, as usual
    November 3,619 of 9,000. Within budget, nothing unusual.
    chart of 14, the last 19
    As of 2026-11-20 08:00 UTC · not final 18–19 Nov · days in UTC · Next digest 2026-11-23 08:30 UTC"
  `);
  expect(title.length).toBeLessThanOrEqual(TITLE_MAX);
});

test('nothing is within budget whose forecast is above it, also before that is news', () => {
  const read = readingOf(QUIET);
  const near = budgetFor(read, { credits: 3_500, name: 'production', isOwn: false });
  const first = { ...near, memory: { ...near.memory, step: 'within' as const } };
  const { text } = digestOf(read, { budgets: [budgetFor(read), first] });
  expect(text).toContain(
    'Nothing unusual. Budget production: November heading for 3,619 of 3,500 (+3%).',
  );
  expect(text).not.toContain('Within budget');
});

test('an unusual cost is in the title, with its line and buttons', () => {
  const read = readingOf(
    nineWeeks(TODAY, 2, (day, id) => (day >= '2026-11-17' && id === 's-2' ? 3 : 1)),
  );
  const { text, notable } = digestOf(read, { budgets: [budgetFor(read)] });
  expect(text).toMatchInlineSnapshot(`
    "Yesterday: 206 credits so far, unusual: staging +198%
    November 3,813 of 9,000.
    ⚠ staging +198% since Tue 17 Nov, +60.8 credits per day
    actions
    chart of 14, the last 19
    As of 2026-11-20 08:00 UTC · not final 18–19 Nov · days in UTC · Next digest 2026-11-23 08:30 UTC"
  `);
  expect(notable).toBe(true);
});

test('what Signalbox did is explained by the change, with the present name of the service', () => {
  const rows = nineWeeks(TODAY, 2, (day, id) => (day >= '2026-11-18' && id === 's-2' ? 0 : 1));
  const read = readingOf(rows, { changes: [{ ...STOPPED, service: 'old-name' }] });
  const { text, title } = digestOf(read);
  expect(text).not.toContain('old-name');
  expect(text).toContain('By your changes: staging stopped (ADHZMF) −30.6 credits per day');
  expect(text).not.toContain('⚠');
  expect(title).not.toContain('unusual');
});

test.for<[string, object, factor: number]>([
  ['less', STOPPED, 0],
  ['more', { ...STOPPED, what: 'started', direction: 'up' }, 3],
])('a day that costs %s by a change is neither above nor below usual', ([word, change, factor]) => {
  const rows = nineWeeks(TODAY, 2, (day, id) => (day >= '2026-11-18' && id === 's-2' ? factor : 1));
  const { text, title } = digestOf(readingOf(rows, { changes: [{ ...STOPPED, ...change }] }));
  expect(title).toContain(`, ${word} by your changes`);
  expect(text).toContain('Nothing unusual.');
  expect(text).not.toMatch(/the usual/);
});

test('a day outside of its usual range is never called nothing unusual', () => {
  const rows = nineWeeks(TODAY, 2, (day) => (day === YESTERDAY ? 1.2 : 1));
  const { text, title } = digestOf(readingOf(rows));
  expect(title).toContain('above the usual');
  expect(text).toContain('No single line is unusual.');
  expect(text).not.toContain('Nothing unusual');
});

test('a decrease without a change is one grey part from its second day on', () => {
  const rows = nineWeeks(TODAY, 2, (day, id) => (day >= '2026-11-18' && id === 's-2' ? 0 : 1));
  const { text } = digestOf(readingOf(rows));
  expect(text).toContain(' · staging cost nothing since Wed 18 Nov · ');
  expect(text).not.toContain('⚠');
});

describe('the title has one conclusion, in this order', () => {
  const double = nineWeeks(TODAY, 2, (day, id) => (day >= '2026-11-18' && id === 's-1' ? 2 : 1));

  test.for<[string, number, string]>([
    ['over the budget', 1_000, '“November over budget: 2,'],
    ['almost certainly over', 2_900, '“November almost certainly over budget: 3,'],
  ])('%s', ([, credits, expected]) => {
    const read = readingOf(credits === 1_000 ? double : QUIET);
    const { title, text } = digestOf(read, { budgets: [budgetFor(read, { credits })] });
    expect(`“${title}`).toContain(expected);
    // Where the title has no room for the day, it is the first line.
    expect(text).toMatch(/(?: · y|\nY)esterday(?:, Thu 19 Nov)?: [\d.]+ credits so far/);
    expect(title.length).toBeLessThanOrEqual(TITLE_MAX);
  });

  test('over a budget of others, by its name', () => {
    const read = readingOf(QUIET);
    const other = budgetFor(read, { credits: 1_000, name: 'production', isOwn: false });
    expect(digestOf(read, { budgets: [other] }).title).toMatch(
      /^November over budget production: [\d,]+ of 1,000$/,
    );
  });

  test('beside a budget that is over, whether the day was usual, and no word about a forecast', () => {
    const read = readingOf(QUIET);
    const { text } = digestOf(read, { budgets: [budgetFor(read, { credits: 1_000 })] });
    expect(text).not.toMatch(/heading|likely/);
    expect(text.toLowerCase()).toContain('as usual');
  });

  test('a wide range instead of a point', () => {
    const rows = nineWeeks(TODAY, 2, (day) => (day >= '2026-11-17' ? 4 : 1));
    const { title, text } = digestOf(readingOf(rows));
    expect(text).toMatch(/ November heading for [\d,]+–[\d,]+\.\n/);
    expect(title.length).toBeLessThanOrEqual(TITLE_MAX);
  });
});

describe('a day that is not final', () => {
  const open = (completeness: object | null) =>
    QUIET.map((one) =>
      one.day === YESTERDAY ? { ...one, openDay: { age: 1, completeness } as never } : one,
    );

  test('the thread says what it costs when it is final, if that is known', () => {
    const completeness = { share: 0.9, error: 0.02, common: 0 };
    const { thread } = digestOf(readingOf(open(completeness)));
    expect(thread && written(thread)).toMatch(/When final: about 1[56]\d credits/);
  });

  test('that was seen once has no verdict', () => {
    const { title, text } = digestOf(readingOf(open(null)));
    expect(text).toContain(' · Thu 19 Nov seen once · ');
    expect(title).not.toContain('usual');
  });
});

test('rows that cannot be read leave no headline and no forecast, but say what is missing', () => {
  const lost = { name: 'without-figures', day: YESTERDAY, count: 3 } as const;
  const { title, text } = digestOf(readingOf(QUIET, { problems: [lost] }));
  expect(title).toBe('Yesterday, Thu 19 Nov: not known');
  expect(text).toContain('\n3 rows of the report could not be read. November not known.\n');
  expect(text).not.toMatch(/\b0 credits/);
});

test('a report that cannot be read now is the first line', () => {
  const from = new Date('2026-11-19T08:00Z');
  const gap = { month: '2026-11', why: 'no answer', denied: false, from };
  const { text } = digestOf(readingOf(QUIET, { gaps: [gap] }));
  expect(text).toContain(
    '⚠ These figures are from 2026-11-19 08:00 UTC: the usage report cannot be read now (no answer).',
  );
});

test('at most three lines to act on, the others are in the thread', () => {
  const rows = Array.from({ length: 6 }, (_, index) =>
    nineWeeks(TODAY, 2, (day) => (day >= YESTERDAY ? 3 : 1)).map((one) => ({
      ...one,
      entityId: `${one.entityId}-${index}`,
      serviceId: one.serviceId && `${one.serviceId}-${index}`,
      entityName: `${one.entityName}-${index}`,
    })),
  ).flat();
  const { text, thread } = digestOf(readingOf(rows));
  expect(text.match(/⚠/g)).toHaveLength(3);
  expect(text).toContain('more in the thread)');
  expect(thread && written(thread)).toContain('Unusual: ');
});

test('an increase of days ago is reported once', () => {
  const rows = nineWeeks(TODAY, 2, (day, id) => (day === '2026-11-18' && id === 's-1' ? 3 : 1));
  const { text, facts } = digestOf(readingOf(rows));
  expect(text).not.toContain('⚠');
  const before = { covers: { first: '2026-11-18', last: '2026-11-18' }, today: YESTERDAY };
  const judged = judgeCosts({ read: facts.read, today: YESTERDAY });
  expect(digestOf(facts.read, { ...before, judged }).text).toContain('⚠ analytics-prod');
});

test('the thread has the figures, the changes and the table', () => {
  const read = readingOf(QUIET);
  const { thread } = digestOf(read, { budgets: [budgetFor(read)] });
  expect(thread && written(thread)).toMatchInlineSnapshot(`
    "Details of Thu 19 Nov (UTC)
    Usual on Thu 19 Nov: 141–148 credits
    1–20 Nov: 2,347.0 credits
    November: heading for 3,619 credits (3,609–3,629), about 80% sure
    Budget: everything 26% · November heading for 3,619 of 9,000 (−60%)
    Changed most vs Thu 12 Nov, as reported so far:
    • analytics-prod · compute −1.0 (−1%)
    • staging · compute −0.30 (−1%)
    Service | Credits | Share | Change
    analytics-prod | 102.0 | 71% | −1.0
    staging | 30.6 | 21% | −0.30
    warehouse main: storage + backup | 12.0 | 8% | ±0
    As of 2026-11-20 08:00 UTC"
  `);
});

test('the month and its budget count the same days, with the day so far', () => {
  const openDay = { age: 0, completeness: null };
  const today = row({ day: TODAY, credits: 105, locked: false, openDay });
  const read = readingOf([...QUIET, today]);
  const { thread } = digestOf(read, { budgets: [budgetFor(read, { credits: 2_400 })] });
  const text = thread ? written(thread) : '';
  expect(text).toContain('1–20 Nov: 2,452.0 credits');
  expect(text).toContain('November over: 2,452 of 2,400 spent');
});

test('a digest of a week has its sum, compared with the week before', () => {
  const covers = { first: '2026-11-09', last: '2026-11-15' };
  const { title, text } = digestOf(readingOf(QUIET), { covers, period: 'week' });
  expect(title).toMatch(/^9–15 Nov: [\d.,]+ credits, [+−±]\d+% vs 2–8 Nov$/);
  expect(text).toContain('\nNovember heading for ');
});

test('a digest in the first days of December names the month of each figure', () => {
  const today = '2026-12-01';
  const { text } = digestOf(readingOf(nineWeeks(today)), { today });
  expect(text).toMatch(/^Yesterday, Mon 30 Nov: .*\nDecember heading for/);
  expect(text).not.toMatch(/\bmonth\b/);
});

test('the last posted day is that of the digest', () => {
  const { lastPosted } = digestOf();
  expect(lastPosted.day).toBe(YESTERDAY);
  expect(lastPosted.days.at(-1)?.day).toBe(YESTERDAY);
  expect(lastPosted.days.length).toBeLessThanOrEqual(57);
  expect(addDays(lastPosted.day, 1)).toBe(TODAY);
});

describe('a title has at most two lines on a phone', () => {
  const LONG = 'analytics-for-the-whole-company';
  const priced = { perCredit: 3_500_000, currency: 'EUR' };
  const named = (rows: ReturnType<typeof nineWeeks>) =>
    rows.map((one) => ({ ...one, entityName: LONG, total: one.total * 100, price: priced }));
  const triple = (service: string) =>
    named(nineWeeks(TODAY, 2, (day, id) => (day === YESTERDAY && id === service ? 3 : 1)));
  const lost = { name: 'without-figures', day: YESTERDAY, count: 12 } as const;
  const once = { age: 1, completeness: null };
  const week = { covers: { first: '2026-11-09', last: '2026-11-15' }, period: 'week' } as const;
  const over = (credits: number, isOwn = true) => [
    budgetFor(readingOf(named(QUIET)), { name: LONG, credits, isOwn }),
  ];
  const given = (rows = named(QUIET), facts: object = {}, reading: object = {}) =>
    [readingOf(rows, reading), facts] as const;

  test.for<readonly [string, ReturnType<typeof given>, string]>([
    ['as usual', given(), 'as usual'],
    ['above usual', given(triple('s-2').map((one) => ({ ...one, openDay: once }))), 'nusual'],
    ['unusual', given(triple('s-1')), 'Unusual: analy'],
    ['without rows', given(named(QUIET.filter(({ day }) => day < YESTERDAY))), 'no data yet'],
    ['not known', given(undefined, {}, { problems: [lost] }), 'not known'],
    ['a week', given(undefined, week), '9–15 Nov: '],
    ['over', given(undefined, { budgets: over(1_000) }), 'November over budget'],
    ['over, of others', given(undefined, { budgets: over(1_000, false) }), 'November over budget'],
    ['almost', given(undefined, { budgets: over(300_000) }), 'November almost certainly over'],
  ])('%s', ([, facts, expected]) => {
    for (const scope of [null, LONG]) {
      const [read, over = {}] = facts;
      const { title, text } = digestOf(read, { ...over, scope });
      expect(title).toContain(expected);
      expect(title.length, title).toBeLessThanOrEqual(TITLE_MAX);
      // What has no room in the title is the next line.
      expect(text).toMatch(/credits|not known|no data/);
    }
  });
});

test('a week whose days still grow is not compared with one that is final', () => {
  const covers = { first: '2026-11-13', last: YESTERDAY };
  const { title } = digestOf(readingOf(nineWeeks(TODAY, 8)), { covers, period: 'week' });
  expect(title).toMatch(/^13–19 Nov: [\d.,]+ credits so far( · |$)/);
});

test('a week is not compared with one of which rows were lost, nor has the thread its table', () => {
  const covers = { first: '2026-11-09', last: '2026-11-15' };
  const lost = { name: 'without-figures', day: '2026-11-04', count: 1 } as const;
  const read = readingOf(QUIET, { problems: [lost] });
  const { title, thread } = digestOf(read, { covers, period: 'week' });
  expect(title).not.toContain(' vs ');
  expect(thread && written(thread)).not.toMatch(/Changed most|Service \|/);
});

test('a digest over a budget has one ⚠ line, which says what to do, and its buttons', () => {
  const read = readingOf(nineWeeks());
  const todo =
    '⚠ See what grew this month, and stop or scale it, or raise the budget in signalbox.yaml.';
  for (const credits of [1_000, 2_900]) {
    const { message, text } = digestOf(read, { budgets: [budgetFor(read, { credits })] });
    expect(text.split('\n').filter((line) => line.includes('⚠'))).toEqual([todo]);
    const [offers] = message.parts.filter(({ kind }) => kind === 'offers');
    expect(JSON.stringify(offers)).toMatch(/"cost why mtd".*"cost budget"/);
  }
  expect(digestOf(read, { budgets: [budgetFor(read)] }).text).not.toContain('⚠');
});
