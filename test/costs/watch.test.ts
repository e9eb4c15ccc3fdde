import { pino } from 'pino';
import { expect, test } from 'vitest';
import { digestReader } from '../../src/costs/config.ts';
import { createIncidentService, listAnomalies } from '../../src/costs/incident-answers.ts';
import { incidentId } from '../../src/costs/incidents.ts';
import { ofOrganizations } from '../../src/costs/organizations.ts';
import { judgeCosts } from '../../src/costs/unusual.ts';
import { createCostWatch } from '../../src/costs/watch.ts';
import type { Refusal, UserId } from '../../src/domain/change.ts';
import { createDenial } from '../../src/domain/gate.ts';
import { evolveIncident, evolvePost } from '../../src/domain/log-events.ts';
import type { CostReading } from '../../src/maths/report.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { installation, KEYS } from '../log/logs.ts';
import { TODAY } from '../maths/rows.ts';
import { digest, nineWeeks, readingOf, scopeOf } from './facts.ts';
import { written } from './written.ts';

const ANA = 'U0ANA00001' as UserId;
const TRIPLED = (today: string) =>
  nineWeeks(today, 2, (day, id) => (day >= '2026-11-19' && id === 's-1' ? 3 : 1));

async function watching(digests: readonly object[] = []) {
  const readOptions = digestReader(scopeOf());
  const configured = digests.map((one) => digest({ at: '09:00', ...one }).options);
  const stage = {
    now: new Date('2026-11-18T05:00:00Z'),
    rows: nineWeeks() as readonly CostRow[],
    read: null as CostReading | null,
  };
  const { open } = await installation('sqlite');
  const events = await open(KEYS, { now: () => stage.now.getTime() });
  const context = {
    store: events.store,
    events,
    configured,
    readOptions,
    costs: async () => stage.read ?? readingOf(stage.rows),
    budgets: [],
    services: () => [],
    floor: {},
    log: pino({ level: 'silent' }),
    now: () => stage.now,
  };
  const watch = createCostWatch(context);
  const at = async (time: string, rows: readonly CostRow[]) => {
    stage.now = new Date(`${time}Z`);
    stage.rows = rows;
    await watch();
    const posts = await events.loadAll('post', evolvePost);
    return [...posts.values()].map(({ state }) => state?.announced?.answer.title);
  };
  return { at, context, stage };
}

test('a severe cost is announced once, on a day without a digest', async () => {
  // Saturday and Sunday have no digest.
  const { at } = await watching([{ days: 'weekdays' }]);
  expect(await at('2026-11-19T07:00', nineWeeks('2026-11-19'))).toEqual([]);
  const expected = ['Unusual cost: analytics-prod ×3.0 since Thu 19 Nov, +206.8 credits per day'];
  expect(await at('2026-11-21T07:00', TRIPLED('2026-11-21'))).toEqual(expected);
  expect(await at('2026-11-22T07:00', TRIPLED('2026-11-22'))).toEqual(expected);
});

test.for<[string, readonly object[], string]>([
  ['the digest of the day tells it', [{ days: 'daily' }], '2026-11-21T07:00'],
  ['no digest covers it', [], '2026-11-21T07:00'],
  ['the figures of yesterday are not in yet', [{ days: 'weekdays' }], '2026-11-21T05:00'],
])('nothing is announced while %s', async ([, digests, time]) => {
  const { at } = await watching(digests);
  await at('2026-11-19T07:00', nineWeeks('2026-11-19'));
  await at('2026-11-20T07:00', nineWeeks('2026-11-20'));
  expect(await at(time, TRIPLED('2026-11-21'))).toEqual([]);
});

test('an organization that cannot be read stops no other, and is scanned when it returns', async () => {
  const { at, stage } = await watching([{ days: 'weekdays' }]);
  const part = (name: string, rows: readonly CostRow[], isMissing = false) => {
    const own = rows.map((row) => ({ ...row, entityName: `${name}-${row.entityName}` }));
    const ids = own.map((row) => ({
      ...row,
      entityId: name + row.entityId,
      serviceId: row.serviceId && name + row.serviceId,
      organization: name,
    }));
    const gaps = isMissing ? [{ month: '2026-11', why: 'down', denied: false, from: null }] : [];
    return { name, isMissing, read: readingOf(ids, { gaps }) };
  };
  const both = (rows: readonly CostRow[], isDown = false) => {
    const organizations = [part('eu', rows), part('us', isDown ? [] : rows, isDown)];
    stage.read = ofOrganizations(readingOf([], { organizations }), ['eu', 'us']);
  };
  both(nineWeeks('2026-11-19'));
  expect(await at('2026-11-19T07:00', [])).toEqual([]);
  both(TRIPLED('2026-11-21'), true);
  const eu = 'Unusual cost: eu-analytics-prod ×3.0 since Thu 19 Nov, +206.8 credits per day';
  expect(await at('2026-11-21T07:00', [])).toEqual([eu]);
  expect(await at('2026-11-21T07:20', [])).toEqual([eu]);
  both(TRIPLED('2026-11-21'));
  const all = await at('2026-11-21T07:40', []);
  expect(all.toSorted()).toEqual([eu, eu.replace('eu-', 'us-')]);
  expect(await at('2026-11-21T08:00', [])).toHaveLength(2);
});

test('what began before the first scan is not news', async () => {
  const { at } = await watching([{ days: 'weekdays' }]);
  expect(await at('2026-11-21T07:00', TRIPLED('2026-11-21'))).toEqual([]);
});

test('the list has what is unusual, what is not watched, and the floor', async () => {
  const { context, stage } = await watching();
  stage.now = new Date(`${TODAY}T08:00:00Z`);
  stage.rows = TRIPLED(TODAY);
  expect(written(await listAnomalies(context))).toMatchInlineSnapshot(`
    "1 unusual cost in 3 lines
    ⚠ analytics-prod +199% on Thu 19 Nov, +203.7 credits per day
    actions
    As of 2026-11-20 08:00 UTC · reported from 2.4 credits per day"
  `);
  stage.rows = nineWeeks();
  expect((await listAnomalies(context)).title).toBe('Nothing unusual in 3 lines');
});

function buttons({ context }: Awaited<ReturnType<typeof watching>>, isAllowed = true) {
  const denial = createDenial('role-missing' as Refusal);
  return createIncidentService({
    ...context,
    wake: () => undefined,
    authorize: async () => (isAllowed ? { ok: true } : { ok: false, denial }),
  });
}

test('Expected makes the costs usual, is in the log, and a second press says so', async () => {
  const all = await watching();
  all.stage.now = new Date(`${TODAY}T08:00:00Z`);
  all.stage.rows = TRIPLED(TODAY);
  const [unusual] = judgeCosts({ read: readingOf(all.stage.rows), today: TODAY }).unusual;
  if (!unusual) throw new Error('nothing is unusual');
  const press = { id: incidentId(unusual), by: ANA, key: 'press:1', verb: 'expected' } as const;
  const service = buttons(all);
  const details = await service.details(press);
  expect(details.ok && written(details.answer)).toContain('Thu 19 Nov | 306.0* | 10');
  const first = await service.press(press);
  expect(first.ok && written(first.answer)).toContain('Noted as expected.');
  const { state } = await all.context.events.load(`incident/${press.id}`, evolveIncident);
  expect(state).toMatchObject({ press: 'press:1', name: 'analytics-prod' });
  const again = await service.press(press);
  expect(again.ok && written(again.answer)).toContain('Noted as expected.');
  const second = await service.press({ ...press, key: 'press:2' });
  expect(second.ok && second.answer.title).toBe('Not unusual any more');
  expect((await listAnomalies(all.context)).title).toBe('Nothing unusual in 3 lines');
});

test('a user who may not list unusual costs marks none', async () => {
  const all = await watching();
  all.stage.rows = TRIPLED(TODAY);
  all.stage.now = new Date(`${TODAY}T08:00:00Z`);
  const press = { id: 'x', by: ANA, key: 'press:1', verb: 'expected' } as const;
  expect((await buttons(all, false).press(press)).ok).toBe(false);
});
