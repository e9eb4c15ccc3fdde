import { expect, test } from 'vitest';
import { CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { openReadingClients, type ReadingClients, serviceId } from './reading-clients.ts';

const CONFIGURED = [serviceId('staging'), serviceId('analytics-prod')];

function probesOf({ reads }: ReadingClients) {
  return [...reads.cloud.probes(CONFIGURED), ...reads.alerts.probes()];
}

function probeOf(clients: ReadingClients, name: string) {
  const probe = probesOf(clients).find(({ capability }) => capability === name);
  if (!probe) throw new Error(`no probe ${name}`);
  return probe;
}

test('a live server grants every capability, with one request each', async () => {
  const clients = await openReadingClients();
  for (const { capability, run } of probesOf(clients)) {
    clients.time.pass(6_000);
    expect([capability, (await run()).isDecided]).toEqual([capability, true]);
  }
  // The list of services also serves the other probes, and has the schedules.
  expect(clients.requests().map(({ operation }) => operation)).toEqual([
    ...['list services', 'get service', 'list backups', 'list pipes'],
    ...['list endpoints', 'list activities'],
    ...['list webhooks', 'list saved searches', 'list dashboards'],
  ]);
});

test('without a schedule in the list, the schedule of one service is read', async () => {
  const clients = await openReadingClients();
  clients.cloud.setSchedule(serviceId('bi-readonly'), []);
  const result = await probeOf(clients, 'schedule').run();
  // A 404 for a service without a schedule is an answer.
  expect(result).toMatchObject({ known: true, isDecided: true });
  expect(clients.cloud.count('scaling schedule')).toBe(1);
  expect(clients.off).toEqual([]);
});

const OPERATIONS: Readonly<Record<string, string>> = {
  services: 'list services',
  service: 'get service',
  backups: 'list backups',
  pipes: 'list pipes',
  'private-endpoints': 'list endpoints',
  activities: 'list activities',
  webhooks: 'list webhooks',
  'saved-searches': 'list saved searches',
  dashboards: 'list dashboards',
};
const PERMISSIONS: Readonly<Record<string, string>> = {
  service: 'service:view',
  backups: 'service:view-backups',
  pipes: 'service:manage-pipes',
  'private-endpoints': 'service:manage-pipes',
  activities: 'organization:view-activities',
};
const ALERTS = ['webhooks', 'saved-searches', 'dashboards'];

function inject(clients: ReadingClients, name: string, fault: string, times: number): void {
  const api = ALERTS.includes(name) ? 'alerts' : 'cloud';
  clients[api].injectFault({ operation: OPERATIONS[name] ?? '', fault, times });
}

test.for(Object.keys(OPERATIONS).flatMap((name) => [403, 404, 405].map((s) => [name, s] as const)))(
  'the probe of %s switches it off after %i',
  async ([name, status]) => {
    const clients = await openReadingClients();
    inject(clients, name, { 403: '403', 404: '404-html', 405: 'read-405' }[status] ?? '', 9);
    const probe = probeOf(clients, name);
    expect(await probe.run()).toMatchObject({ known: false, status, isDecided: true });
    const permission = PERMISSIONS[name] ?? null;
    expect(clients.off).toMatchObject([{ capability: name, status, permission }]);
    expect(probe.permission).toBe(permission);
    const { length } = clients.requests();
    expect(await probe.run()).toMatchObject({ isDecided: true });
    expect(clients.requests()).toHaveLength(length);
  },
);

test.for(
  Object.keys(OPERATIONS).flatMap((name) =>
    ['401', '429', '503', 'read-wrong-shape'].map((f) => [name, f] as const),
  ),
)('the probe of %s decides nothing after %s', async ([name, fault]) => {
  const clients = await openReadingClients();
  inject(clients, name, fault, 9);
  const probe = probeOf(clients, name);
  expect(await probe.run()).toMatchObject({ known: false, isDecided: false });
  expect(clients.off).toEqual([]);
  clients.cloud.clearFaults();
  clients.alerts.clearFaults();
  clients.time.pass(61_000);
  expect(await probe.run()).toMatchObject({ known: true, isDecided: true });
});

test.for(['pipes', 'private-endpoints'])(
  'the probe of %s uses a service that runs',
  async (name) => {
    const clients = await openReadingClients();
    const { cloud } = clients;
    for (const { id } of cloud.services()) {
      if (id !== serviceId('finance')) cloud.setServiceState(id, 'idle');
    }
    expect(await probeOf(clients, name).run()).toMatchObject({ known: true });
    expect(clients.requests().at(-1)?.path).toContain(serviceId('finance'));
    cloud.setServiceState(serviceId('finance'), 'stopped');
    clients.time.pass(61_000);
    expect(await probeOf(clients, name).run()).toMatchObject({ known: false, isDecided: false });
    expect(clients.off).toEqual([]);
  },
);

test.for(['service', 'backups', 'pipes', 'private-endpoints'])(
  'a second service decides when the first one of the probe of %s is not found',
  async (name) => {
    const one = await openReadingClients();
    inject(one, name, 'read-404', 1);
    expect(await probeOf(one, name).run()).toMatchObject({ known: true, isDecided: true });
    expect(one.off).toEqual([]);

    const both = await openReadingClients();
    inject(both, name, 'read-404', 2);
    expect(await probeOf(both, name).run()).toMatchObject({ known: false, isDecided: true });
    expect(both.off).toMatchObject([{ capability: name, gap: 'not-found', status: 404 }]);
  },
);

test('without the list, configured services are probed, and a missing backup decides nothing', async () => {
  const clients = await openReadingClients();
  const { cloud, time } = clients;
  cloud.setKey(CLOUD_KEY.id, { denied: ['list services'] });
  const both = { known: true, isDecided: true };
  expect(await probeOf(clients, 'backups').run()).toMatchObject(both);
  // The first configured service is a secondary one, which has no backups.
  const statuses = cloud.requests().map(({ operation, status }) => [operation, status]);
  expect(statuses).toEqual([
    ['list services', 403],
    ['list backups', 404],
    ['list backups', 200],
  ]);
  time.pass(61_000);
  inject(clients, 'backups', 'read-404', 2);
  expect(await probeOf(clients, 'backups').run()).toMatchObject({ isDecided: false });
  expect(clients.off.map(({ capability }) => capability)).toEqual(['services']);
});
