import { expect, test } from 'vitest';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { userIds, workspaceWith } from '../harness/generated-users.ts';
import { textOf } from '../harness/messages.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { BEN, DORA } from '../harness/users.ts';

const CROWD = userIds('OPER', 600);

test('with 600 people in a role a refusal looks up at most six, and approvals still work', async () => {
  const workspace = workspaceWith(CROWD, { 'db-operators': CROWD });
  const sandbox = await startTestSandbox({ workspace, rateLimits: 'hard' });
  const card = await requestChange(sandbox);
  sandbox.clock.now = new Date(sandbox.clock.now.getTime() + 60_000);
  const before = sandbox.slack.calls('users.info').length;
  const refusal = await sandbox.ask(DORA, '/service stop staging', "You can't stop staging");
  expect(refusal && textOf(refusal)).toContain('or others can request it for you');
  // Six people who could request it, and Dora.
  expect(sandbox.slack.calls('users.info').length - before).toBeLessThanOrEqual(7);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('(1 of 1)');
});

test('the start with 30 groups stays within the rate limits of Slack', async () => {
  const people = sandboxWorkspace.groups[2];
  if (!people) throw new Error('The sandbox has no such group');
  const many = Array.from({ length: 30 }, (_, n) => {
    return { ...people, id: `S0MANY${String(n).padStart(5, '0')}`, handle: `many-${n}` };
  });
  const workspace = { ...sandboxWorkspace, groups: [...sandboxWorkspace.groups, ...many] };
  const roles = Object.fromEntries(
    many.map(({ handle }) => [handle, { groups: [`@${handle}`] }] as const),
  );
  const sandbox = await startTestSandbox({
    workspace,
    rateLimits: 'hard',
    yaml: (file: { roles?: object }) => ({ ...file, roles: { ...file.roles, ...roles } }),
  });
  expect(sandbox.started.ok).toBe(true);
  await sandbox.ask(DORA, '/service list', '12 services');
});
