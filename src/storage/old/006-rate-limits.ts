/** Counts per user and time window, which the replicas share for rate limits. */
export function rateLimits(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  const end = engine === 'sqlite' ? 'strict' : '';
  return [
    `create table tally (person ${text} not null, kind ${text} not null, since ${text} not null,
      count integer not null check (count > 0), primary key (person, kind, since)) ${end}`,
    'create index tally_by_age on tally (since)',
  ];
}
