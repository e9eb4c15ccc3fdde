import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';

const MAIN = '4e55fb27-7c55-4261-9f95-8d077d2398bc';
const CREATE =
  '/service create "analytics eu" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=64';
const RULE = {
  ...{ allow: ['service create'], on: { tags: ['prod'] }, to: 'operator' },
  approvals: { from: 'approver', count: 2 },
};

/** Two approvals for creations in warehouses with the tag `prod`, one of which the file names in this way. */
const started = (warehouse: string) =>
  startTestSandbox({
    yaml: (file) => {
      const { policy, ...rest } = JSON.parse(
        JSON.stringify(file).replaceAll('"warehouse":"main"', `"warehouse":"${warehouse}"`),
      );
      return { ...rest, policy: [RULE, ...policy] };
    },
  });

test('a creation in a warehouse that the configuration does not have is refused', async () => {
  const sandbox = await started('main');
  const refusal = 'has no tags or no warehouse for analytics eu';
  await sandbox.ask(ANA, `${CREATE} warehouse=${MAIN}`, refusal);
  expect(sandbox.cloud.count('create service')).toBe(0);
});

test('a creation in a warehouse of the configuration has the rule of its tags', async () => {
  const sandbox = await started(MAIN);
  const preview = await sandbox.ask(ANA, `${CREATE} warehouse=${MAIN}`, 'Create service');
  expect(textOf(preview)).toContain('2 of @db-leads');
});
