import type { AlertsReads } from '../../alerts/reads.ts';
import type { Alert } from '../../alerts/schema.ts';
import type { Json, JsonObject } from '../../base/text.ts';
import { oneLineOf } from '../../domain/answer.ts';
import type { Snapshot } from '../../domain/change.ts';
import type { OptionalRead } from '../../http/optional/optional-read.ts';

const KINDS = ['webhook', 'dashboard', 'tile', 'saved search'] as const;
type Kind = (typeof KINDS)[number];

/**
 * The names of what an alert refers to, by kind and id. Null: the server does not list this id. A
 * kind is missing if its list is unknown.
 */
export type AlertNames = Readonly<Partial<Record<Kind, Readonly<Record<string, string | null>>>>>;

type Edit = { readonly [Key in 'webhookId' | 'dashboardId' | 'tileId']?: string | undefined };
type Ids = Readonly<Partial<Record<Kind, readonly string[]>>>;

/** Reads the names of what an alert refers to now, and after an edit. */
export async function readAlertNames(
  reads: AlertsReads | null,
  alert: Alert,
  edit: Edit = {},
): Promise<AlertNames> {
  if (!reads) return {};
  const ids = {
    webhook: texts([...alert.channels.map(({ webhookId }) => webhookId), edit.webhookId]),
    dashboard: texts([alert.dashboardId, edit.dashboardId]),
    tile: texts([alert.tileId, edit.tileId]),
    'saved search': texts([alert.savedSearchId]),
  };
  const waiting = { waiting: true };
  const hasTile = ids.dashboard.length + ids.tile.length > 0;
  const [webhooks, dashboards, searches] = await Promise.all([
    ids.webhook.length > 0 ? reads.webhooks(waiting) : null,
    hasTile ? reads.dashboards(waiting) : null,
    ids['saved search'].length > 0 ? reads.savedSearches(waiting) : null,
  ]);
  return {
    ...namesIn('webhook', ids, webhooks),
    ...namesIn('dashboard', ids, dashboards),
    ...namesIn('tile', ids, tilesOf(dashboards)),
    ...namesIn('saved search', ids, searches),
  };
}

/** The names of all listed webhooks, for lists of alerts. */
export async function readWebhookNames(reads: AlertsReads | null): Promise<AlertNames> {
  const read = await reads?.webhooks({ waiting: true });
  const ids = read?.known ? read.value.map(({ id }) => id) : [];
  return namesIn('webhook', { webhook: ids }, read ?? null);
}

type Named = { readonly id: string; readonly name: string | null };

function namesIn(kind: Kind, ids: Ids, read: OptionalRead<readonly Named[]> | null): AlertNames {
  const wanted = ids[kind] ?? [];
  if (!read?.known || wanted.length === 0) return {};
  const listed = new Map(read.value.map((one) => [one.id, one]));
  const names = wanted.map((id) => {
    const found = listed.get(id);
    return [id, found ? oneLineOf(found.name ?? '', 150) || id : null] as const;
  });
  return { [kind]: Object.fromEntries(names) };
}

// Without the tiles of one dashboard, it is unknown whether a tile exists.
function tilesOf(
  read: Awaited<ReturnType<AlertsReads['dashboards']>> | null,
): OptionalRead<readonly Named[]> | null {
  if (!read?.known || read.value.some(({ tiles }) => tiles === null)) return null;
  return { ...read, value: read.value.flatMap(({ tiles }) => tiles ?? []) };
}

function texts(values: readonly unknown[]): readonly string[] {
  const ids = values.filter((value): value is string => typeof value === 'string' && value !== '');
  return [...new Set(ids)];
}

/** The names that were read with a snapshot; stored with it, so that every card shows the same ones. */
export function storedNames(before: Snapshot | null): AlertNames {
  // Signalbox stored this value itself.
  return (before?.volatileFields?.names ?? {}) as AlertNames;
}

/** `notifies Production alerts, Paging`; null if the name of a channel is unknown. */
export function notifiesText(
  channels: readonly Readonly<Record<string, unknown>>[],
  { webhook = {} }: AlertNames,
): string | null {
  const names = channels.map(({ webhookId }) => webhook[String(webhookId ?? '')] ?? null);
  const isKnown = names.length > 0 && names.every((name) => name !== null);
  return isKnown ? `notifies ${names.join(', ')}` : null;
}

const KIND_OF: Readonly<Record<string, Kind>> = {
  dashboardId: 'dashboard',
  tileId: 'tile',
  savedSearchId: 'saved search',
};

/** The value of a field with the name of what it refers to instead of the id, where it is known. */
export function namedValue(field: string, value: Json, names: AlertNames): Json {
  if (field === 'channel' || field === 'channels') {
    return notifiesText(channelsIn(value), names) ?? value;
  }
  const kind = KIND_OF[field];
  return (kind && typeof value === 'string' ? names[kind]?.[value] : null) ?? value;
}

/** What an update sends although the server does not list it, so that it may refuse the update. */
export function missingReferences(body: JsonObject, names: AlertNames): readonly string[] {
  const channels = [...channelsIn(body.channels ?? null), ...channelsIn(body.channel ?? null)];
  const sent: readonly (readonly [Kind, unknown])[] = [
    ...channels.map(({ webhookId }) => ['webhook', webhookId] as const),
    ...Object.entries(KIND_OF).map(([field, kind]) => [kind, body[field]] as const),
  ];
  const missing = sent.flatMap(([kind, id]) =>
    typeof id === 'string' && names[kind]?.[id] === null ? [`${kind} ${oneLineOf(id, 60)}`] : [],
  );
  return [...new Set(missing)].map(
    (one) => `The server does not list ${one}. If it was deleted, the server refuses this edit.`,
  );
}

function channelsIn(value: Json): readonly JsonObject[] {
  const list: readonly Json[] = Array.isArray(value) ? value : [value];
  return list.filter(
    (one): one is JsonObject => typeof one === 'object' && one !== null && !Array.isArray(one),
  );
}
