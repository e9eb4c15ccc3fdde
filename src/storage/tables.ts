// The tables beside the log that are caches: nothing is decided from them, and each may be deleted while the bot is
// stopped. Times are milliseconds since 1970, as in the whole schema; JSON is text.

/** The caches by their name, for typed queries. */
export interface Tables {
  rate_counter: RateCounterTable;
  request_budget: RequestBudgetTable;
  instance: InstanceTable;
  known_service: KnownServiceTable;
  cost_month: CostMonthTable;
  cost_snapshot: CostSnapshotTable;
  cost_state: CostStateTable;
  alert_report: AlertReportTable;
  reading: ReadingTable;
  sealed_secret: SealedSecretTable;
}

/** How often a user did something in a time window. */
interface RateCounterTable {
  person: string;
  kind: string;
  /** The start of the window. */
  since: number;
  count: number;
}

/** The last requests to one API, which all replicas share. */
interface RequestBudgetTable {
  api: string;
  starts: string;
}

/** A running process, which stores its row every few seconds. */
interface InstanceTable {
  id: string;
  release: string;
  started_at: number;
  seen_at: number;
}

/** What replies said about a service. */
export interface KnownServiceTable {
  id: string;
  organization: string;
  name: string;
  named_at: number;
  /** The newest reply with facts, and its time. */
  source: string;
  seen_at: number;
  fields: string;
  /** The time of each field. */
  field_seen_at: string;
}

interface CostMonthTable {
  /** `2026-11/<organization>`. */
  month: string;
  fetched_at: number;
  final: 0 | 1;
  report: string;
}

interface CostSnapshotTable {
  /** `2026-11-20/<organization>`. */
  day: string;
  fetched_at: number;
  /** Millionths of a credit. */
  total: number;
  final: 0 | 1;
}

/** Single values that costs keep: what was read last, and what is being watched. */
interface CostStateTable {
  key: string;
  value: string;
}

/** The last delivery of the alert service about an alert, and the message that shows it. */
export interface AlertReportTable {
  /** The id of the alert and its group. */
  key: string;
  /** Names the message; empty for a report that needs none. */
  card: string;
  /** What one message is about: a service, or an alert with all its groups. */
  scope: string;
  /** When the message was planned. */
  opened_at: number;
  /** The time in the report. */
  at: number;
  report: string;
}

/** What was read of a target after the send. */
interface ReadingTable {
  change_id: string;
  shown: string;
}

/** A password of a created service, for 24 hours. The clear text is never stored. */
interface SealedSecretTable {
  change_id: string;
  sealed: string;
  requester: string;
  expires_at: number;
}

/** The statements that create them. */
export function cacheTables(engine: 'sqlite' | 'postgres'): readonly string[] {
  const [integer, text, strict] =
    engine === 'sqlite' ? ['integer', 'text', ' strict'] : ['bigint', 'text collate "C"', ''];
  return [
    `create table rate_counter (
      person ${text} not null,
      kind ${text} not null,
      since ${integer} not null,
      count ${integer} not null check (count > 0),
      primary key (person, kind, since)
    )${strict}`,
    'create index rate_counter_since on rate_counter (since)',
    `create table request_budget (
      api ${text} primary key,
      starts ${text} not null
    )${strict}`,
    `create table instance (
      id ${text} primary key,
      release ${text} not null,
      started_at ${integer} not null,
      seen_at ${integer} not null
    )${strict}`,
    `create table known_service (
      id ${text} primary key,
      organization ${text} not null,
      name ${text} not null,
      named_at ${integer} not null,
      source ${text} not null,
      seen_at ${integer} not null,
      fields ${text} not null,
      field_seen_at ${text} not null
    )${strict}`,
    // One text for a whole month, which is always read and replaced as a whole.
    `create table cost_month (
      month ${text} primary key,
      fetched_at ${integer} not null,
      final ${integer} not null check (final in (0, 1)),
      report ${text} not null
    )${strict}`,
    `create table cost_snapshot (
      day ${text} not null,
      fetched_at ${integer} not null,
      total ${integer} not null,
      final ${integer} not null check (final in (0, 1)),
      primary key (day, fetched_at)
    )${strict}`,
    `create table cost_state (
      key ${text} primary key,
      value ${text} not null
    )${strict}`,
    `create table alert_report (
      key ${text} not null,
      card ${text} not null,
      scope ${text} not null,
      opened_at ${integer} not null,
      at ${integer} not null,
      report ${text} not null,
      primary key (key, card)
    )${strict}`,
    'create index alert_report_card on alert_report (card)',
    'create index alert_report_scope on alert_report (scope, opened_at)',
    `create table reading (
      change_id ${text} primary key,
      shown ${text} not null
    )${strict}`,
    `create table sealed_secret (
      change_id ${text} primary key,
      sealed ${text} not null,
      requester ${text} not null,
      expires_at ${integer} not null
    )${strict}`,
  ];
}
