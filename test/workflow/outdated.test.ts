import { expect, test } from 'vitest';
import { loadChange } from '../../src/log/old/changes.ts';
import { registerConfiguration } from '../../src/log/old/configurations.ts';
import { execute } from '../../src/workflow/old/execute.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { aChange, ben, cleo, NOON, storedWithTrail } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const POLICY = policyOf([{ allow: ['service scale'], to: 'operator' }]);

test('a process whose configuration was replaced executes nothing, and its successor does', async () => {
  const { context, sent } = await createTestContext();
  const approvals = [ben, cleo].map((by) => ({ by, at: NOON }));
  const change = aChange({ command: 'service scale', state: 'approved', approvals });
  await storedWithTrail(context.database, change);
  const identify: WorkflowContext['people']['identify'] = async (id) => {
    const roles = [...POLICY.roles.keys()];
    return { ok: true, actor: { id, roles }, evidence: { groups: [] } };
  };
  const before = { ...context, policy: POLICY, people: { ...context.people, identify } };
  const after = { ...before, configuration: 'c2' };
  for (const { configuration: hash } of [before, after]) {
    await context.database.transaction((tx) =>
      registerConfiguration(tx, { hash, instance: hash, replaces: null }, NOON),
    );
  }
  expect(await execute(before, change.id)).toBe('later');
  expect(sent.count).toBe(0);
  expect((await loadChange(context.database.db, change.id))?.state).toBe('approved');

  expect(await execute(after, change.id)).toBe('done');
  expect(sent.count).toBe(1);
});
