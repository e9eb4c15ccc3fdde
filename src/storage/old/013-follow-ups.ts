/** What optional reads showed of the target of a change after the send. */
export function followUps(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  const end = engine === 'sqlite' ? 'strict' : '';
  return [
    `create table follow_up (change_id ${text} primary key references change (id),
      shown ${text} not null, next_at ${text}, lease_owner ${text}, lease_until ${text}) ${end}`,
    'create index follow_up_due on follow_up (next_at) where next_at is not null',
  ];
}
