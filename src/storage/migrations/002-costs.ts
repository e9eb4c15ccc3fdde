/** Costs: what was read, what was posted, and who wants to hear of it. */
export function secondSchema(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  const end = engine === 'sqlite' ? 'strict' : '';
  return [
    // A whole month in one text: it is always read, kept and replaced as one.
    `create table cost_month (month ${text} primary key, fetched_at ${text} not null,
      final integer not null check (final in (0, 1)), report ${text} not null) ${end}`,
    // What a day was said to cost, each time it was said otherwise: totals in millionths, as text,
    // for they outgrow the integers of one of the engines.
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
