import { expect, test } from 'vitest';
import { cost } from '../../src/commands/cost.ts';
import type { CommandContext } from '../../src/commands/define.ts';
import type { UserId } from '../../src/domain/change.ts';
import type { Service } from '../../src/domain/targets.ts';
import { type CostRow, microOf } from '../../src/maths/rows.ts';
import { written } from '../costs/written.ts';
import { daily, warehouseRow } from '../maths/rows.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const ASKER = { by: 'U0ANA00001' as UserId, channel: null };

function service(id: string, name: string, over: Partial<Service> = {}): Service {
  const rest = { organizationId: 'o1', aliases: [], warehouse: 'main', pipes: [], lastSeen: null };
  return { id, name, tags: [], team: null, source: 'configuration', ...rest, ...over };
}

const SERVICES = [
  service('s-1', 'analytics-prod', { tags: ['prod'], team: 'search' }),
  service('s-2', 'staging', { team: 'search' }),
];
const METRICS = { computeCredits: microOf(8), dataTransferCredits: microOf(2) };
const ROWS: readonly CostRow[] = [
  ...daily('2026-11-02', [9, 9, 9, 9, 9, 9, 9]),
  ...daily('2026-11-09', [10, 10, 10, 10, 10, 10, 10], { metrics: METRICS }),
  ...daily('2026-11-09', [1, 1, 1, 1, 1, 1, 1], { entityId: 's-2', entityName: 'staging' }),
  ...daily('2026-11-09', [5], { entityId: 's-3', entityName: '=new' }),
  warehouseRow({ day: '2026-11-09', credits: 3 }),
];

async function answered(words: string, command: typeof cost = cost) {
  const costs = async () => ({ rows: ROWS, fetchedAt: NOW, problems: [], gaps: [] });
  // Everything that this command reads; any other read throws.
  const context = { costs, services: SERVICES, now: () => NOW } as unknown as CommandContext;
  return command.answer({ words }, context, ASKER);
}

async function text(words: string): Promise<string> {
  return written(await answered(words));
}

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
