/** The events that record the result of a verification, which each start reads. */
export function trailMarks(): string[] {
  return [
    `create index audit_event_marks on audit_event (seq)
      where kind in ('trail-broken', 'trail-verified')`,
  ];
}
