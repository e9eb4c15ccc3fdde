/** The freeze that stopped an approved change, for its card. */
export function frozenBy(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  return [`alter table change add column frozen_by ${text}`];
}
