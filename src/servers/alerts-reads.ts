import { z } from 'zod';
import { isRecord } from '../base/http-answer.ts';
import { EntryId, MaybeNumber, MaybeText, tolerant, tolerantList } from '../base/http-rows.ts';
import type { Json, JsonObject } from '../base/text.ts';
import { oneLineOf } from '../domain/answer.ts';
import type { Snapshot } from '../domain/change.ts';
import type { Alert } from './alerts-schema.ts';
import {
  type CapabilityOptions,
  cachedRead,
  createCapabilities,
  type OptionalCall,
  type OptionalRead,
  type ReadOptions,
  type SendRead,
} from './optional-reads.ts';

// Only these fields leave the client: the URL and the body of a webhook are credentials.

const WebhookReading = z.object({ id: EntryId, name: MaybeText, service: MaybeText });
export type WebhookReading = z.infer<typeof WebhookReading>;

const NamedReading = z.object({ id: EntryId, name: MaybeText });

const DashboardReading = NamedReading.extend({ tiles: tolerant(tolerantList(NamedReading)) });
export type DashboardReading = z.infer<typeof DashboardReading>;

const Meta = tolerant(z.object({ total: MaybeNumber, limit: MaybeNumber }));

const RULE = { permission: null, notFound: 'route' } as const;
const CAPABILITIES = { webhooks: RULE, 'saved-searches': RULE, dashboards: RULE };

type AlertsCapability = keyof typeof CAPABILITIES;

/**
 * The objects to which alerts refer, at most 5 min old. Nothing may need them; like `CloudReads`, no
 * function throws an ApiError, and with `cloud.reads: contract` no request is sent.
 */
export type AlertsReads = ReturnType<typeof createAlertsReads>;

const KEPT_MS = 300_000;
const PAGE_SIZE = 1_000;
const MAX_PAGES = 20;

/** Opens the optional reads of the alerts API. `send` returns the whole body of a reply. */
export function createAlertsReads(send: SendRead, options: CapabilityOptions) {
  const capabilities = createCapabilities(CAPABILITIES, options);

  /**
   * All pages of a list. A page can be shorter than its limit, because servers leave out what they
   * cannot show, so only the total ends the list. Older servers have no pages and send no total.
   */
  function all<S extends z.ZodType>(name: AlertsCapability, operation: string, entry: S) {
    const Page = z.object({ data: tolerantList(entry), meta: Meta });
    const path = `/api/v2/${name}`;
    const page = (query: Record<string, string>, call: OptionalCall) =>
      send({ operation, path, query, ...call }, Page);
    const pages = async (_: string, call: OptionalCall): Promise<readonly z.output<S>[]> => {
      const first = await page({}, call);
      const limit = Math.max(1, first.meta?.limit ?? PAGE_SIZE);
      const total = first.meta?.total ?? 0;
      const entries = [...first.data];
      for (let number = 1; number < MAX_PAGES && number * limit < total; number += 1) {
        const query = { limit: `${limit}`, offset: `${number * limit}` };
        entries.push(...(await page(query, call)).data);
      }
      return entries;
    };
    const list = { name, keepMs: KEPT_MS, send: pages, isOfAll: true };
    const cached = cachedRead(capabilities, options.now, list);
    return (how?: ReadOptions) => cached('all', how);
  }

  return {
    webhooks: all('webhooks', 'listWebhooks', WebhookReading),
    savedSearches: all('saved-searches', 'listSavedSearches', NamedReading),
    /** With their tiles. The reply has every query of every dashboard, so it can be large. */
    dashboards: all('dashboards', 'listDashboards', DashboardReading),
    /** Whether no request of a capability is sent: it is not allowed, or the server refused it. */
    isOff: (capability: AlertsCapability) => capabilities.blocked(capability, null) !== null,
  };
}

type Kind = 'webhook' | 'dashboard' | 'tile' | 'saved search';

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
  const channels = [...channelsIn(body.channels), ...channelsIn(body.channel)];
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

function channelsIn(value: unknown) {
  return [value].flat().filter(isRecord);
}
