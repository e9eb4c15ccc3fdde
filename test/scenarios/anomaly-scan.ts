import { expect } from 'vitest';
import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import type { OrganizationSeed, ServiceSeed } from '../../sandbox/seed/shapes.ts';
import { textOf } from '../harness/messages.ts';
import { waitUntilIdle } from '../harness/requests.ts';
import type { TestSandbox } from '../harness/test-sandbox.ts';

/** A weekly digest, which posts nothing during these tests. */
export const WATCHED = { channel: '#db-costs', at: '09:00', period: 'week', days: ['sun'] };

type Bump = Pick<ServiceSeed['usage'], 'spike' | 'shift'>;

/** The sample organization with one service that costs five times as much on one day. */
export function withSpike(daysAgo: number): OrganizationSeed {
  return withBump({ spike: { daysAgo, factor: 5 } }, 'analytics-prod');
}

function withBump(bump: Bump, name: string): OrganizationSeed {
  return {
    ...ORGANIZATION,
    services: ORGANIZATION.services.map((service) => {
      const { spike: _, shift: __, ...usage } = service.usage;
      const own = service.name === name ? bump : {};
      return { ...service, usage: { ...usage, ...own } };
    }),
  };
}

/** Sets the clock and waits for the scan at that time, which reads the report again. */
export async function scanAt(sandbox: TestSandbox, at: string): Promise<void> {
  const before = sandbox.cloud.count('usage cost');
  sandbox.clock.now = new Date(at);
  sandbox.wake();
  await expect.poll(() => sandbox.cloud.count('usage cost')).toBeGreaterThan(before);
  await waitUntilIdle(sandbox);
}

/** The public messages of a channel that contain these words, threads included. */
export function announced(sandbox: TestSandbox, words: string, channel = 'db-costs') {
  return sandbox.slack
    .messages(channel)
    .filter((message) => message.ephemeralFor === null && textOf(message).includes(words));
}
