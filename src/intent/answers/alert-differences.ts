import type { Json, JsonObject } from '../../base/text.ts';
import type { Snapshot, StateDifference } from '../../domain/change.ts';
import { canonical } from '../../domain/decide.ts';
import { namedValue, storedNames } from '../../servers/alerts-reads.ts';
import { alertLabel } from './alert-text.ts';

/**
 * The fields of an alert that are not as in the preview, with their labels, previous and current values.
 * Servers that send both `channel` and `channels` repeat the first channel.
 */
export function alertDifferences(before: Snapshot, now: JsonObject): readonly StateDifference[] {
  const names = storedNames(before);
  const fields = [...new Set([...Object.keys(before.fields), ...Object.keys(now)])];
  const isSame = (field: string) =>
    canonical(before.fields[field] ?? null) === canonical(now[field] ?? null);
  const changed = fields.filter((field) => !isSame(field));
  return changed
    .filter((field) => field !== 'channel' || !changed.includes('channels'))
    .map((field) => ({
      label: alertLabel(field),
      was: textOf(namedValue(field, before.fields[field] ?? null, names)),
      is: textOf(namedValue(field, now[field] ?? null, names)),
    }));
}

function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return 'not set';
  if (Array.isArray(value)) return value.map(textOf).join(', ') || 'none';
  return typeof value === 'object' ? Object.values(value).map(textOf).join(' ') : String(value);
}
