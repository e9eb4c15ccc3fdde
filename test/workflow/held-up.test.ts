import { expect, test } from 'vitest';
import { loadChange } from '../../src/log/old/changes.ts';
import { execute } from '../../src/workflow/old/execute.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { aChange, ben, cleo, NOON, storedWithTrail } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

const EVERY_ROLE = policyOf([{ allow: ['service *'], to: 'operator' }]);

/** An approved change, in a context in which looking somebody up takes so long. */
async function approvedWhere(lookMs: () => number) {
  const { context, clock, sent } = await createTestContext();
  const change = aChange({
    state: 'approved',
    approvals: [ben, cleo].map((by) => ({ by, at: NOON })),
  });
  await storedWithTrail(context.database, change);
  const identify: WorkflowContext['people']['identify'] = async (id) => {
    clock.now = new Date(clock.now.getTime() + lookMs());
    const roles = [...EVERY_ROLE.roles.keys()];
    return { ok: true, actor: { id, roles }, evidence: { groups: [] } };
  };
  const own = { ...context, people: { ...context.people, identify } };
  const stateNow = async () => (await loadChange(context.database.db, change.id))?.state;
  return { run: () => execute(own, change.id), sent, stateNow };
}

test('a process that paused after gathering facts gathers them again before it runs the change', async () => {
  const look = { ms: 10_000 };
  const { run, sent, stateNow } = await approvedWhere(() => look.ms);
  // Three people, and with the last of them the first look is half a minute old.
  expect(await run()).toBe('later');
  expect(sent.count).toBe(0);
  expect(await stateNow()).toBe('approved');

  look.ms = 9_999;
  expect(await run()).toBe('done');
  expect(sent.count).toBe(1);
  expect(await stateNow()).toBe('succeeded');
});
