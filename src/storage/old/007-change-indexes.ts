/**
 * Indexes for the queries of the background loops and lists, so that their time does not grow with
 * the number of ended changes, and the mark of a planned revert.
 */
export function changeIndexes(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  return [
    `alter table change add column revert_planned_at ${text}`,
    `update change set revert_planned_at = created_at
      where exists (select 1 from change as child where child.parent = change.id)`,
    `create index change_open on change (created_at, id)
      where state in ('draft', 'pending', 'approved', 'executing', 'unknown')`,
    `create index change_revert_due on change (state, back_at)
      where back_at is not null and revert_planned_at is null`,
    `create index change_to_review on change (created_at, id)
      where broken_glass is not null and parent is null and review is null`,
    'create index change_by_state_and_age on change (state, created_at, id)',
    'create index change_by_target_and_age on change (target_key, created_at)',
    'create index change_by_end on change (ended_at, id) where ended_at is not null',
  ];
}
