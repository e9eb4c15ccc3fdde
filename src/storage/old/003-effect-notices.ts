/** The cost effects of changes that were posted. */
export function effectNotices(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  const end = engine === 'sqlite' ? 'strict' : '';
  return [
    `create table effect_notice (change_id ${text} not null references change (id),
      days integer not null check (days > 0), at ${text} not null,
      primary key (change_id, days)) ${end}`,
  ];
}
