/** Break-glass, timed changes, and freezes that were created in Slack. */
export function breakGlassTimingFreezes(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  const end = engine === 'sqlite' ? 'strict' : '';
  const columns = ['broken_glass', 'review', 'confirmed_at', 'back_at', 'parent'];
  return [
    ...columns.map((column) => `alter table change add column ${column} ${text}`),
    // Several replicas may plan the same revert: only one is stored.
    'create unique index change_by_parent on change (parent) where parent is not null',
    'create index change_to_take_back on change (back_at) where back_at is not null',
    `create table change_freeze (id ${text} primary key, scope ${text} not null, reason ${text} not null,
      made_by ${text} not null, from_at ${text} not null, until_at ${text} not null,
      lifted_by ${text}, lifted_at ${text}) ${end}`,
    'create index change_freeze_by_end on change_freeze (until_at)',
  ];
}
