/** The signature of a stored click. Release 1.0 stores clicks without one. */
export function clickSignatures(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  return [`alter table inbox add column signature ${text}`];
}
