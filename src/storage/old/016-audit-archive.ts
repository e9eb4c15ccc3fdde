/**
 * Lets the archive command delete events up to the end of its last checkpoint, and only these. Its
 * transaction stores that number in the row `audit-archived` of `meta`.
 */
export function auditArchive(engine: 'sqlite' | 'postgres'): string[] {
  const index = `create index audit_event_kept on audit_event (seq)
    where kind in ('trail-archived', 'key-changed', 'key-started', 'trail-accepted')`;
  return [...(engine === 'sqlite' ? SQLITE : POSTGRES), index];
}

const ARCHIVED = `coalesce((select cast(value as integer) from meta where key = 'audit-archived'), 0)`;

const SQLITE = [
  'drop trigger audit_event_no_delete',
  `create trigger audit_event_no_delete before delete on audit_event when old.seq > ${ARCHIVED}
    begin select raise(abort, 'audit events are only ever added'); end`,
];

const POSTGRES = [
  `create or replace function refuse_audit_change() returns trigger language plpgsql as
    $$ begin
      if tg_op = 'DELETE' then
        if old.seq <= ${ARCHIVED} then return old; end if;
      end if;
      raise exception 'audit events are only ever added';
    end $$`,
  'drop trigger audit_event_only_added on audit_event',
  `create trigger audit_event_only_added before update or delete on audit_event
    for each row execute function refuse_audit_change()`,
  `create trigger audit_event_no_truncate before truncate on audit_event
    for each statement execute function refuse_audit_change()`,
];
