import fc from 'fast-check';
import leven from 'leven';
import { expect, test } from 'vitest';
import { readPeriod } from '../../src/maths/period.ts';
import {
  ALL_COSTS,
  type CostQuestion,
  correctLine,
  type Names,
  type QuestionScope,
  readQuestion,
  wordsOfScope,
} from '../../src/maths/question.ts';
import { TODAY } from './rows.ts';

const NAMES = ['analytics-prod', 'staging', '2026-archive', 'two words', 'october'];
const names: Names = {
  tag: ['prod', 'dev'],
  team: ['search', 'Growth'],
  called: (text) => {
    if (text === 'twin') return ['id-1', 'id-2'];
    return NAMES.includes(text) ? [text] : [];
  },
  near: (text) => NAMES.filter((name) => leven(name, text) < 3),
};

function read(typed: string) {
  return readQuestion(typed.split(' ').filter(Boolean), TODAY, names);
}

function period(text: string) {
  const reading = readPeriod(text, TODAY);
  if (!reading.ok) throw new Error(text);
  return reading.period;
}

const PLAIN: CostQuestion = {
  ...{ period: period('mtd'), by: 'service', versus: null, top: null, scope: ALL_COSTS },
  ...{ refresh: false, share: false, average: false, final: false },
};

function only(...service: readonly string[]): QuestionScope {
  return { ...ALL_COSTS, service };
}

test.for<[string, Partial<CostQuestion>]>([
  ['', {}],
  ['7d', { period: period('7d') }],
  ['by day', { by: 'day' }],
  ['By Warehouse MTD', { by: 'warehouse' }],
  ['vs prev', { versus: 'prev' }],
  ['7d vs last-week', { period: period('7d'), versus: period('last-week') }],
  ['vs 2026-09 last-month', { period: period('last-month'), versus: period('2026-09') }],
  ['top 5', { top: 5 }],
  ['analytics-prod', { scope: only('analytics-prod') }],
  ['2026-archive 7d', { scope: only('2026-archive'), period: period('7d') }],
  ['two words by month', { scope: only('two words'), by: 'month' }],
  ['only analytics-prod 7d top 3', { scope: only('analytics-prod'), period: period('7d'), top: 3 }],
  ['only october', { scope: only('october') }],
  ['refresh', { refresh: true }],
  ['mtd share', { share: true }],
  ['final 7d', { final: true, period: period('7d') }],
  ['average 7d', { average: true, period: period('7d') }],
  ['not staging not october', { scope: { ...ALL_COSTS, not: ['staging', 'october'] } }],
  ['compute 7d', { scope: { ...ALL_COSTS, metric: ['compute'] }, period: period('7d') }],
  ['metric data-transfer', { scope: { ...ALL_COSTS, metric: ['data-transfer'] } }],
  ['staging analytics-prod', { scope: only('staging', 'analytics-prod') }],
  ['staging,analytics-prod 7d', { period: period('7d'), scope: only('staging', 'analytics-prod') }],
  ['staging, two words', { scope: only('staging', 'two words') }],
  ['only october staging staging', { scope: only('october', 'staging') }],
  ['tag prod', { scope: { ...ALL_COSTS, tag: ['prod'] } }],
  ['tag=prod,dev', { scope: { ...ALL_COSTS, tag: ['prod', 'dev'] } }],
  ['Tag PROD tag dev', { scope: { ...ALL_COSTS, tag: ['prod', 'dev'] } }],
  ['team growth staging', { scope: { ...only('staging'), team: ['Growth'] } }],
  ['by=day top=5', { by: 'day', top: 5 }],
  ['service=staging,october', { scope: only('staging', 'october') }],
  ['by tag tag prod', { by: 'tag', scope: { ...ALL_COSTS, tag: ['prod'] } }],
  ['october', { period: period('2026-10') }],
  ['last month by day', { period: period('last-month'), by: 'day' }],
  ['Last 7 Days', { period: period('7d') }],
  ['october 2025 vs september 2025', { period: period('2025-10'), versus: period('2025-09') }],
])('"%s" is understood', ([typed, question]) => {
  expect(read(typed)).toEqual({ ok: true, question: { ...PLAIN, ...question } });
});

test.for<[string, string, string, readonly string[]]>([
  ['by servcie', 'no-grouping', 'servcie', ['by service']],
  ['by', 'no-grouping', '', ['by service']],
  ['vs', 'no-comparison', '', ['vs prev']],
  ['vs previous', 'no-comparison', 'previous', ['vs prev']],
  ['vs average', 'no-comparison', 'average', []],
  ['vs 2026-13', 'unknown-words', '2026-13', ['vs 2026-11']],
  ['vs 500 days', 'too-long', '500 days', ['vs 400d']],
  ['top', 'no-number', '', ['top 5']],
  ['top many', 'no-number', 'many', ['top 5']],
  ['top 0', 'no-number', '0', ['top 5']],
  ['top 101', 'no-number', '101', ['top 5']],
  ['only', 'unknown-service', '', []],
  ['only by day', 'unknown-service', '', []],
  ['only stagin top 3', 'unknown-service', 'stagin', ['staging']],
  ['only twin', 'shared-name', 'twin', ['id-1', 'id-2']],
  ['twin by day', 'shared-name', 'twin', ['id-1', 'id-2']],
  ['7d 30d', 'given-twice', '30d', ['7d', '30d']],
  ['by day by day', 'given-twice', 'by day', ['by day']],
  ['by month 2026 by day', 'given-twice', 'by day', ['by month', 'by day']],
  ['tag', 'unknown-tag', '', ['tag prod', 'tag dev']],
  ['tag prd', 'unknown-tag', 'prd', ['tag prod']],
  ['tag prod,dve', 'unknown-tag', 'dve', ['tag dev']],
  ['team=serach', 'unknown-team', 'serach', ['team search']],
  ['service=stagin', 'unknown-service', 'stagin', ['staging']],
  ['service=', 'unknown-service', '', []],
  ['staging,twin', 'unknown-words', 'staging,twin', []],
  ['7d prod', 'unknown-words', 'prod', ['tag prod']],
  ['serch by day', 'unknown-words', 'serch', ['team search']],
  ['2026-11-19..2026-11-01', 'reversed', '2026-11-19..2026-11-01', ['2026-11-01..2026-11-19']],
  ['500 days by day', 'too-long', '500 days', ['400d']],
  ['mtd service', 'unknown-service', '', []],
  ['analytics-prdo', 'unknown-words', 'analytics-prdo', ['analytics-prod']],
  ['7d two wrods by day', 'unknown-words', 'two wrods', ['two words']],
  ['staging frobnicate', 'unknown-words', 'frobnicate', []],
  ['7d refersh', 'unknown-words', 'refersh', ['refresh']],
  ['refresh 7d refresh', 'given-twice', 'refresh', ['refresh']],
  ['lastmonth', 'unknown-words', 'lastmonth', ['last-month']],
  ['octobre', 'unknown-words', 'octobre', ['october']],
  ['by=dya', 'no-grouping', 'dya', ['by day']],
  ['zone=Mars/Phobos', 'unknown-words', 'zone=Mars/Phobos', []],
  ['not tag prod', 'unknown-service', 'tag prod', []],
  ['not', 'unknown-service', '', []],
])('"%s" is refused as %s', ([typed, problem, text, nearest]) => {
  const reading = read(typed);
  expect(reading).toMatchObject({ ok: false, problem, text });
  if (reading.ok) return;
  expect(reading.nearest.slice(0, nearest.length)).toEqual(nearest);
});

test('the order of the words does not matter', () => {
  const parts = ['30d', 'by day', 'vs prev', 'top 4', 'refresh', 'two words', 'tag prod'];
  fc.assert(
    fc.property(fc.shuffledSubarray(parts, { minLength: parts.length }), (words) => {
      expect(read(words.join(' '))).toEqual(read(parts.join(' ')));
    }),
  );
});

test.for<[string, string, string]>([
  ['7d by servce top 5', 'by service', '7d by service top 5'],
  ['7d by', 'by day', '7d by day'],
  ['7d stagin by day', 'staging', '7d staging by day'],
  ['7d by day 30d', '30d', '30d by day'],
  ['mtd vs 500 days top 3', 'vs 400d', 'mtd vs 400d top 3'],
  ['500 days by day', '400d', '400d by day'],
  ['7d tag prd by day', 'tag prod', '7d tag prod by day'],
  ['by day 7d by week', 'by week', 'by week 7d'],
])(
  'in "%s", "%s" takes the place of what was misread and of nothing else',
  ([typed, near, all]) => {
    const reading = read(typed);
    expect(reading.ok ? [] : reading.nearest).toContain(near);
    expect(correctLine(typed.split(' '), reading.ok ? [] : reading.about, near)).toBe(all);
  },
);

test('the words of a scope select the same again, whatever a service is called', () => {
  const scope = {
    ...{ organization: [], service: ['october', 'two words'], tag: ['prod'], team: ['Growth'] },
    ...{ not: ['staging'], metric: ['data-transfer'] },
  };
  expect(read(wordsOfScope(scope).join(' '))).toMatchObject({ ok: true, question: { scope } });
});
