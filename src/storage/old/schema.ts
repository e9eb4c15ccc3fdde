import type { Generated, Kysely, Transaction } from 'kysely';
import type { ChangeId, ChannelId, State, UserId } from '../../domain/change.ts';

/** For reading; a transaction can be passed as well. */
export type Db = Kysely<Tables>;
/** For writing: every function that writes takes it, so that no write runs outside a transaction. */
export type Tx = Transaction<Tables>;

// Times are ISO texts in UTC with milliseconds, and JSON is text as well: both engines then keep
// the same bytes, over which the audit chain is computed.
type InstantText = string;
export type JsonText = string;

export interface Tables {
  change: ChangeTable;
  approval: ApprovalTable;
  send_permit: SendPermitTable;
  target_lock: TargetLockTable;
  audit_event: AuditEventTable;
  audit_head: AuditHeadTable;
  inbox: InboxTable;
  outbox: OutboxTable;
  digest: DigestTable;
  known_service: KnownTable;
  known_pipe: KnownTable;
  sealed_secret: SealedSecretTable;
  meta: MetaTable;
  cost_month: CostMonthTable;
  cost_snapshot: CostSnapshotTable;
  subscription: SubscriptionTable;
  incident: IncidentTable;
  budget_notice: BudgetNoticeTable;
  effect_notice: EffectNoticeTable;
  change_freeze: FreezeTable;
  follow_up: FollowUpTable;
  service_schedule: ScheduleTable;
  schedule_run: ScheduleRunTable;
  tally: TallyTable;
}

// An old replica continues on a newer schema, so that columns are added but never renamed.
export interface ChangeTable {
  id: ChangeId;
  command: string;
  call_class: 'patch' | 'post' | 'put';
  target_key: string;
  plan: JsonText;
  digest: string;
  before_hash: string | null;
  requester: UserId;
  reason: string | null;
  requires: JsonText;
  policy_hash: string;
  state: State;
  version: number;
  rejection: JsonText | null;
  cancelled_by: UserId | null;
  /** The reason why the change was not run. */
  stopped: string | null;
  frozen_by: JsonText | null;
  state_check: JsonText | null;
  /** The execution outcome. */
  ending: JsonText | null;
  resolution: JsonText | null;
  broken_glass: JsonText | null;
  review: JsonText | null;
  confirmed_at: InstantText | null;
  /** When the revert is due. */
  back_at: InstantText | null;
  /** When its revert was planned, or found planned. */
  revert_planned_at: InstantText | null;
  parent: ChangeId | null;
  ended_at: InstantText | null;
  created_at: InstantText;
  expires_at: InstantText;
  not_before: InstantText | null;
  lease_owner: string | null;
  lease_until: InstantText | null;
  origin: ChannelId | null;
  card_channel: ChannelId | null;
  card_ts: string | null;
  card_version: number | null;
}

export interface ApprovalTable {
  change_id: ChangeId;
  person: UserId;
  decision: 'approved' | 'rejected';
  digest: string;
  at: InstantText;
  source: string;
}

export interface SendPermitTable {
  change_id: ChangeId;
  n: number;
  single: ChangeId | null;
  owner: string;
  at: InstantText;
  outcome: 'succeeded' | 'failed' | 'unknown' | 'not-sent' | null;
  http_status: number | null;
}

interface TargetLockTable {
  target: string;
  change_id: ChangeId;
  at: InstantText;
}

export interface AuditEventTable {
  seq: number;
  kind: string;
  change_id: ChangeId | null;
  version: number | null;
  from_state: State | null;
  to_state: State | null;
  body: JsonText;
  prev_hash: string;
  hash: string;
}

interface AuditHeadTable {
  id: number;
  seq: number;
  hash: string;
}

export interface InboxTable {
  dedup_key: string;
  kind: string;
  body: JsonText | null;
  at: InstantText;
  not_before: InstantText;
  attempts: number;
  lease_owner: string | null;
  lease_until: InstantText | null;
  handled_at: InstantText | null;
  signature: string | null;
}

export interface OutboxTable {
  id: Generated<number>;
  change_id: ChangeId | null;
  kind: string;
  body: JsonText | null;
  not_before: InstantText;
  attempts: number;
  lease_owner: string | null;
  lease_until: InstantText | null;
  /** The time of the first delivery attempt. */
  first_tried_at: InstantText | null;
  done_at: InstantText | null;
}

export interface DigestTable {
  channel: ChannelId;
  day: string;
  state: 'sending' | 'posted' | 'missed' | 'unknown';
  owner: string;
  at: InstantText;
  ts: string | null;
}

export interface KnownTable {
  id: string;
  name: string;
  named_at: InstantText;
  source: string;
  seen_at: InstantText;
  fields: JsonText;
  field_seen_at: JsonText;
}

interface SealedSecretTable {
  change_id: ChangeId;
  sealed: string;
  requester: UserId;
  expires_at: InstantText;
}

interface CostMonthTable {
  month: string;
  fetched_at: InstantText;
  final: 0 | 1;
  report: JsonText;
}

interface CostSnapshotTable {
  day: string;
  fetched_at: InstantText;
  total: string;
  final: 0 | 1;
}

interface SubscriptionTable {
  id: string;
  channel: string;
  options: JsonText;
  paused: 0 | 1;
  created_by: UserId;
  created_at: InstantText;
}

interface IncidentTable {
  line: string;
  onset: string;
  state: string;
  facts: JsonText;
  updated_at: InstantText;
}

interface BudgetNoticeTable {
  budget: string;
  month: string;
  mark: string;
  at: InstantText;
}

interface EffectNoticeTable {
  change_id: ChangeId;
  days: number;
  at: InstantText;
}

/** What was read of a target after the send. It is in no hash: nothing is decided from it. */
export interface FollowUpTable {
  change_id: ChangeId;
  shown: JsonText;
  /** The next reading; null: there is none. */
  next_at: InstantText | null;
  lease_owner: string | null;
  lease_until: InstantText | null;
}

/** When a schedule is handled next. The audit trail alone says whether it may run. */
export interface ScheduleTable {
  /** The id of the change that created the schedule. */
  id: ChangeId;
  service: string;
  /** Null: it has ended. */
  next_at: InstantText | null;
  until_at: InstantText;
  created_at: InstantText;
  ended_at: InstantText | null;
}

export interface ScheduleRunTable {
  schedule_id: ChangeId;
  occurrence: InstantText;
  action: 'start' | 'stop';
  /** Null for an occurrence that was skipped. */
  change_id: ChangeId | null;
  /** Why it was skipped. */
  skipped: string | null;
  at: InstantText;
}

export interface FreezeTable {
  /** The id of the change that created the freeze. */
  id: ChangeId;
  scope: JsonText;
  reason: string;
  made_by: UserId;
  from_at: InstantText;
  until_at: InstantText;
  lifted_by: UserId | null;
  lifted_at: InstantText | null;
}

/** Counts per user, kind and time window. */
interface TallyTable {
  person: UserId;
  kind: string;
  since: InstantText;
  count: number;
}

interface MetaTable {
  key: string;
  value: string;
}
