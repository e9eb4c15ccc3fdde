import { hash } from 'node:crypto';
import { z } from 'zod';
import { Cache } from '../../base/cache.ts';
import { canonical } from '../../base/text.ts';
import {
  type Change,
  type ChannelId,
  type FollowUp,
  type Plan,
  type Position,
  type Requirement,
  targetKey,
  type Verdict,
} from '../../domain/change.ts';
import { decode, toDate, toText, UnreadableRowError } from '../../storage/old/portable.ts';
import type { ChangeTable } from '../../storage/old/schema.ts';
import {
  planText,
  StoredBlockingFreeze,
  StoredEnding,
  StoredFollowUp,
  StoredPlan,
  StoredRejection,
  StoredRequirement,
  StoredResolution,
  StoredReview,
  StoredStateCheck,
} from './change-schemas.ts';

/** All columns except the card's and the mark of a planned revert, which need no new version. */
export type ChangeRow = Omit<
  ChangeTable,
  'card_channel' | 'card_ts' | 'card_version' | 'revert_planned_at'
>;

export function changeRow(change: Change): ChangeRow {
  const { plan, requires } = change;
  return {
    id: change.id,
    command: change.command,
    call_class: callClass(plan),
    target_key: targetKey(plan.target),
    plan: planText(plan),
    digest: change.digest,
    before_hash: plan.before && sha256(canonical(plan.before.fields)),
    requester: change.requester,
    reason: change.reason,
    requires: JSON.stringify(requires),
    policy_hash: sha256(canonical({ ...requires })),
    state: change.state,
    version: change.version,
    ...verdictColumns(change),
    created_at: toText(change.createdAt),
    confirmed_at: toText(change.confirmedAt),
    expires_at: toText(change.expiresAt),
    back_at: toText(change.revertAt),
    parent: change.parent,
    not_before: toText(change.notBefore),
    lease_owner: change.lease?.owner ?? null,
    lease_until: toText(change.lease?.until ?? null),
    origin: change.origin,
  };
}

/** When the request ended; null for a change that was never sent. */
export function endedAt({
  resolution,
  outcome,
}: Pick<Change, 'resolution' | 'outcome'>): Date | null {
  return (resolution ?? outcome)?.at ?? null;
}

function verdictColumns(change: Change) {
  return {
    rejection: change.rejection && JSON.stringify(change.rejection),
    cancelled_by: change.cancelledBy,
    stopped: change.stopReason,
    frozen_by: change.frozenBy ? JSON.stringify(change.frozenBy) : null,
    state_check: change.stateCheck ? JSON.stringify(change.stateCheck) : null,
    ending: change.outcome && JSON.stringify(change.outcome),
    resolution: change.resolution && JSON.stringify(change.resolution),
    broken_glass: change.breakGlass && JSON.stringify(change.breakGlass),
    review: change.review && JSON.stringify(change.review),
    ended_at: toText(endedAt(change)),
  };
}

/** A change is read many times, and these two never change. */
const KEPT = 200;
const plans = new Cache<string, Plan>(KEPT);
const requirements = new Cache<string, Requirement>(KEPT);

function keep<Value>(cache: Cache<string, Value>, text: string, value: Value): Value {
  cache.set(text, value);
  return value;
}

export function changeFrom(row: ChangeTable, approvals: readonly Verdict[]): Change {
  const name = `change ${row.id}`;
  const read = <T>(schema: z.ZodType<T>, text: string | null): T | null =>
    text === null ? null : decode(schema, text, name);
  return {
    id: row.id,
    command: row.command,
    requester: row.requester,
    reason: row.reason,
    plan: plans.get(row.plan) ?? keep(plans, row.plan, decode(StoredPlan, row.plan, name)),
    digest: row.digest,
    requires:
      requirements.get(row.requires) ??
      keep(requirements, row.requires, decode(StoredRequirement, row.requires, name)),
    state: row.state,
    version: row.version,
    approvals,
    rejection: read(StoredRejection, row.rejection),
    cancelledBy: row.cancelled_by,
    stopReason: row.stopped,
    ...(row.frozen_by && { frozenBy: decode(StoredBlockingFreeze, row.frozen_by, name) }),
    ...(row.state_check && { stateCheck: decode(StoredStateCheck, row.state_check, name) }),
    outcome: read(StoredEnding, row.ending),
    resolution: read(StoredResolution, row.resolution),
    breakGlass: read(StoredRejection, row.broken_glass),
    review: read(StoredReview, row.review),
    createdAt: toDate(row.created_at),
    confirmedAt: toDate(row.confirmed_at),
    expiresAt: toDate(row.expires_at),
    notBefore: toDate(row.not_before),
    revertAt: toDate(row.back_at),
    parent: row.parent,
    lease: leaseFrom(row.lease_owner, toDate(row.lease_until)),
    origin: row.origin,
    card: cardFrom(row.card_channel, row.card_ts),
  };
}

/** Returns null for a damaged text: nothing depends on a follow-up. */
export function followUpFrom(text: string | null): FollowUp | null {
  if (text === null) return null;
  try {
    return decode(StoredFollowUp, text, 'follow_up');
  } catch (error) {
    if (error instanceof UnreadableRowError) return null;
    throw error;
  }
}

function leaseFrom(owner: string | null, until: Date | null): Change['lease'] {
  return owner !== null && until ? { owner, until } : null;
}

function cardFrom(channel: ChannelId | null, ts: string | null): Position | null {
  return channel !== null && ts !== null ? { channel, ts } : null;
}

const CALL_CLASSES = { PATCH: 'patch', POST: 'post', PUT: 'put' } as const;

function callClass({ sends }: Plan): ChangeTable['call_class'] {
  const method = z.enum(['PATCH', 'POST', 'PUT']).safeParse(sends.split(' ')[0]);
  if (!method.success)
    throw new Error(`The plan must begin with PATCH, POST or PUT, not: ${sends}`);
  return CALL_CLASSES[method.data];
}

function sha256(text: string): string {
  return hash('sha256', text);
}
