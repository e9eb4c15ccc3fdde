import { expect, test } from 'vitest';
import { callTool } from '../../src/agents/call.ts';
import { systemClock } from '../../src/base/time.ts';
import { agentId } from '../../src/domain/change.ts';
import { prune } from '../../src/log/upkeep.ts';
import { agentRequests } from '../../src/workflow/index.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { aCommand, createTestContext, PLAN, RULE } from '../workflow/context.ts';
import { agentsConfig } from './issuer.ts';

test('a wait for a change whose bodies were pruned is answered at once: there is none', async () => {
  const policy = {
    ...policyOf([{ ...RULE, agents: 'allowed' }]),
    agents: new Map([['ci', ['operator']]]),
  };
  const { context, roles } = await createTestContext({ policy });
  roles.set(agentId('ci'), ['operator']);
  const [, agent] = agentsConfig().allow;
  if (!agent) throw new Error('There is no agent');
  const caller = { agent: 'ci', limits: agent.limits, subject: 's', person: null };
  const asked = {
    ...{ command: aCommand('service stop'), args: { service: PLAN.target } },
    ...{ given: { service: 'staging' }, reason: null, words: null, key: null },
  };
  const requests = agentRequests(context);
  const requested = await requests.request(caller, asked);
  if (!requested.ok) throw new Error(JSON.stringify(requested));
  const { id } = requested.change;
  const clock = { ...systemClock, sleep: () => Promise.reject(new Error('It waits')) };
  const port = { context: () => context, linkOf: async () => null, clock };
  const { signal } = new AbortController();
  const wait = () =>
    callTool(port, {
      ...{ agent, caller, delivery: null, repeated: false, signal },
      ...{ name: 'request_wait', given: { id } },
    });
  await expect(wait()).rejects.toThrow('It waits');
  await requests.cancel(caller, id);
  expect(await wait()).toMatchObject({ state: 'cancelled', ended: true });
  expect(await prune(context.events, { before: Number.MAX_SAFE_INTEGER, export: 'e1' })).toBe(1);
  expect(await wait()).toMatchObject({ isError: true, refusal: 'not-found' });
});
