/** Costs: stored reports, snapshots, subscriptions, anomalies and budget notices. */
export function costTables(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  const end = engine === 'sqlite' ? 'strict' : '';
  return [
    // One text for a whole month, which is always read and replaced as a whole.
    `create table cost_month (month ${text} primary key, fetched_at ${text} not null,
      final integer not null check (final in (0, 1)), report ${text} not null) ${end}`,
    // One row for each change of a day's total, in millionths. Text, because 32-bit integers of
    // PostgreSQL are too small.
    `create table cost_snapshot (day ${text} not null, fetched_at ${text} not null,
      total ${text} not null, final integer not null check (final in (0, 1)),
      primary key (day, fetched_at)) ${end}`,
    `create table subscription (id ${text} primary key, channel ${text} not null,
      options ${text} not null, paused integer not null check (paused in (0, 1)),
      created_by ${text} not null, created_at ${text} not null) ${end}`,
    `create table incident (line ${text} not null, onset ${text} not null, state ${text} not null,
      facts ${text} not null, updated_at ${text} not null, primary key (line, onset)) ${end}`,
    `create table budget_notice (budget ${text} not null, month ${text} not null,
      mark ${text} not null, at ${text} not null, primary key (budget, month, mark)) ${end}`,
  ];
}
