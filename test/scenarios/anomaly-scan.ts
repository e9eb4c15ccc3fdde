import { expect } from 'vitest';
import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import type { OrganizationSeed, ServiceSeed } from '../../sandbox/seed/shapes.ts';
import { textOf } from '../harness/messages.ts';
import type { TestSandbox } from '../harness/test-sandbox.ts';
import { DORA } from '../harness/users.ts';

/** A weekly digest, which posts nothing during these tests. */
export const WATCHED = { channel: '#db-costs', at: '09:00', period: 'week', days: ['sun'] };

type Bump = Pick<ServiceSeed['usage'], 'spike' | 'shift'>;

/** The sample organization with one service that costs five times as much on one day. */
export function withSpike(daysAgo: number): OrganizationSeed {
  return withBump({ spike: { daysAgo, factor: 5 } });
}

/** The sample organization with one service that costs 2.5 times as much from one day on. */
export function withShift(daysAgo: number): OrganizationSeed {
  return withBump({ shift: { daysAgo, factor: 2.5 } });
}

function withBump(bump: Bump): OrganizationSeed {
  return {
    ...ORGANIZATION,
    services: ORGANIZATION.services.map((service) => {
      const { spike: _, shift: __, ...usage } = service.usage;
      const own = service.name === 'analytics-dev' ? bump : {};
      return { ...service, usage: { ...usage, ...own } };
    }),
  };
}

/** Sets the clock and waits for the scan at that time. */
export async function scanAt(sandbox: TestSandbox, at: string): Promise<void> {
  sandbox.clock.now = new Date(at);
  sandbox.wake();
  const words = `Last scan ${at.slice(0, 16).replace('T', ' ')} UTC`;
  await expect
    .poll(
      async () => {
        await sandbox.slack.command(DORA, 'ops', '/cost anomalies');
        return sandbox.slack.clientState(DORA).messages.map(textOf).join();
      },
      { interval: 200 },
    )
    .toContain(words);
}

/** The public messages of a channel that contain these words, threads included. */
export function announced(sandbox: TestSandbox, words: string, channel = 'db-costs') {
  return sandbox.slack
    .messages(channel)
    .filter((message) => message.ephemeralFor === null && textOf(message).includes(words));
}
