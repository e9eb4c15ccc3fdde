import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scopedRows } from '../../src/costs/question.ts';
import type { Service } from '../../src/domain/targets.ts';
import type { Grouping } from '../../src/maths/lines.ts';
import { sumBy } from '../../src/maths/lines.ts';
import { readPeriod } from '../../src/maths/period.ts';
import { ALL_COSTS, type QuestionScope } from '../../src/maths/question.ts';
import type { CostRow } from '../../src/maths/rows.ts';
import { pipeRow, randomRows, row, TODAY, warehouseRow } from '../maths/rows.ts';
import { costService } from './facts.ts';

const SERVICES = [
  costService('s-1', { tags: ['prod', 'eu'], team: 'search', warehouse: 'main' }),
  costService('s-2', { tags: ['prod'] }),
  costService('s-3', { team: 'growth' }),
  costService('s-4', { tags: null }),
];

const LAB = { entityId: 'w-2', entityName: 'Lab West', warehouseId: 'w-2' };
const ROWS = [
  row({ entityId: 's-1', credits: 1 }),
  pipeRow({ entityId: 'p-1', serviceId: 's-1', credits: 2 }),
  row({ entityId: 's-2', warehouseId: 'w-2', credits: 4 }),
  row({ entityId: 's-3', credits: 8 }),
  row({ entityId: 's-4', credits: 16 }),
  warehouseRow({ credits: 32 }),
  warehouseRow({ ...LAB, credits: 64 }),
];

const reading = readPeriod('7d', TODAY);
const period = reading.ok ? reading.period : expect.fail('7d');

function scoped(scope: Partial<QuestionScope>, by: Grouping = 'service', rows = ROWS) {
  const question = { period, by, scope: { ...ALL_COSTS, ...scope } };
  return scopedRows(question, rows, SERVICES);
}

function credits(scope: Partial<QuestionScope>): number {
  return scoped(scope).rows.reduce((sum, { total }) => sum + total, 0) / 1e6;
}

test.for<[string, Partial<QuestionScope>, number]>([
  ['nothing: all costs', {}, 127],
  ['one service, with its pipes', { service: ['s-1'] }, 3],
  ['several services', { service: ['s-1', 's-3'] }, 11],
  ['a tag, with the storage of the warehouses that have no other service', { tag: ['prod'] }, 71],
  ['any of two tags, each service once', { tag: ['prod', 'eu'] }, 71],
  ['all but a service', { not: ['s-4'] }, 111],
  ['a metric', { metric: ['storage'] }, 0],
  ['two metrics', { metric: ['compute', 'storage'] }, 127],
  ['a metric that no row has', { metric: ['backup'] }, 0],
  ['a team', { team: ['search'] }, 3],
  ['any of two teams', { team: ['search', 'growth'] }, 11],
  ['a tag and a team that both must match', { tag: ['prod'], team: ['growth'] }, 0],
  ['a service without the tag', { service: ['s-3'], tag: ['prod'] }, 0],
])('a scope of %s', ([, scope, expected]) => {
  expect(credits(scope)).toBe(expected);
});

const STORAGE = 'warehouses: storage + backup';

test.for<[Grouping, readonly string[]]>([
  ['tag', ['prod 68', `${STORAGE} 32`, 'not in signalbox.yaml 16', 'no tag 8', 'eu, prod 3']],
  ['team', ['no team 68', `${STORAGE} 32`, 'not in signalbox.yaml 16', 'growth 8', 'search 3']],
])('by %s, each credit is in one line', ([by, expected]) => {
  const found = scoped({}, by);
  const lines = sumBy(found.rows, by, period);
  expect(lines.map(({ name, total }) => `${name} ${total / 1e6}`)).toEqual(expected);
});

test('a tag or team called “warehouses” is another line than their storage', () => {
  const services = [costService('s-1', { tags: ['warehouses'], team: 'warehouses' })];
  for (const by of ['tag', 'team'] as const) {
    const question = { period, by, scope: ALL_COSTS };
    const found = scopedRows(question, ROWS, services);
    const lines = sumBy(found.rows, by, period);
    const sums = new Map(lines.map(({ name, total }) => [name, total / 1e6]));
    expect(sums.get('warehouses')).toBe(3);
    expect(sums.get('warehouses: storage + backup')).toBe(96);
  }
});

/** The sums by team again, by another way: from the team to the rows of its services. */
function byTeam(rows: readonly CostRow[], services: readonly Service[]): Map<string, bigint> {
  const sum = (own: readonly CostRow[]) => own.reduce((all, { total }) => all + BigInt(total), 0n);
  // The storage of a warehouse belongs to the team of all of its services.
  const isOnly = (warehouse: string | null, ids: readonly string[]) => {
    const own = rows.filter(
      ({ serviceId, warehouseId }) => serviceId !== null && warehouseId === warehouse,
    );
    return own.length > 0 && own.every(({ serviceId }) => ids.includes(serviceId ?? ''));
  };
  const ofServices = (ids: readonly string[]) =>
    rows.filter(({ serviceId, kind, warehouseId }) =>
      kind === 'warehouse'
        ? warehouseId !== null && isOnly(warehouseId, ids)
        : ids.includes(serviceId ?? ''),
    );
  const teams = [...new Set(services.flatMap(({ team }) => team ?? []))];
  const known = teams.map((team): [string, bigint] => {
    return [team, sum(ofServices(services.filter((one) => one.team === team).map(({ id }) => id)))];
  });
  const others = services.filter(({ team, tags }) => team === null && tags !== null);
  const listed = services.filter(({ tags }) => tags !== null).map(({ id }) => id);
  const unknown = rows.filter(
    ({ serviceId, kind }) => kind !== 'warehouse' && !listed.includes(serviceId ?? ''),
  );
  const all: [string, bigint][] = [
    ...known,
    ['no team', sum(ofServices(others.map(({ id }) => id)))],
    ['not in signalbox.yaml', sum(unknown)],
  ];
  const rest = sum(rows) - all.reduce((total, [, amount]) => total + amount, 0n);
  return new Map([...all, ['warehouses: storage + backup', rest]]);
}

test('the sums by team are an independent sum, to the millionth', () => {
  const services = [
    costService('e-0', { team: 'search' }),
    costService('e-1', { team: 'growth' }),
    costService('e-2', { team: 'search' }),
    costService('e-3'),
    costService('e-4', { tags: null }),
  ];
  const question = { period, by: 'team', scope: ALL_COSTS } as const;
  const whole = { first: '2026-01-01', last: '2026-12-31' };
  fc.assert(
    fc.property(randomRows, (random) => {
      const rows = random.map(({ labels, ...one }): CostRow => one);
      const found = scopedRows(question, rows, services);
      const lines = sumBy(found.rows, 'team', whole);
      const sums = lines.map(({ name, total }): [string, bigint] => [name, BigInt(total)]);
      const nonZero = (all: Iterable<[string, bigint]>) =>
        new Map([...all].filter(([, amount]) => amount !== 0n));
      expect(nonZero(sums)).toEqual(nonZero(byTeam(rows, services)));
    }),
  );
});
