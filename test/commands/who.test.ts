import { expect, test } from 'vitest';
import { answerWho } from '../../src/commands/who.ts';
import type { UserId } from '../../src/domain/change.ts';
import type { Scope } from '../../src/domain/freezes.ts';
import { commandServices, type WorkflowContext } from '../../src/workflow/index.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import {
  aChange,
  ana,
  ben,
  createTestContext,
  emil,
  minutes,
  RULE,
  recorded,
  STAGING,
} from '../workflow/context.ts';
import { plainText } from './fixtures.ts';

const OF_STAGING: Scope = { service: STAGING };

async function askWho(context: WorkflowContext, by: UserId, scope: Scope | null = OF_STAGING) {
  const { who } = commandServices(context);
  const asked = { who, services: context.services(), now: context.now };
  const answer = await answerWho({ command: 'service stop', scope }, asked, { by, channel: null });
  return answer.parts.flatMap((part) => (part.kind === 'lines' ? part.lines.map(plainText) : []));
}

test('the rule of a service is shown with its people, and what the reader may do', async () => {
  const { context } = await createTestContext();
  expect(await askWho(context, ana)).toEqual([
    'staging is tagged dev, in warehouse main',
    'Applies to: everything',
    'Request: @db-operators (1 now: UANA)',
    'Approve: 2 of @db-leads (2 now: UBEN, UCLEO), within 4 h. The requester does not count.',
    'Break-glass: no one',
    'You: you may request it, and it needs these approvals.',
  ]);
  expect((await askWho(context, ben)).at(-1)).toContain('You may approve requests of others.');
  expect((await askWho(context, emil)).at(-1)).toBe('You: refused: this rule does not admit you.');
});

test('the agents that a rule admits are named, where the file has agents', async () => {
  const agents = new Map([
    ['ci', ['operator']],
    ['copilot', []],
  ]);
  const asked = async (admitted: object) => {
    const policy = { ...policyOf([{ ...RULE, ...admitted }]), agents };
    const { context } = await createTestContext({ policy });
    return (await askWho(context, ana)).find((line) => line.startsWith('Agents'));
  };
  expect(await asked({ agents: 'allowed' })).toBe('Agents: ci, copilot');
  expect(await asked({ agents: ['ci'] })).toBe('Agents: ci');
  expect(await asked({})).toBe('Agents: none');
});

test('a freeze that was made in Slack is named', async () => {
  const { context, clock } = await createTestContext();
  const { id } = await aChange(context, { command: 'change freeze' });
  const made = { change: id, by: ben, reason: 'launch', scope: OF_STAGING };
  const event = { type: 'created', ...made, from: minutes(0), until: minutes(60) } as const;
  await recorded(context, { stream: `freeze/${id}`, event });
  const frozen = await askWho(context, ana);
  expect(frozen).toContain('You: refused now: it is frozen.');
  expect(frozen.at(-1)).toMatch(/^Frozen: staging between .*: launch, by UBEN/);
  clock.now = minutes(60);
  expect((await askWho(context, ana)).at(-1)).toContain('You: you may request it');
});

test('a role whose members Slack does not name is not called empty', async () => {
  const { context } = await createTestContext();
  const people = { ...context.people, someMembers: async () => null };
  expect(await askWho({ ...context, people }, ana)).toContain(
    'Request: @db-operators (the membership lookup in Slack failed)',
  );
});
