import { setImmediate as immediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { connectClient, startIssuer, tokensOf, withAgents } from '../harness/agents.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

async function startDoor() {
  const issuer = await startIssuer();
  // A wait looks again at once, and lets everything else run in between.
  const sleep = () => immediate();
  const sandbox = await startTestSandbox({ yaml: withAgents(issuer), sleep });
  return { ...sandbox, issuer, tokens: tokensOf(issuer, () => sandbox.clock.now) };
}

type Result = { readonly structuredContent?: unknown; readonly isError?: unknown };
const facts = ({ structuredContent }: Result) => structuredContent as Record<string, never>;

test.for(['legacy', 'auto'] as const)(
  'a foreign client asks for a person, who confirms and another one approves (%s)',
  async (mode) => {
    const { slack, cloud, tokens, url, ...sandbox } = await startDoor();
    const client = await connectClient(url, () => tokens.person(ANA), mode);
    expect(client.getProtocolEra()).toBe(mode === 'legacy' ? 'legacy' : 'modern');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['service_list', 'service_show', 'service_start', 'service_stop', 'cost'],
      ...['request_status', 'request_wait', 'request_cancel'],
    ]);

    const asked = await client.callTool({
      name: 'service_stop',
      arguments: { service: 'staging', reason: 'nightly <@U0BEN00001> *approve*' },
    });
    expect(facts(asked)).toMatchObject({ state: 'draft', ended: false, card: null });
    const id = String(facts(asked).change);
    expect(slack.messages('db-approvals')).toHaveLength(0);

    const preview = await sandbox.privateMessage(ANA, 'Stop staging?');
    await sandbox.press(ANA, preview, 'change.confirm');
    const card = await sandbox.card('requests: ');
    const waiting = client.callTool({ name: 'request_wait', arguments: { id, state: 'pending' } });
    await sandbox.press(BEN, card, 'change.approve');
    expect(['approved', 'executing', 'succeeded']).toContain(facts(await waiting).state);
    await expect
      .poll(async () => facts(await client.callTool({ name: 'request_status', arguments: { id } })))
      .toMatchObject({
        state: 'succeeded',
        ended: true,
        card: expect.stringContaining('https://'),
      });
    expect(cloud.count('set state')).toBe(1);
  },
);

test('a workflow asks for itself, and its change waits for an approval at once', async () => {
  const { tokens, url, cloud, ...sandbox } = await startDoor();
  const client = await connectClient(url, () => tokens.ci(), 'auto');
  const asked = await client.callTool({ name: 'service_stop', arguments: { service: 'staging' } });
  expect(facts(asked)).toMatchObject({
    state: 'pending',
    approvals: { needed: 1, given: 0, from: 'approver' },
    data: { target: 'staging' },
  });
  const card = await sandbox.card('staging');
  await sandbox.press(BEN, card, 'change.approve');
  await expect.poll(() => cloud.count('set state')).toBe(1);
});
