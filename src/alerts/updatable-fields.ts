import { isRecord } from '../base/http-answer.ts';
import { type Alert, SERVER_MANAGED, underRequestNames } from './schema.ts';

export type AlertFields = Readonly<Record<string, unknown>>;

/** All fields of the alert that an update may contain, under the request names. */
export function updatableFields({ asRead, threshold, thresholdMax }: Alert): AlertFields {
  // Some servers send numbers as strings; the contract requires numbers in requests.
  const fields = { ...underRequestNames(asRead), threshold, thresholdMax };
  const foreign = isTile(fields) ? ['savedSearchId', 'groupBy'] : ['dashboardId', 'tileId'];
  const dropped = isTile(fields) || isSearch(fields) ? foreign : [];
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([key, value]) => value !== null && !SERVER_MANAGED.includes(key) && !dropped.includes(key),
    ),
  );
}

export type MissingForUpdate = 'unknown-source' | 'no-channel' | 'no-tile' | 'no-saved-search';

/** A field that an update requires and that the server did not send; null: none. */
export function missingForUpdate(kept: AlertFields): MissingForUpdate | null {
  if (!isTile(kept) && !isSearch(kept)) return 'unknown-source';
  if (firstChannel(kept) === null) return 'no-channel';
  const hasTile = kept.dashboardId !== undefined && kept.tileId !== undefined;
  if (isTile(kept)) return hasTile ? null : 'no-tile';
  // For the contract's `search`, the update has no field for the saved search.
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

/** JSON with sorted keys, so that equal values have equal texts. */
export function canonicalAlert(value: unknown): string {
  return (
    JSON.stringify(value, (_key, item: unknown) =>
      isRecord(item)
        ? Object.fromEntries(Object.entries(item).sort(([one], [two]) => (one < two ? -1 : 1)))
        : item,
    ) ?? 'undefined'
  );
}
