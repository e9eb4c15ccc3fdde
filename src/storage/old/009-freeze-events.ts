/** The events of freezes, which every decision reads, without a scan of the audit trail. */
export function freezeEvents(): string[] {
  return [
    `create index audit_event_freezes on audit_event (seq)
      where kind in ('freeze-created', 'freeze-lifted')`,
  ];
}
