import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createAlertsClient } from '../../src/alerts/client.ts';
import { createCloudClient } from '../../src/cloud/client.ts';
import { Secret } from '../../src/errors.ts';
import type { Observation } from '../../src/http/client.ts';
import { routeOf } from '../../src/observability/api-routes.ts';

const IDS = {
  organizationId: 'an-organization',
  serviceId: 'a-service',
  pipeId: 'a-pipe',
  backupId: 'a-backup',
  id: 'an-alert',
};

const BODY = { threshold: 5, interval: '5m', thresholdType: 'above', source: 'tile' };

/** Where both clients really call, by the names that they give it. */
async function called(): Promise<ReadonlyMap<string, string>> {
  const paths: string[] = [];
  const server = createServer((request, reply) => {
    paths.push((request.url ?? '').split('?')[0] ?? '');
    request.resume();
    reply.writeHead(404, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  // A server that listens on TCP has an address of this kind.
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const seen: string[] = [];
  const observe = ({ operation }: Observation) => void seen.push(operation);
  const secret = new Secret('a-key');
  const { organizationId, serviceId, pipeId, backupId, id } = IDS;
  const common = { baseUrl, version: 'test', observe };
  const cloud = createCloudClient({ ...common, organizationId, keyId: 'a', keySecret: secret });
  const alerts = createAlertsClient({ ...common, token: secret });
  const calls: readonly (() => Promise<unknown>)[] = [
    () => cloud.createService({ name: 'one more' }),
    () => cloud.createReversePrivateEndpoint(serviceId, { type: 'VPC_ENDPOINT_SERVICE' }),
    () => cloud.updateReplicaScaling(serviceId, { numReplicas: 2 }),
    () => cloud.updateServiceState(serviceId, { command: 'stop' }),
    () => cloud.getUsageCost({ from_date: '2026-11-01', to_date: '2026-11-02' }),
    () => cloud.getPipeSettings(serviceId, pipeId),
    () => cloud.getBackup(serviceId, backupId),
    () => alerts.listAlerts(),
    () => alerts.getAlert(id),
    () => alerts.updateAlert(id, BODY),
  ];
  for (const call of calls) await call().catch(() => undefined);
  await Promise.all([cloud.close(), alerts.close()]);
  return new Map(seen.map((operation, at) => [operation, paths[at] ?? '']));
}

test('a route is the path that is really called, without its ids', async () => {
  const paths = await called();
  expect(paths.size).toBe(10);
  const filled = (route: string) =>
    Object.entries(IDS).reduce((path, [name, id]) => path.replace(`{${name}}`, id), route);
  for (const [operation, path] of paths) expect(filled(routeOf(operation))).toBe(path);
});

test('what is no operation of ours has no route', () => {
  expect(routeOf('canary')).toBe('other');
});
