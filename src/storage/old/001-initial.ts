// A copy, not an import: a migration that ran somewhere must never change.
const STATES = `'draft', 'pending', 'approved', 'executing', 'succeeded', 'failed', 'unknown',
  'rejected', 'cancelled', 'expired', 'stale', 'denied'`;

/** The parts of the schema that differ between the two engines. */
interface Dialect {
  /** Sorted and compared by bytes on both engines. */
  readonly text: string;
  readonly serial: string;
  readonly end: string;
  readonly triggers: readonly string[];
}

const SQLITE: Dialect = {
  text: 'text',
  serial: 'integer primary key autoincrement',
  end: 'strict',
  triggers: ['update', 'delete'].map(
    (verb) => `create trigger audit_event_no_${verb} before ${verb} on audit_event
      begin select raise(abort, 'audit events are only ever added'); end`,
  ),
};

const POSTGRES: Dialect = {
  text: 'text collate "C"',
  serial: 'integer primary key generated always as identity',
  end: '',
  triggers: [
    `create function refuse_audit_change() returns trigger language plpgsql as
      $$ begin raise exception 'audit events are only ever added'; end $$`,
    `create trigger audit_event_only_added before update or delete or truncate on audit_event
      for each statement execute function refuse_audit_change()`,
  ],
};

export function initialTables(engine: 'sqlite' | 'postgres'): string[] {
  const dialect = engine === 'sqlite' ? SQLITE : POSTGRES;
  return [
    ...changeTables(dialect),
    ...auditTables(dialect),
    ...queueTables(dialect),
    ...knowledgeTables(dialect),
    ...dialect.triggers,
  ];
}

function changeTables({ text, end }: Dialect): string[] {
  return [
    `create table change (id ${text} primary key, command ${text} not null,
      call_class ${text} not null check (call_class in ('patch', 'post', 'put')),
      target_key ${text} not null, plan ${text} not null, digest ${text} not null,
      before_hash ${text}, requester ${text} not null, reason ${text},
      requires ${text} not null, policy_hash ${text} not null,
      state ${text} not null check (state in (${STATES})),
      version integer not null check (version > 0),
      rejection ${text}, cancelled_by ${text}, stopped ${text}, ending ${text},
      resolution ${text}, ended_at ${text}, created_at ${text} not null,
      expires_at ${text} not null, not_before ${text}, lease_owner ${text}, lease_until ${text},
      origin ${text}, card_channel ${text}, card_ts ${text}, card_version integer,
      check ((lease_owner is null) = (lease_until is null)),
      check ((card_channel is null) = (card_ts is null))) ${end}`,
    'create index change_by_state on change (state, expires_at)',
    'create index change_by_target on change (target_key, state)',
    'create index change_by_requester on change (requester, created_at)',
    'create index change_by_age on change (created_at, id)',
    `create table approval (change_id ${text} not null references change (id),
      person ${text} not null,
      decision ${text} not null check (decision in ('approved', 'rejected')),
      digest ${text} not null, at ${text} not null, source ${text} not null,
      primary key (change_id, person)) ${end}`,
    `create table send_permit (change_id ${text} not null references change (id),
      n integer not null check (n > 0), single ${text} unique, owner ${text} not null,
      at ${text} not null,
      outcome ${text} check (outcome in ('succeeded', 'failed', 'unknown', 'not-sent')),
      http_status integer, primary key (change_id, n)) ${end}`,
    `create table target_lock (target ${text} primary key,
      change_id ${text} not null unique references change (id), at ${text} not null) ${end}`,
  ];
}

function auditTables({ text, end }: Dialect): string[] {
  return [
    `create table audit_event (seq integer primary key, kind ${text} not null,
      change_id ${text}, version integer, from_state ${text}, to_state ${text},
      body ${text} not null, prev_hash ${text} not null, hash ${text} not null unique,
      unique (change_id, version)) ${end}`,
    `create table audit_head (id integer primary key check (id = 1),
      seq integer not null, hash ${text} not null) ${end}`,
    `insert into audit_head (id, seq, hash) values (1, 0, '${GENESIS}')`,
  ];
}

function queueTables({ text, serial, end }: Dialect): string[] {
  return [
    `create table inbox (dedup_key ${text} primary key, kind ${text} not null, body ${text},
      at ${text} not null, not_before ${text} not null, attempts integer not null,
      lease_owner ${text}, lease_until ${text}, handled_at ${text}) ${end}`,
    'create index inbox_open on inbox (not_before) where handled_at is null',
    'create index inbox_handled on inbox (handled_at) where handled_at is not null',
    `create table outbox (id ${serial}, change_id ${text}, kind ${text} not null, body ${text},
      not_before ${text} not null, attempts integer not null, lease_owner ${text},
      lease_until ${text}, done_at ${text}) ${end}`,
    'create index outbox_open on outbox (not_before) where done_at is null',
    // A message without a body shows the current state, so that one waiting message is enough.
    `create unique index outbox_waiting_draw on outbox (change_id, kind)
      where done_at is null and lease_owner is null and body is null`,
    `create table digest (channel ${text} not null, day ${text} not null,
      state ${text} not null check (state in ('sending', 'posted', 'missed', 'unknown')),
      owner ${text} not null, at ${text} not null, ts ${text},
      primary key (channel, day)) ${end}`,
  ];
}

function knowledgeTables({ text, end }: Dialect): string[] {
  const known = ['known_service', 'known_pipe'].map(
    (table) => `create table ${table} (id ${text} primary key, name ${text} not null,
      named_at ${text} not null, source ${text} not null, seen_at ${text} not null,
      fields ${text} not null, field_seen_at ${text} not null) ${end}`,
  );
  return [
    `create table meta (key ${text} primary key, value ${text} not null) ${end}`,
    ...known,
    `create table sealed_secret (change_id ${text} primary key references change (id),
      sealed ${text} not null, requester ${text} not null, expires_at ${text} not null) ${end}`,
  ];
}

/** The hash before the first audit event. */
export const GENESIS = '0'.repeat(64);
