/**
 * An index for the last sent changes of each target, so that the time of cost estimates does not grow
 * with the number of changes.
 */
export function sentChanges(): string[] {
  return [
    `create index change_sent_by_target on change (target_key, ended_at, id)
      where state in ('succeeded', 'unknown')`,
  ];
}
