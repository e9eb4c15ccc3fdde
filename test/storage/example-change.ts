import { randomBytes } from 'node:crypto';
import type { Change, ChangeId, ChannelId, Plan, UserId } from '../../src/domain/change.ts';
import { changeIdFrom } from '../../src/domain/change.ts';
import { draftChange, planDigest } from '../../src/domain/draft.ts';
import { appendEvent } from '../../src/log/old/append.ts';
import { insertChange } from '../../src/log/old/changes.ts';
import { recordHash } from '../../src/log/old/record-hash.ts';
import type { Database } from '../../src/storage/old/database.ts';
import { REQUIRES } from '../domain/changes-fixtures.ts';

export const NOON = new Date('2026-08-14T12:00:00.000Z');

export function minutes(count: number): Date {
  return new Date(NOON.getTime() + count * 60_000);
}

// Slack assigns ids; tests use readable ones.
export const user = (name: string) => name as UserId;
export const channel = (name: string) => name as ChannelId;
export const [ana, ben, cleo] = [user('UANA'), user('UBEN'), user('UCLEO')];

export function newId(): ChangeId {
  return changeIdFrom(randomBytes(6));
}

/** The target key of the examples. */
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

/** A pending change by Ana that needs two approvals. */
export function aChange(over: Partial<Change> = {}): Change {
  const fields = {
    id: newId(),
    command: 'service scale',
    requester: ana,
    reason: 'load test',
    plan: PLAN,
    requires: REQUIRES,
    origin: channel('CDEV'),
  };
  const pending = { state: 'pending', expiresAt: minutes(240), confirmedAt: NOON } as const;
  const change = { ...draftChange(fields, NOON), ...pending, ...over };
  return { ...change, digest: over.digest ?? planDigest(change) };
}

export function aPost(over: Partial<Change> = {}): Change {
  const target = { ...PLAN.target, kind: 'new service', id: 'analytics eu' } as const;
  const plan = { ...PLAN, target, sends: 'POST services', before: null };
  return aChange({ command: 'service create', plan, ...over });
}

/** An example with a target of its own. */
export function elsewhere(over: Partial<Change> = {}): Change {
  const target = { ...PLAN.target, id: newId() };
  return aChange({ plan: { ...PLAN, target }, ...over });
}

export async function stored(database: Database, ...changes: Change[]): Promise<void> {
  await database.transaction(async (tx) => {
    for (const change of changes) await insertChange(tx, change);
  });
}

/** Stores changes of version 1 with the unsigned audit events that confirm them. */
export async function storedWithTrail(database: Database, ...changes: Change[]): Promise<void> {
  await stored(database, ...changes);
  await database.transaction(async (tx) => {
    for (const { id: changeId, version, state: to, digest, approvals } of changes) {
      const record = await recordHash(tx, changeId);
      const approvers = approvals.map(({ by }) => by);
      const body = { by: 'signalbox', digest, record, approvers };
      await appendEvent(tx, null, {
        kind: 'planned-return',
        changeId,
        version,
        to,
        at: NOON,
        body,
      });
    }
  });
}
