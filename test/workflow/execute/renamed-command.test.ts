import { expect, test } from 'vitest';
import { planDigest } from '../../../src/domain/decide.ts';
import { namesOf } from '../../../src/intent/define.ts';
import { loadChange } from '../../../src/storage/tables/changes/changes.ts';
import { execute } from '../../../src/workflow/execute/execute.ts';
import type { WorkflowContext } from '../../../src/workflow/ports.ts';
import { answerChangeLog } from '../../../src/workflow/queries/change-log.ts';
import { policyOf } from '../../policy/fixtures.ts';
import { aChange, ana, ben, cleo, NOON, storedWithTrail } from '../../storage/example-change.ts';
import { createTestContext } from '../context.ts';

const EARLIER = 'service resize';
const POLICY = policyOf([{ allow: ['service scale'], to: 'operator' }]);

/** An approved change, stored under an earlier name of its command. */
async function changeOfAnEarlierRelease() {
  const { context, sent } = await createTestContext();
  const current = context.commands.get('service scale');
  if (!current) throw new Error('The test context has no service scale');
  const command = { ...current, aliases: [EARLIER] };
  const earlier = aChange({ command: EARLIER });
  const change = aChange({
    command: EARLIER,
    digest: planDigest(earlier),
    state: 'approved',
    approvals: [ben, cleo].map((by) => ({ by, at: NOON })),
  });
  await storedWithTrail(context.database, change);
  const identify: WorkflowContext['people']['identify'] = async (id) => {
    const roles = [...POLICY.roles.keys()];
    return { ok: true, actor: { id, roles }, evidence: { groups: [] } };
  };
  const own: WorkflowContext = {
    ...context,
    policy: POLICY,
    commands: new Map(namesOf(command).map((name) => [name, command])),
    people: { ...context.people, identify },
  };
  return { context: own, change, sent };
}

test('a change stored under the earlier name of its command runs under the current policy', async () => {
  const { context, change, sent } = await changeOfAnEarlierRelease();
  expect(await execute(context, change.id)).toBe('done');
  expect(sent.count).toBe(1);
  expect((await loadChange(context.database.db, change.id))?.state).toBe('succeeded');
});

test.for([EARLIER, 'service scale'])('the log finds it by the name “%s”', async (command) => {
  const { context } = await changeOfAnEarlierRelease();
  const any = { by: null, target: null, state: null, since: null, until: null, before: null };
  const named = async () => ({ ok: false, why: 'nobody' }) as const;
  const caller = { by: ana, channel: null };
  const { title } = await answerChangeLog({ ...context, named }, { ...any, command }, caller);
  expect(title).toMatch(/^1 /);
});
