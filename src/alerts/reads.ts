import { z } from 'zod';
import { EntryId, MaybeNumber, MaybeText, tolerant, tolerantList } from '../base/http-rows.ts';
import { type CachedRead, cachedRead, type OptionalCall } from '../http/optional/cached-read.ts';
import {
  type CapabilityOptions,
  type CapabilityRule,
  createCapabilities,
} from '../http/optional/capabilities.ts';
import type { OptionalRead, ReadOptions } from '../http/optional/optional-read.ts';

// Only these fields leave the client: the URL and the body of a webhook are credentials.

const WebhookReading = z.object({ id: EntryId, name: MaybeText, service: MaybeText });
export type WebhookReading = z.infer<typeof WebhookReading>;

const NamedReading = z.object({ id: EntryId, name: MaybeText });
export type SavedSearchReading = z.infer<typeof NamedReading>;

const DashboardReading = NamedReading.extend({ tiles: tolerant(tolerantList(NamedReading)) });
export type DashboardReading = z.infer<typeof DashboardReading>;

const Meta = tolerant(z.object({ total: MaybeNumber, limit: MaybeNumber }));

/** The names of the requests, for logs, metrics and traces. */
export type AlertsReadOperation = 'listWebhooks' | 'listSavedSearches' | 'listDashboards';

const CAPABILITIES = {
  webhooks: { permission: null, notFound: 'route' },
  'saved-searches': { permission: null, notFound: 'route' },
  dashboards: { permission: null, notFound: 'route' },
} as const satisfies Record<string, CapabilityRule>;

export type AlertsCapability = keyof typeof CAPABILITIES;

type ReadAll<T> = (options?: ReadOptions) => Promise<OptionalRead<readonly T[]>>;

/**
 * The objects to which alerts refer, at most 5 min old. Nothing may need them; like `CloudReads`, no
 * function throws an ApiError, and with `cloud.reads: contract` no request is sent.
 */
export interface AlertsReads {
  readonly webhooks: ReadAll<WebhookReading>;
  readonly savedSearches: ReadAll<SavedSearchReading>;
  /** With their tiles. The reply has every query of every dashboard, so it can be large. */
  readonly dashboards: ReadAll<DashboardReading>;
  /** Whether no request of a capability is sent: it is not allowed, or the server refused it. */
  readonly isOff: (capability: AlertsCapability) => boolean;
}

interface ReadRequest extends OptionalCall {
  readonly operation: AlertsReadOperation;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
}

type SendRead = <S extends z.ZodType>(request: ReadRequest, schema: S) => Promise<z.output<S>>;

const KEPT_MS = 300_000;
const PAGE_SIZE = 1_000;
const MAX_PAGES = 20;

/** Opens the optional reads of the alerts API. `send` returns the whole body of a reply. */
export function createAlertsReads(send: SendRead, options: CapabilityOptions): AlertsReads {
  const capabilities = createCapabilities(CAPABILITIES, options);
  const webhooks = pagesOf(send, 'listWebhooks', '/api/v2/webhooks', WebhookReading);
  const searches = pagesOf(send, 'listSavedSearches', '/api/v2/saved-searches', NamedReading);
  const dashboards = pagesOf(send, 'listDashboards', '/api/v2/dashboards', DashboardReading);

  function all<T>(name: AlertsCapability, pages: AllPages<T>): ReadAll<T> {
    const read: CachedRead<AlertsCapability, readonly T[]> = {
      ...{ name, keepMs: KEPT_MS, isOfAll: true },
      send: (_, call) => pages(call),
    };
    const cached = cachedRead(capabilities, options.now, read);
    return (how) => cached('all', how);
  }

  return {
    webhooks: all('webhooks', webhooks),
    savedSearches: all('saved-searches', searches),
    dashboards: all('dashboards', dashboards),
    isOff: (capability) => capabilities.blocked(capability, null) !== null,
  };
}

type AllPages<T> = (call: OptionalCall) => Promise<readonly T[]>;

/**
 * All pages of a list. A page can be shorter than its limit, because servers leave out what they
 * cannot show, so only the total ends the list. Older servers have no pages and send no total.
 */
function pagesOf<S extends z.ZodType>(
  send: SendRead,
  operation: AlertsReadOperation,
  path: string,
  entry: S,
): AllPages<z.output<S>> {
  const Page = z.object({ data: tolerantList(entry), meta: Meta });
  const page = (query: Record<string, string>, call: OptionalCall) =>
    send({ operation, path, query, ...call }, Page);

  return async (call) => {
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
}
