import { onTestFinished } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import { createAlertsClient } from '../../src/servers/alerts.ts';
import { type CloudOptions, createCloudClient } from '../../src/servers/cloud.ts';
import { testClock } from '../base/loopback.ts';
import { ORGANIZATION } from './cloud-replies.ts';

/** A cloud client of the test, with a clock that stands still. */
export function cloudClient(baseUrl: string, options: Partial<CloudOptions> = {}) {
  const key = { keyId: 'key-id', keySecret: new Secret('canary-secret') };
  const own = { organizationId: ORGANIZATION, version: '0.1.0', clock: testClock() };
  const cloud = createCloudClient({ baseUrl, ...key, ...own, ...options });
  onTestFinished(() => cloud.close());
  return cloud;
}

/** An alerts client of the test, with a clock that stands still. */
export function alertsClient(
  baseUrl: string,
  options: Partial<Parameters<typeof createAlertsClient>[0]> = {},
) {
  const own = { token: new Secret('canary-token'), version: '0.1.0', clock: testClock() };
  const alerts = createAlertsClient({ baseUrl, ...own, ...options });
  onTestFinished(() => alerts.close());
  return alerts;
}
