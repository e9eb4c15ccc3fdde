import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { ORGANIZATION, otherOrganization } from '../../sandbox/seed/organization.ts';
import {
  forOrganization,
  organizationWorkspace,
} from '../../sandbox/slack/workspace/organization.ts';
import { textOf } from '../harness/messages.ts';
import { cardAfterRetries, NO_MESSAGE, STAGING, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

const US = otherOrganization();
const US_STAGING = US.services.find(({ name }) => name === 'staging')?.id ?? '';

/** Two organizations of the cloud with services of the same names, and two workspaces of one Slack organization. */
const twoByTwo = () =>
  forOrganization({
    ...parse(sandboxYaml([ORGANIZATION, US])),
    digests: [{ channel: '#db-costs', at: '09:30', timezone: 'Europe/Berlin', days: 'daily' }],
  });

test('two organizations and two workspaces: a stop in each, a digest of both, one of them down', async () => {
  const sandbox = await startTestSandbox({
    ...{ other: US, workspace: organizationWorkspace, yaml: twoByTwo as never },
  });
  const { slack, cloud, other, clock } = sandbox;
  if (!sandbox.started.ok || !other) throw new Error('The sandbox did not start');
  const digests = () =>
    slack.messages('db-costs').filter((one) => textOf(one).startsWith('Yesterday'));
  await expect.poll(() => digests().length).toBe(1);
  expect(textOf(digests()[0] ?? NO_MESSAGE)).toMatch(
    /prod-eu: [\d,]+ credits[\s\S]*prod-us: [\d,]+/,
  );

  /** Ana asks in her workspace, and Ben approves in the other one. */
  const stop = async (name: string, line: string) => {
    await slack.command(ANA, 'C0OPS000001', line);
    if (!line.includes('/staging')) {
      await sandbox.press(ANA, await sandbox.privateMessage(ANA, 'Which one'), 'command.1');
    }
    const preview = await sandbox.privateMessage(ANA, `Stop ${name}?`);
    await sandbox.press(ANA, preview, 'change.confirm');
    await sandbox.press(BEN, await sandbox.card(`requests: stop ${name}`), 'change.approve');
    await cardAfterRetries(sandbox, `${name} is stopping`);
  };
  await stop('prod-us/staging', '/service stop staging for the night');
  expect([
    cloud.effectCount('set state', STAGING),
    other.effectCount('set state', US_STAGING),
  ]).toEqual([0, 1]);

  for (const operation of other.operations)
    other.injectFault({ operation, fault: '503', times: 10_000 });
  await stop('prod-eu/staging', '/service stop prod-eu/staging for the night');
  expect([
    cloud.effectCount('set state', STAGING),
    other.effectCount('set state', US_STAGING),
  ]).toEqual([1, 1]);

  clock.now = new Date('2026-11-21T08:30:30Z');
  sandbox.wake();
  await waitUntilIdle(sandbox);
  await expect.poll(() => digests().length).toBe(2);
  const withoutUs = textOf(digests()[1] ?? NO_MESSAGE);
  expect(withoutUs).toMatch(/prod-eu: [\d,]+ credits/);
  expect(withoutUs).toContain('Figures of prod-us are missing');
  for (const person of [ANA, BEN]) {
    await slack.openHome({ as: person });
    await expect.poll(() => slack.clientState(person).home).not.toBeNull();
  }
});
