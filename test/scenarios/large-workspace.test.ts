import { expect, test } from 'vitest';
import { largeWorkspace } from '../../sandbox/slack/workspace/large-workspace.ts';
import { textOf } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { requestAndApprove, waitUntilIdle } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { emptyUrl } from '../storage/engines.ts';

const DIGEST = { at: '14:00', timezone: 'Europe/Berlin', channel: '#db-costs' };

async function largeSandbox() {
  return startTestSandbox({
    databaseUrl: await emptyUrl('sqlite'),
    workspace: largeWorkspace(),
    rateLimits: 'hard',
    waitsPass: true,
    yaml: (file: object) => ({ ...file, digests: [DIGEST] }),
  });
}

/** The refused calls except posts: the clock moves in steps, so that many posts are in one second. */
function refusedCalls(sandbox: TestSandbox): readonly string[] {
  const refused = sandbox.slack.calls().filter(({ status }) => status === 429);
  return refused.map(({ method }) => method).filter((method) => method !== 'chat.postMessage');
}

/** The list of channels continues after a minute; then the first start reads the channels. */
async function untilChannelsAreRead(sandbox: TestSandbox): Promise<void> {
  const pass = timeInSteps(sandbox, 31_000);
  const readiness = async () => {
    pass();
    return (await fetch(`${sandbox.url}/readyz`)).text();
  };
  await expect.poll(readiness).toBe('ready\n');
}

test('with 20,000 channels and 10,000 people, a start, a change and a digest stay within the tiers', async () => {
  const sandbox = await largeSandbox();
  expect(sandbox.started.ok).toBe(true);
  await untilChannelsAreRead(sandbox);
  await requestAndApprove(sandbox, '/service stop staging for the night');
  await sandbox.card('staging is stopping');
  sandbox.clock.now = new Date('2026-11-20T13:01:00Z');
  sandbox.wake();
  // A post that was on its way and is refused counts from the new time, and the digest waits for the next second.
  const pass = timeInSteps(sandbox, 31_000);
  const digest = () => {
    pass();
    return sandbox.slack.messages('db-costs').map(textOf).join('\n');
  };
  await expect.poll(digest).toContain('November heading for ');
  // 21 pages: the last one waits for the next minute. Nothing else is refused.
  expect(refusedCalls(sandbox)).toEqual(['conversations.list']);
  expect(sandbox.slack.calls('users.list')).toEqual([]);
});

test('a restart in a workspace with 20,000 channels lists no channels', async () => {
  const sandbox = await largeSandbox();
  await untilChannelsAreRead(sandbox);
  await waitUntilIdle(sandbox);
  const before = sandbox.slack.calls('conversations.list').length;
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 24 * 3_600_000);
  await sandbox.restart();
  await requestAndApprove(sandbox, '/service stop staging for the night');
  await sandbox.card('staging is stopping');
  expect(sandbox.slack.calls('conversations.list')).toHaveLength(before);
});
