import { expect, test } from 'vitest';
import { textOf } from '../harness/messages.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA } from '../harness/users.ts';

const MAIN = '4e55fb27-7c55-4261-9f95-8d077d2398bc';
const CREATE =
  '/service create "analytics eu" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=64';

interface File {
  readonly policy: readonly object[];
}

/** The configuration file, with two approvals for creations in protected warehouses. */
function protectedBy(on: object) {
  const rule = {
    allow: ['service create'],
    on,
    to: 'operator',
    approvals: { from: 'approver', count: 2 },
  };
  return (file: File) => ({ ...file, policy: [rule, ...file.policy] }) as never;
}

const IN_PROD = protectedBy({ tags: ['prod'] }) as never;
const byId = (text: string) => text.replaceAll('"warehouse":"main"', `"warehouse":"${MAIN}"`);

test('a creation in a warehouse that the configuration does not have is refused', async () => {
  const sandbox = await startTestSandbox({ yaml: IN_PROD });
  await sandbox.ask(
    ANA,
    `${CREATE} warehouse=${MAIN}`,
    'has no tags or no warehouse for analytics eu',
  );
  expect(sandbox.cloud.count('create service')).toBe(0);
});

test.for<[string, object]>([
  ['tag', { tags: ['prod'] }],
  ['warehouse', { warehouses: [MAIN] }],
])('a creation in a warehouse of the configuration is protected by its %s', async ([, on]) => {
  const yaml = (file: File) => protectedBy(on)(JSON.parse(byId(JSON.stringify(file))));
  const sandbox = await startTestSandbox({ yaml: yaml as never });
  const preview = await sandbox.ask(
    ANA,
    `${CREATE} warehouse=${MAIN}`,
    'Create service analytics eu?',
  );
  expect(textOf(preview)).toContain('2 of @db-leads');
});

test('a creation in a new warehouse needs the approvals of the general rule', async () => {
  const sandbox = await startTestSandbox({ yaml: IN_PROD });
  const preview = await sandbox.ask(ANA, CREATE, 'Create service analytics eu?');
  expect(textOf(preview)).toContain('1 of @db-leads');
});
