import { randomBytes } from 'node:crypto';
import type { Change, ChangeId, ChannelId, Plan, UserId } from '../../src/changes/change.ts';
import { changeIdFrom } from '../../src/changes/id.ts';
import { planDigest } from '../../src/changes/plan-digest.ts';
import type { Database } from '../../src/storage/engine/database.ts';
import { insertChange } from '../../src/storage/tables/changes/changes.ts';

export const NOON = new Date('2026-08-14T12:00:00.000Z');

/** So many minutes after noon. */
export function minutes(count: number): Date {
  return new Date(NOON.getTime() + count * 60_000);
}

// Names stand for ids here, which only Slack gives out.
export const user = (name: string) => name as UserId;
export const channel = (name: string) => name as ChannelId;
export const [ana, ben, cleo] = [user('UANA'), user('UBEN'), user('UCLEO')];

export function newId(): ChangeId {
  return changeIdFrom(randomBytes(6));
}

/** What `targetKey` makes of the target of an example. */
export const STAGING = 'service:11111111-1111-4111-8111-111111111111';

const PLAN: Plan = {
  target: {
    kind: 'service',
    id: '11111111-1111-4111-8111-111111111111',
    name: 'staging',
    tags: ['dev'],
    warehouse: 'main',
  },
  args: { minReplicaMemoryGb: 16, note: 'a "quoted" \u0000 word, Grüße 🚂' },
  sends: 'PATCH replicaScaling',
  body: { minReplicaMemoryGb: 16, deep: { z: [1, 'two', null], a: true } },
  before: { fields: { minReplicaMemoryGb: 8 }, seenAt: NOON, source: 'reply to a scale' },
  rows: [{ field: 'minReplicaMemoryGb', label: 'Minimum', before: 8, after: 16 }],
  unchangedFields: ['maxReplicaMemoryGb'],
  warnings: ['It restarts.'],
};

/** A pending change by Ana that asks for two approvals. */
export function aChange(over: Partial<Change> = {}): Change {
  const plan = over.plan ?? PLAN;
  return {
    id: newId(),
    command: 'service scale',
    requester: ana,
    reason: 'load test',
    plan,
    digest: planDigest('service scale', plan),
    requires: {
      rule: 2,
      to: 'operator',
      from: 'approver',
      count: 2,
      self: false,
      reason: true,
      expiresAfterMs: 4 * 3_600_000,
      channel: '#db-approvals',
      escalation: null,
      breakGlass: null,
    },
    state: 'pending',
    version: 1,
    approvals: [],
    rejection: null,
    cancelledBy: null,
    stopReason: null,
    outcome: null,
    resolution: null,
    breakGlass: null,
    review: null,
    createdAt: NOON,
    expiresAt: minutes(240),
    confirmedAt: NOON,
    notBefore: null,
    revertAt: null,
    parent: null,
    lease: null,
    origin: channel('CDEV'),
    card: null,
    ...over,
  };
}

export function aPost(over: Partial<Change> = {}): Change {
  const target = { ...PLAN.target, kind: 'new service', id: 'analytics eu' } as const;
  const plan = { ...PLAN, target, sends: 'POST services', before: null };
  return aChange({ command: 'service create', plan, ...over });
}

/** On another target than every other example. */
export function elsewhere(over: Partial<Change> = {}): Change {
  const target = { ...PLAN.target, id: newId() };
  return aChange({ plan: { ...PLAN, target }, ...over });
}

export async function stored(database: Database, ...changes: Change[]): Promise<void> {
  await database.transaction(async (tx) => {
    for (const change of changes) await insertChange(tx, change);
  });
}
