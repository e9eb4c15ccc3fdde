import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import type { Observation } from '../../src/base/http.ts';
import type { Api } from '../../src/base/log.ts';
import { routeOf } from '../../src/ops/telemetry.ts';
import { createAlertsClient } from '../../src/servers/alerts.ts';
import { createCloudClient } from '../../src/servers/cloud.ts';
import { testClock } from '../base/loopback.ts';

const IDS = {
  organizationId: 'an-organization',
  serviceId: 'a-service',
  pipeId: 'a-pipe',
  backupId: 'a-backup',
  id: 'an-alert',
  endpointId: 'an-endpoint',
  keyId: 'a',
};

const BODY = { threshold: 5, interval: '5m', thresholdType: 'above', source: 'tile' };

/** The path of every operation that the clients send, with its API. */
async function sentPaths() {
  const paths: string[] = [];
  const server = createServer((request, reply) => {
    paths.push((request.url ?? '').split('?')[0] ?? '');
    request.resume();
    reply.writeHead(404, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const seen: { api: Api; operation: string }[] = [];
  const observe =
    (api: Api) =>
    ({ operation }: Observation) =>
      void seen.push({ api, operation });
  const secret = new Secret('a-key');
  const { organizationId, serviceId, pipeId, backupId, id, endpointId, keyId } = IDS;
  const time = { ms: 0 };
  const clock = { ...testClock(), now: () => time.ms };
  const reads = { mode: 'extended', now: () => new Date(), onOff: () => undefined } as const;
  const common = { baseUrl, version: 'test', clock, reads };
  const cloud = createCloudClient({
    ...common,
    observe: observe('cloud'),
    organizationId,
    keyId,
    keySecret: secret,
  });
  const alerts = createAlertsClient({ ...common, observe: observe('alerts'), token: secret });
  const calls: readonly (() => Promise<unknown>)[] = [
    () => cloud.createService({ name: 'one more' }),
    () => cloud.createReversePrivateEndpoint(serviceId, { type: 'VPC_ENDPOINT_SERVICE' }),
    () => cloud.updateReplicaScaling(serviceId, { numReplicas: 2 }),
    () => cloud.updateServiceState(serviceId, { command: 'stop' }),
    () => cloud.getUsageCost({ from_date: '2026-11-01', to_date: '2026-11-02' }),
    () => cloud.getPipeSettings(serviceId, pipeId),
    () => cloud.getBackup(serviceId, backupId),
    () => cloud.reads.organizations(),
    () => cloud.reads.services(),
    () => cloud.reads.service(serviceId),
    () => cloud.reads.schedule(serviceId),
    () => cloud.reads.backups(serviceId),
    () => cloud.reads.pipes(serviceId),
    () => cloud.reads.endpoints(serviceId),
    () => cloud.reads.endpoint(serviceId, endpointId),
    () => cloud.reads.activities({ from_date: '2026-11-01', to_date: '2026-11-02' }),
    () => cloud.reads.key(),
    () => alerts.reads.webhooks(),
    () => alerts.reads.savedSearches(),
    () => alerts.reads.dashboards(),
    () => alerts.listAlerts(),
    () => alerts.getAlert(id),
    () => alerts.updateAlert(id, BODY),
  ];
  for (const call of calls) {
    // Later than the request budget of the call before.
    time.ms += 11_000;
    await call().catch(() => undefined);
  }
  await Promise.all([cloud.close(), alerts.close()]);
  return seen.map((call, at) => ({ ...call, path: paths[at] ?? '' }));
}

test('the route of each operation and each optional read is its path without ids', async () => {
  const calls = await sentPaths();
  expect(new Set(calls.map(({ operation }) => operation)).size).toBe(23);
  const filled = (route: string) =>
    Object.entries(IDS).reduce((path, [name, id]) => path.replace(`{${name}}`, id), route);
  for (const { api, operation, path } of calls) {
    expect(filled(routeOf(api, operation))).toBe(path);
  }
});

test('an unknown operation has the route “other”', () => {
  expect(routeOf('cloud', 'canary')).toBe('other');
});
