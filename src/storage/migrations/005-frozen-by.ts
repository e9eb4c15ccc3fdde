/** What froze a change that was approved, for everyone who reads its card afterwards. */
export function fifthSchema(engine: 'sqlite' | 'postgres'): string[] {
  const text = engine === 'sqlite' ? 'text' : 'text collate "C"';
  return [`alter table change add column frozen_by ${text}`];
}
