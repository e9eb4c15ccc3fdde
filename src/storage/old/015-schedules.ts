/** Schedules of services, and each of their runs: one row for each schedule and occurrence. */
export function schedules(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  const end = engine === 'sqlite' ? 'strict' : '';
  return [
    `create table service_schedule (id ${text} primary key references change (id),
      service ${text} not null, next_at ${text}, until_at ${text} not null,
      created_at ${text} not null, ended_at ${text}) ${end}`,
    'create index service_schedule_due on service_schedule (next_at) where next_at is not null',
    `create unique index service_schedule_current on service_schedule (service)
      where ended_at is null`,
    `create table schedule_run (schedule_id ${text} not null references service_schedule (id),
      occurrence ${text} not null, action ${text} not null, change_id ${text} unique,
      skipped ${text}, at ${text} not null, primary key (schedule_id, occurrence)) ${end}`,
  ];
}
