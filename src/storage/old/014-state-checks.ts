/** What the read of the target right before sending found, where it has to be shown. */
export function stateChecks(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  return [`alter table change add column state_check ${text}`];
}
