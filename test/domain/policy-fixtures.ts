import { type ConfigProblem, parseConfig, strictConfigObject } from '../../src/base/problem.ts';
import type { Actor, Target, UserId } from '../../src/domain/change.ts';
import type { Policy, PolicyVocabulary } from '../../src/domain/policy.ts';
import { policyShape } from '../../src/domain/policy-schema.ts';

export const NOON = new Date('2026-11-20T12:00:00Z');

export const PROD_ID = '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e';

export const words: PolicyVocabulary = {
  queries: ['service list', 'service show', 'cost', 'alert list'],
  changes: [
    ...['service start', 'service stop', 'service scale', 'service create', 'alert edit'],
    'service schedule',
    'change allow',
  ],
  roles: ['viewer', 'operator', 'approver'],
  services: new Map([
    ['analytics-prod', PROD_ID],
    ['staging', '7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10'],
  ]),
  tags: ['prod', 'eu'],
  serverTags: ['env=staging'],
  warehouses: ['main'],
  agents: ['ci', 'copilot'],
};

export const roles = {
  viewer: { groups: ['@engineering'] },
  operator: { groups: ['@db-operators'], users: ['U0ANA0001'] },
  approver: { groups: ['@db-leads'] },
};

// Made for each reading: what is made once, before the tests, no mutation test can change.
const file = () => strictConfigObject(policyShape(words));

/** The policy of a file with these rules and the names above. */
export function policyOf(
  rules: readonly object[],
  freezes: readonly object[] = [],
  never: readonly object[] = [],
): Policy {
  const reading = parseConfig(file(), { roles, policy: rules, freezes, never });
  if (!reading.ok) throw new Error(reading.problems.map((problem) => textOf(problem)).join('\n'));
  return {
    roles: reading.value.roles,
    rules: reading.value.policy,
    never: reading.value.never,
    freezes: reading.value.freezes,
  };
}

/** The problems of a file, one line each. */
export function problemsOf(content: object): readonly string[] {
  const reading = parseConfig(file(), { roles, policy: [], ...content });
  return reading.ok ? [] : reading.problems.map(textOf);
}

function textOf({ where, problem, hint }: ConfigProblem): string {
  return hint === null ? `${where}: ${problem}` : `${where}: ${problem} (${hint})`;
}

/** A readable user id for tests. */
export function user(id: string): UserId {
  // A literal cannot have the brand.
  return id as UserId;
}

export function actor(id: string, ...held: readonly string[]): Actor {
  return { id: user(id), roles: held };
}

export const ana = actor('U0ANA0001', 'viewer', 'operator');
export const ben = actor('U0BEN0001', 'viewer', 'approver');
export const dora = actor('U0DORA001', 'viewer');
export const emil = actor('U0EMIL001');

export const prod: Target = {
  kind: 'service',
  id: PROD_ID,
  name: 'analytics-prod',
  tags: ['prod', 'eu'],
  warehouse: 'main',
};

export const staging: Target = {
  kind: 'service',
  id: '7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10',
  name: 'staging',
  tags: [],
  warehouse: null,
};

/** A service outside the file, learned from a reply, with the name of another. */
export const impostor: Target = {
  ...staging,
  id: '00000000-0000-4000-8000-000000000000',
  name: 'analytics-prod',
};
