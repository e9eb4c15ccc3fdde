import { onTestFinished } from 'vitest';
import { startAlertsSimulator } from '../../sandbox/alerts/simulator.ts';
import { startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import { ALERTS_TOKEN, CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { Secret } from '../../src/base/errors.ts';
import { createAlertsClient } from '../../src/servers/alerts.ts';
import { createCloudClient } from '../../src/servers/cloud.ts';
import type { CapabilityOptions, SwitchedOff } from '../../src/servers/optional-reads.ts';
import { NOON } from '../harness/users.ts';
import { createTime } from './time.ts';

export function serviceId(name: string): string {
  const service = ORGANIZATION.services.find((one) => one.name === name);
  if (!service) throw new Error(`The seed has no service ${name}`);
  return service.id;
}

/** Both simulators and a client of each, on one clock that passes only while something waits. */
export async function openReadingClients(mode: CapabilityOptions['mode'] = 'extended') {
  const time = createTime(NOON);
  const timing = { now: time.now, wait: async (ms: number) => time.pass(ms) };
  const [cloud, alerts] = await Promise.all([
    startCloudSimulator(timing),
    startAlertsSimulator(timing),
  ]);
  const off: SwitchedOff[] = [];
  const reads = { mode, now: time.now, onOff: (one: SwitchedOff) => void off.push(one) };
  const common = { version: 'test', privateAddresses: true, clock: time.clock, reads };
  const cloudClient = createCloudClient({
    ...{ ...common, baseUrl: cloud.url, organizationId: ORGANIZATION.id },
    ...{ keyId: CLOUD_KEY.id, keySecret: new Secret(CLOUD_KEY.secret) },
  });
  const alertsClient = createAlertsClient({
    ...{ ...common, baseUrl: alerts.url, token: new Secret(ALERTS_TOKEN) },
  });
  onTestFinished(async () => {
    await Promise.all([cloudClient.close(), alertsClient.close()]);
    await Promise.all([cloud.stop(), alerts.stop()]);
  });
  return {
    ...{ time, cloud, alerts, off },
    reads: { cloud: cloudClient.reads, alerts: alertsClient.reads },
    requests: () => [...cloud.requests(), ...alerts.requests()],
  };
}

export type ReadingClients = Awaited<ReturnType<typeof openReadingClients>>;
