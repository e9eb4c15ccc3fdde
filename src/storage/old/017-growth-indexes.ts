/** Indexes for background queries whose time grew with the number of ended changes and sent messages. */
export function growthIndexes(): string[] {
  return [
    `create index change_unplanned_revert on change (created_at, id)
      where state = 'succeeded' and back_at is not null and revert_planned_at is null`,
    'create index outbox_done on outbox (done_at) where done_at is not null',
    'create index effect_notice_by_age on effect_notice (at)',
    'create index send_permit_by_age on send_permit (at)',
  ];
}
