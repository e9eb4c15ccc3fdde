import { expect, test } from 'vitest';
import { ALERT_READS, type AlertRead } from '../../../sandbox/api/optional-reads.ts';
import { alertsServer } from '../servers.ts';

const PATHS: Readonly<Record<AlertRead, string>> = {
  'list webhooks': '/../webhooks',
  'list saved searches': '/../saved-searches',
  'list dashboards': '/../dashboards',
};

test.for(ALERT_READS)('%s is answered by servers that have it', async (name) => {
  const { ask, alerts } = await alertsServer();
  expect((await ask('GET', PATHS[name])).status).toBe(200);
  expect(alerts.count(name)).toBe(1);
  const statuses: number[] = [];
  for (const profile of ['code-2026-07', 'code-2026-01', 'docs'] as const) {
    alerts.profile(profile);
    statuses.push((await ask('GET', PATHS[name])).status);
  }
  const inJanuary = name === 'list dashboards' ? 200 : 404;
  expect(statuses).toEqual([200, inJanuary, 404]);
  alerts.profile('code');
  alerts.withoutReads({ [name]: 405 });
  expect((await ask('GET', PATHS[name])).status).toBe(405);
});

test('webhooks have pages, and one is counted but not listed', async () => {
  const { ask } = await alertsServer();
  const { json } = await ask('GET', '/../webhooks');
  expect(json.meta).toEqual({ total: 3, limit: 1_000, offset: 0 });
  const webhooks = Object.values(json.data ?? {});
  expect(webhooks.map((one) => one?.name)).toEqual(['Paging', 'Production alerts']);
  expect(webhooks[0]?.url).toMatch(/secret/);
  const page = await ask('GET', '/../webhooks?limit=1&offset=2');
  expect(page.json.meta?.total).toBe(3);
  const refused = await ask('GET', '/../webhooks?limit=1001');
  expect(refused.status).toBe(400);
});
