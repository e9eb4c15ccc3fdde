import type { ServiceTag } from '../state.ts';

/** Whether the tags match every filter: `tag:Key=Value`, or `tag:Key` for any value. */
export function matchesFilters(tags: readonly ServiceTag[], filters: readonly string[]): boolean {
  return filters.every((filter) => {
    const [key, value] = filter.replace(/^tag:/, '').split('=', 2);
    return tags.some((tag) => tag.key === key && (value === undefined || tag.value === value));
  });
}
