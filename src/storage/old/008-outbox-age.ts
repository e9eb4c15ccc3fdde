/** The time of the first delivery attempt, from which the retries of a message are limited. */
export function outboxAge(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  return [`alter table outbox add column first_tried_at ${text}`];
}
