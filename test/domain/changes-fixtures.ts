import type {
  Actor,
  Change,
  ChangeId,
  ExecutionOutcome,
  State,
  UserId,
} from '../../src/domain/change.ts';
import { draftChange } from '../../src/domain/draft.ts';
import { foldOf } from '../../src/domain/fold.ts';

export const NOON = new Date('2026-11-20T12:00:00.000Z');

export function minutes(count: number): Date {
  return new Date(NOON.getTime() + count * 60_000);
}

export function actor(id: string, ...roles: readonly string[]): Actor {
  // Slack assigns ids; tests use readable ones.
  return { id: id as UserId, roles };
}

export const ana = actor('U0ANA', 'operator');
export const ben = actor('U0BEN', 'approver');
export const cleo = actor('U0CLEO', 'approver');
export const dora = actor('U0DORA', 'viewer');

export const PLAN: Change['plan'] = {
  target: {
    kind: 'service',
    id: '2f7c9d34-5f0e-4f0a-8f58-0f6f0b1c2d3e',
    name: 'analytics-prod',
    tags: ['prod'],
    warehouse: 'main',
  },
  args: { service: 'analytics-prod' },
  sends: 'PATCH state',
  body: { command: 'stop' },
  before: { fields: { state: 'running' }, seenAt: minutes(-120), source: 'reply to a scale' },
  rows: [{ field: 'state', label: 'State', before: 'running', after: 'stopped' }],
  unchangedFields: [],
  warnings: ['Queries and pipes of this service stop.'],
  cost: { text: 'about −18.0 credits a day, from 14 final days', perDay: -18, share: -1 },
};

export const REQUIRES: Change['requires'] = {
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
};

export const SUCCESS: ExecutionOutcome & { how: 'succeeded' } = {
  how: 'succeeded',
  at: minutes(2),
  tookMs: 812,
  requestId: '9f3e7a10',
  reported: ['stopping'],
};

export const FAILURE: ExecutionOutcome & { how: 'failed' | 'unknown' } = {
  how: 'failed',
  at: minutes(2),
  tookMs: 95,
  requestId: '9f3e7a10',
  status: 409,
  text: 'CONFLICT: primary service has running secondaries',
};

export const UNKNOWN: ExecutionOutcome = {
  how: 'unknown',
  at: minutes(2),
  tookMs: 40_000,
  requestId: null,
  status: null,
  text: 'The server did not answer in time.',
};

const APPROVED = [
  { by: ben.id, at: minutes(-5) },
  { by: cleo.id, at: minutes(-4) },
];

export const LEASE = { owner: 'replica-1', until: minutes(-1), nonce: 'n' };

const ENTERED: Readonly<Record<State, Partial<Change>>> = {
  draft: { expiresAt: minutes(30), confirmedAt: null },
  pending: {},
  approved: { approvals: APPROVED },
  executing: { approvals: APPROVED, lease: LEASE },
  succeeded: { approvals: APPROVED, outcome: SUCCESS },
  failed: { approvals: APPROVED, outcome: FAILURE },
  unknown: { approvals: APPROVED, outcome: UNKNOWN },
  rejected: { rejection: { by: ben.id, at: minutes(-1), reason: 'not during the launch' } },
  cancelled: { cancelledBy: ana.id },
  expired: { expiresAt: minutes(-1) },
  stale: { approvals: APPROVED, stopReason: 'target-changed' },
  denied: { approvals: APPROVED, stopReason: 'frozen' },
};

/** A request by Ana to stop a service, which needs two approvals, in this state. */
export function changeIn(state: State, over: Partial<Change> = {}): Change {
  const plan = over.plan ?? PLAN;
  const fields = {
    organization: 'acme',
    command: 'service stop',
    requester: ana.id,
    reason: 'nightly maintenance',
    plan,
    requires: REQUIRES,
  };
  return {
    ...draft(fields),
    state,
    version: 3,
    expiresAt: minutes(240),
    confirmedAt: minutes(-9),
    ...ENTERED[state],
    ...over,
  };
}

function draft(fields: Parameters<typeof draftChange>[0]): Change {
  const at = minutes(-10);
  const recorded = { seq: 1, version: 1, at: at.getTime(), hash: 'h1' };
  return foldOf('K3M9QD' as ChangeId)(null, { ...draftChange(fields, at), ...recorded });
}
