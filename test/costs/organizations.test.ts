import { expect, test } from 'vitest';
import { answerCosts, answerCsv } from '../../src/costs/answer.ts';
import { listBudgets } from '../../src/costs/budget-answer.ts';
import { budgetStanding } from '../../src/costs/budgets.ts';
import { composeDigest } from '../../src/costs/digest.ts';
import { toLastPosted } from '../../src/costs/digest-data.ts';
import { answerForecast, homeCosts } from '../../src/costs/forecast.ts';
import { listAnomalies } from '../../src/costs/incident-answers.ts';
import { ofOrganizations } from '../../src/costs/organizations.ts';
import { answerWhy } from '../../src/costs/why.ts';
import { dayStates } from '../../src/maths/days.ts';
import type { CostReading, OrganizationCosts } from '../../src/maths/report.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { freshLog } from '../log/logs.ts';
import { daily, row, TODAY } from '../maths/rows.ts';
import { ASKER, costContext } from './asking.ts';
import { budgetFor, factsFor, nineWeeks, readingOf } from './facts.ts';
import { written } from './written.ts';

const NOW = new Date(`${TODAY}T08:00:00Z`);
const NAMES = ['prod-eu', 'prod-us'];

/** The rows under other ids, as another organization has them. */
function elsewhere(rows: readonly CostRow[]): readonly CostRow[] {
  const other = <Id extends string | null>(id: Id) => (id === null ? id : `us-${id}`) as Id;
  return rows.map((one) => ({
    ...one,
    entityId: other(one.entityId),
    serviceId: other(one.serviceId),
    warehouseId: other(one.warehouseId),
  }));
}

function part(name: string, rows: readonly CostRow[], read: Partial<CostReading> = {}) {
  const own = rows.map((one) => ({ ...one, organization: name }));
  return { name, read: readingOf(own, read), isMissing: false };
}

const FAILED = { month: '2026-11', why: 'no connection', denied: false, from: null };

function together(...parts: readonly OrganizationCosts[]): CostReading {
  return ofOrganizations(
    readingOf([], { organizations: parts }),
    parts.map(({ name }) => name),
  );
}

const EU = part('prod-eu', nineWeeks());
const US = part('prod-us', elsewhere(nineWeeks(TODAY, 2, () => 0.5)));
const DOWN = { ...part('prod-us', [], { gaps: [FAILED], fetchedAt: null }), isMissing: true };
const BOTH = together(EU, US);
const PARTLY = together(EU, DOWN);

function context(read: CostReading): Parameters<typeof answerWhy>[1] {
  const organizations = NAMES.map((name) => ({ name }));
  const given = { costs: async () => read, costChanges: async () => [], organizations };
  return costContext([], { ...given, now: () => NOW });
}

const asked = async (words: string, read: CostReading) =>
  written(await answerCosts(words, context(read), ASKER));

test('the answer has the total of all; lines of one name are two, with their organization', async () => {
  const text = await asked('yesterday', BOTH);
  expect(text).toMatch(/^Thu 19 Nov \(UTC\): 222\.9 credits so far$/m);
  expect(text).toContain('prod-eu/analytics-prod | 10');
  expect(text).toContain('prod-us/analytics-prod | 5');
  expect(text).toContain('warehouse prod-us/main: storage + backup');
  const apart = together(EU, part('prod-us', [row({ entityId: 'x', entityName: 'reports' })]));
  expect(await asked('mtd', apart)).toMatch(/^reports \| 100\.0/m);
});

test.for([
  ['yesterday by organization', 'prod-eu | 14', 'prod-us | 7'],
  ['yesterday by organization not nothing', "There's no service called", 'nothing'],
])('/cost %s', async ([words = '', ...texts]) => {
  const text = await asked(words, BOTH);
  for (const each of texts) expect(text).toContain(each);
});

test.for(['mtd organization=prod-us', 'mtd prod-us', 'organization PROD-US mtd'])(
  '/cost %s is about one of them, and so is its forecast',
  async (words) => {
    const text = await asked(words, BOTH);
    const { title } = await answerCosts('mtd', { ...context(US.read), organizations: [] }, ASKER);
    expect(text.split('\n')[0]).toBe(`prod-us · ${title}`);
    expect(text).not.toContain('prod-eu');
    expect(text).toContain('analytics-prod | ');
  },
);

test('with a single organization nothing is grouped by it', async () => {
  const { organizations: _, ...single } = context(readingOf(nineWeeks()));
  const text = written(await answerCosts('mtd by organization', single, ASKER));
  expect(text).toContain('only by service, warehouse, day, metric, week, month, tag, team.');
});

test('an organization that cannot be read is left out of every figure, and named', async () => {
  const text = await asked('mtd', PARTLY);
  expect(text).toMatch(/^without prod-us · 1–19 Nov \(UTC\): [\d,.]+ credits so far$/m);
  expect(text).not.toContain('heading for');
  expect(text).toContain('prod-us 2026-11 is missing: no connection');
  const alone = await asked('mtd', EU.read);
  const change = /^[+−±]\d+% vs .*$/m;
  expect(change.exec(text)?.[0]).toBe(change.exec(alone)?.[0]);
});

test('the answer about the others is whole, and about the missing one it is not known', async () => {
  expect(await asked('mtd prod-eu', PARTLY)).toMatch(/^prod-eu · 1–19 Nov.*heading for/);
  expect(await asked('mtd prod-us', PARTLY)).toContain('The usage report cannot be read now');
});

test('why and forecast name the missing one; no forecast compares a part with all', async () => {
  const why = written(await answerWhy('7d', context(PARTLY), ASKER));
  expect(why).toMatch(/^without prod-us · 13–19 Nov vs/);
  const forecast = written(await answerForecast('', context(PARTLY), ASKER));
  expect(forecast).toMatch(/^without prod-us · November 2026: heading for/);
});

test('the file names the organization of each row, where there are several', async () => {
  const file = async (read: CostReading) => {
    const { parts } = await answerCsv('yesterday', context(read), ASKER);
    return parts.flatMap((one) => (one.kind === 'file' ? one.text.split('\r\n') : []));
  };
  const lines = await file(BOTH);
  expect(lines[0]).toMatch(/^organization,day,kind,/);
  expect(lines.filter((line) => line.startsWith('prod-us,2026-11-19,'))).toHaveLength(3);
  expect((await file(readingOf(nineWeeks())))[0]).toMatch(/^day,kind,/);
});

test('a day is open while it is open in one, and its completeness is that of the sum', () => {
  const open = (share: number) => ({ age: 1, completeness: { share, error: 0.1, common: 0.05 } });
  const day = (organization: string, over: Parameters<typeof row>[0]) =>
    part(organization, [row({ entityId: organization, day: '2026-11-19', ...over })]);
  const stateOf = (...parts: readonly OrganizationCosts[]) => {
    const span = { first: '2026-11-19', last: '2026-11-19' };
    return dayStates(together(...parts).rows, span)[0];
  };
  const half = day('prod-us', { credits: 50, locked: false, openDay: open(0.5) });
  const state = stateOf(day('prod-eu', { credits: 100 }), half);
  expect(state?.state).toBe('preliminary');
  // 150 credits now, 100 + 100 when final.
  expect(state?.openDay?.completeness).toEqual({ share: 0.75, error: 0.05, common: 0.025 });
  expect(stateOf(day('prod-eu', {}), day('prod-us', {}))?.state).toBe('final');
  const unseen = day('prod-us', { locked: false, openDay: { age: 1, completeness: null } });
  expect(stateOf(day('prod-eu', {}), unseen)?.openDay?.completeness).toBeNull();
});

test('a report without rows of a day yet leaves the day open; after three weeks it cost nothing', () => {
  const late = together(
    part('prod-eu', daily('2026-10-01', Array(50).fill(10))),
    part('prod-us', daily('2026-10-01', Array(20).fill(5), { entityId: 'x' })),
  );
  const states = dayStates(late.rows, { first: '2026-10-01', last: '2026-11-19' });
  const open = states.filter(({ state }) => state === 'preliminary').map(({ day }) => day);
  expect([open[0], open.length]).toEqual(['2026-10-29', 22]);
  const young = together(
    part('prod-eu', daily('2026-11-01', Array(19).fill(10))),
    part('prod-us', daily('2026-11-15', Array(5).fill(5), { entityId: 'x' })),
  );
  const own = dayStates(young.rows, { first: '2026-11-01', last: '2026-11-19' });
  expect(own.every(({ state }) => state === 'final')).toBe(true);
});

test('a digest has the total, and a line for each organization', () => {
  const text = written(composeDigest(factsFor(BOTH)).message);
  expect(text).toMatch(/^Yesterday, Thu 19 Nov: 223 credits so far, as usual/);
  expect(text).toMatch(/^prod-eu: 14\d credits so far\nprod-us: 7\d credits so far$/m);
  const single = written(composeDigest(factsFor(readingOf(nineWeeks()))).message);
  expect(single).not.toMatch(/: \d+ credits so far$/m);
  const ofTag = factsFor(BOTH, { selector: { services: ['s-1'] }, scope: 'tag prod' });
  expect(written(composeDigest(ofTag).message)).not.toContain('prod-eu: ');
});

test('a digest without an organization says so, and compares no part with the whole', () => {
  // It was over while all could be read.
  const { memory } = budgetFor(BOTH, { credits: 1_000 });
  const budgets = [{ ...budgetFor(PARTLY, { credits: 1_000 }), memory }];
  const { message, thread, notable } = composeDigest(factsFor(PARTLY, { budgets }));
  const text = written(message);
  expect(text).toMatch(/^Yesterday: 14\d credits so far without prod-us/);
  expect(text).toContain('November not known');
  expect(text).toContain('⚠ Figures of prod-us are missing: the usage report cannot be read now');
  expect(text).toContain('prod-us: not known');
  expect(text).not.toContain('over budget');
  expect(notable).toBe(true);
  const figures = thread ? written(thread) : '';
  expect(figures).toContain('everything not known: prod-us could not be read');
  expect(figures).not.toContain('heading for');
});

test('what a whole digest posted is not compared with a part', () => {
  const final = { first: '2026-11-18', last: '2026-11-18' };
  const rows = nineWeeks(TODAY, 0);
  const all = together(part('prod-eu', rows), part('prod-us', elsewhere(rows)));
  const before = factsFor(all, { covers: final });
  const lastPosted = toLastPosted(before, before.judged.states, []);
  const later = together(part('prod-eu', rows), DOWN);
  const text = written(composeDigest(factsFor(later, { lastPosted })).message);
  expect(text).not.toContain('became final');
});

test('a budget of one organization goes on while another cannot be read', async () => {
  const of = { services: null, tags: null, warehouses: null, teams: null };
  const budget = (name: string, organizations: readonly string[] | null) => {
    const named = organizations?.map((one) => ({ name: one, id: one }));
    const on = named ? { ...of, organizations: named } : null;
    return { name, credits: 1_000, on, notify: '#costs', thresholds: [100] };
  };
  const inputs = { services: [], today: TODAY };
  const eu = budgetStanding(budget('eu', ['prod-eu']), { ...inputs, read: PARTLY });
  expect(eu).toMatchObject({ missing: null });
  expect(eu.spent).toBeCloseTo(
    budgetStanding(budget('eu', null), { ...inputs, read: EU.read }).spent,
  );
  const budgets = [budget('eu', ['prod-eu']), budget('us', ['prod-us']), budget('all', null)];
  const given = { budgets, services: () => [], now: () => NOW };
  const text = written(await listBudgets({ ...given, costs: async () => PARTLY }));
  expect(text).toContain('1 of 3 over or heading over');
  expect(text).toContain('⚠ eu: over');
  expect(text).toContain('us: not known\nNot known: 2026-11 could not be read');
  expect(text).toContain('all: not known\nNot known: prod-us could not be read');
});

test('the list of unusual costs says what it is without', async () => {
  const events = await freshLog('sqlite');
  const costs = async () => PARTLY;
  const given = { events, store: events.store, costs, floor: {}, now: () => NOW };
  expect((await listAnomalies(given)).title).toBe('Nothing unusual in 3 lines without prod-us');
});

test('Home has the total, and says what it leaves out', async () => {
  const title = async (read: CostReading) => (await homeCosts(async () => read, NOW))?.title;
  expect(await title(BOTH)).toMatch(/^Yesterday 222\.9 credits so far, as usual$/);
  expect(await title(PARTLY)).toMatch(/^Yesterday 14\d\.\d credits so far without prod-us/);
  expect(await homeCosts(async () => together(DOWN, { ...DOWN, name: 'b' }), NOW)).toBeNull();
});
