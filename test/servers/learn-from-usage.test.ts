import { expect, test } from 'vitest';
import { learnFromUsage } from '../../src/costs/index.ts';
import type { CloudClient } from '../../src/servers/cloud.ts';
import { UsageCosts } from '../../src/servers/cloud-replies.ts';
import { knownServices } from '../../src/servers/facts.ts';
import { createTestContext } from '../workflow/context.ts';

const ID = '1525c708-e4bc-426d-a9e7-d11b6c27caf5';

/** The names that are learned from rows of these types and names, all with one id. */
async function learned(
  rows: readonly (readonly [entityType: string | null, entityName: string])[],
) {
  const costs = rows.map(([entityType, entityName]) => ({
    ...{ entityType, entityName, entityId: ID, serviceId: ID, date: '2026-11-19' },
  }));
  const getUsageCost = async () => ({ result: UsageCosts.parse({ costs }) });
  const { context } = await createTestContext();
  const cloud = { getUsageCost } as unknown as CloudClient;
  await learnFromUsage({ ...context, organizationId: 'o1', cloud });
  return (await knownServices(context.store.root)).map(({ name }) => name);
}

test('the name of a service is learned from its row', async () => {
  expect(await learned([[null, 'staging']])).toEqual(['staging']);
});

test('a warehouse with the id of a service does not give the service its name', async () => {
  const rows = [['service', 'staging'] as const, ['datawarehouse', 'main'] as const];
  expect(await learned(rows)).toEqual(['staging']);
});
