import { isRecord } from '../http/answer.ts';
import { type Alert, SERVER_MANAGED, underRequestNames } from './schema.ts';

export type AlertFields = Readonly<Record<string, unknown>>;

/** Everything the alert has that an update may say, under the names that requests use. */
export function carried({ asRead, threshold, thresholdMax }: Alert): AlertFields {
  // Some servers wrap numbers in strings; the contract wants this one as a number.
  const fields = { ...underRequestNames(asRead), threshold, thresholdMax };
  const foreign = isTile(fields) ? ['savedSearchId', 'groupBy'] : ['dashboardId', 'tileId'];
  const dropped = isTile(fields) || isSearch(fields) ? foreign : [];
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([key, value]) => value !== null && !SERVER_MANAGED.includes(key) && !dropped.includes(key),
    ),
  );
}

export type Gap = 'unknown-source' | 'no-channel' | 'no-tile' | 'no-saved-search';

/** What the server would need in an update and did not tell. */
export function gapIn(kept: AlertFields): Gap | null {
  if (!isTile(kept) && !isSearch(kept)) return 'unknown-source';
  if (firstChannel(kept) === null) return 'no-channel';
  const hasTile = kept.dashboardId !== undefined && kept.tileId !== undefined;
  if (isTile(kept)) return hasTile ? null : 'no-tile';
  // The contract's own word is `search`, and its update knows no field for the saved search.
  const needed = kept.source === 'saved_search' && kept.savedSearchId === undefined;
  return needed ? 'no-saved-search' : null;
}

export function firstChannel(kept: AlertFields): AlertFields | null {
  const first = Array.isArray(kept.channels) ? (kept.channels[0] ?? kept.channel) : kept.channel;
  return isRecord(first) ? first : null;
}

export function isTile({ source }: AlertFields): boolean {
  return source === 'tile';
}

function isSearch({ source }: AlertFields): boolean {
  return source === 'search' || source === 'saved_search';
}

/** One text for one value, whatever the order of its keys. */
export function canonicalAlert(value: unknown): string {
  return (
    JSON.stringify(value, (_key, item: unknown) =>
      isRecord(item)
        ? Object.fromEntries(Object.entries(item).sort(([one], [two]) => (one < two ? -1 : 1)))
        : item,
    ) ?? 'undefined'
  );
}
