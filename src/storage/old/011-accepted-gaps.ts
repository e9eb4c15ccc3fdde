/** The events with which operators accept a gap, which a verification reads where it finds one. */
export function acceptanceIndex(): string[] {
  return [
    `create index audit_event_acceptances on audit_event (seq)
      where kind in ('trail-acceptance-requested', 'trail-accepted')`,
  ];
}
