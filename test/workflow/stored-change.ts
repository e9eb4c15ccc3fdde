import type { Change, Refusal, RoleName, UserId } from '../../src/domain/change.ts';
import type { Identity } from '../../src/domain/gate.ts';
import type { Service } from '../../src/domain/targets.ts';
import { eventsOf } from '../../src/log/old/append.ts';
import { loadChange } from '../../src/log/old/changes.ts';
import { execute } from '../../src/workflow/old/execute.ts';
import type { WorkflowContext } from '../../src/workflow/old/ports.ts';
import { policyOf } from '../domain/policy-fixtures.ts';
import { aChange, ana, ben, cleo, NOON, storedWithTrail } from '../storage/example-change.ts';
import { createTestContext } from './context.ts';

/** Ana is an operator; Ben and Cleo, who approved, are approvers. */
const ROLES: Readonly<Record<UserId, readonly RoleName[]>> = {
  [ana]: ['operator'],
  [ben]: ['approver'],
  [cleo]: ['approver'],
};

/** The rule by which the change was requested. */
export const RULE = {
  allow: ['service *'],
  to: 'operator',
  approvals: { from: 'approver', count: 2 },
};

/** The service of the change, with the tags and the warehouse of its preview. */
export const SERVICE: Service = {
  id: '11111111-1111-4111-8111-111111111111',
  name: 'staging',
  aliases: [],
  tags: ['dev'],
  warehouse: 'main',
  team: null,
  pipes: [],
  source: 'configuration',
  lastSeen: null,
};

const GROUPS = [
  { id: 'S1', size: 3, readAt: NOON.toISOString() },
  { id: 'S2', size: 2, readAt: NOON.toISOString() },
];

interface Circumstances {
  readonly change?: Partial<Change>;
  readonly context?: Partial<WorkflowContext>;
  /** Replaces the roles of a user, or is the refusal of the lookup. */
  readonly users?: Readonly<Record<UserId, readonly RoleName[] | Refusal>>;
  readonly command?: object;
}

/** A stored change, approved twice unless it says otherwise, and the means to run it. */
export async function storedChange({
  change: over = {},
  context: other = {},
  users = {},
  command = {},
}: Circumstances = {}) {
  const { context: base, clock, sent } = await createTestContext();
  const approvals = [ben, cleo].map((by) => ({ by, at: NOON }));
  const change = aChange({ state: 'approved', approvals, ...over });
  await storedWithTrail(base.database, change);
  const scale = base.commands.get('service scale');
  if (!scale) throw new Error('The test context has no service scale');
  const identify = async (id: UserId): Promise<Identity> => {
    const roles = users[id] ?? ROLES[id] ?? [];
    if (typeof roles === 'string') return { ok: false, refusal: roles };
    return { ok: true, actor: { id, roles }, evidence: { groups: GROUPS } };
  };
  const context: WorkflowContext = {
    ...base,
    policy: policyOf([RULE]),
    services: () => [SERVICE],
    commands: new Map([[scale.name, { ...scale, ...command }]]),
    people: { ...base.people, identify },
    ...other,
  };
  return {
    context,
    clock,
    sent,
    change,
    run: () => execute(context, change.id),
    current: () => loadChange(base.database.db, change.id),
    events: () => eventsOf(base.database.db, change.id),
  };
}
