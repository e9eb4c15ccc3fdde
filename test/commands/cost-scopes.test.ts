import { expect, test } from 'vitest';
import { cost } from '../../src/commands/cost.ts';
import { type CostRow, microOf } from '../../src/maths/rows.ts';
import { ASKER, costContext } from '../costs/asking.ts';
import { costService } from '../costs/facts.ts';
import { written } from '../costs/written.ts';
import { daily, warehouseRow } from '../maths/rows.ts';

const SERVICES = [
  costService('s-1', {
    ...{ name: 'analytics-prod', tags: ['prod'] },
    team: 'search',
    warehouse: 'main',
  }),
  costService('s-2', { name: 'staging', team: 'search', warehouse: 'main' }),
];
const METRICS = { computeCredits: microOf(8), dataTransferCredits: microOf(2) };
const ROWS: readonly CostRow[] = [
  ...daily('2026-11-02', [9, 9, 9, 9, 9, 9, 9]),
  ...daily('2026-11-09', [10, 10, 10, 10, 10, 10, 10], { metrics: METRICS }),
  ...daily('2026-11-09', [1, 1, 1, 1, 1, 1, 1], { entityId: 's-2', entityName: 'staging' }),
  ...daily('2026-11-09', [5], { entityId: 's-3', entityName: '=new' }),
  warehouseRow({ day: '2026-11-09', credits: 3 }),
];

const answered = (words: string) =>
  cost.answer({ words }, costContext(ROWS, { services: SERVICES }), ASKER);

const text = async (words: string) => written(await answered(words));

test('a team against last week: the total, each service, and what is left out', async () => {
  const answer = await text('last-week team search vs prev');
  expect(answer).toContain('team search · 9–15 Nov (UTC): 77.0 credits');
  expect(answer).toContain('+22% vs 2–8 Nov (63.0).');
  expect(answer).toContain('analytics-prod | 70.0 | 91% | +7.0');
  expect(answer).toContain('staging | 7.0 | 9% | +7.0 (new)');
  expect(answer).toContain('storage and backups are billed to warehouses and not included');
  expect(answer).toContain('1 service left out: not in signalbox.yaml');
});

test('the teams against last week, each credit in one line', async () => {
  const answer = await text('last-week by team vs prev');
  expect(answer).toContain('search | 77.0 | 91% | +14.0');
  expect(answer).toContain('not in signalbox.yaml | 5.0 | 6% | +5.0 (new)');
  expect(answer).toContain('warehouses: storage + backup | 3.0 | 4% | +3.0 (new)');
  expect(answer).not.toContain('left out');
});

test('several services are one scope, and the buttons keep it', async () => {
  const answer = await answered('last-week analytics-prod staging by metric');
  expect(written(answer)).toContain('analytics-prod, staging · 9–15 Nov (UTC): 77.0 credits');
  expect(JSON.stringify(answer.parts)).toContain(
    '"cost csv 2026-11-09..2026-11-15 by metric only analytics-prod only staging"',
  );
});
