import { z } from 'zod';
import { InvalidRequest, Secret } from '../base/errors.ts';
import type { HttpOptions, Reply } from '../base/http.ts';
import {
  apiAddress,
  type CallOptions,
  createEnvelopeHttp,
  pathId,
  validRequest,
} from '../base/http.ts';
import { MaybeNumber, matchingId } from '../base/http-rows.ts';
import { type CapabilityOptions, NO_READS } from '../http/optional/capabilities.ts';
import { type AlertsReads, createAlertsReads } from './reads.ts';
import { Alert, AlertBody } from './schema.ts';

interface AlertsOptions
  extends Pick<
    HttpOptions,
    'version' | 'timing' | 'clock' | 'observe' | 'leaving' | 'privateAddresses' | 'sharedBudget'
  > {
  readonly baseUrl: string;
  readonly token: Secret;
  /** Whether optional reads are sent; without it none is. */
  readonly reads?: CapabilityOptions;
  /** Cancels the list when Signalbox stops. Reads of one alert continue: a running update needs them. */
  readonly stopping?: AbortSignal;
}

export interface AlertList {
  readonly alerts: readonly Alert[];
  /** The total that the server reports; null without one. */
  readonly total: number | null;
  /** False when the server reports more alerts than it returned, or an entry was unreadable. */
  readonly complete: boolean;
}

/**
 * The three operations of the alerts API, with the names of the contract. They throw InvalidRequest
 * before sending and ApiError after it. Reads are repeated after temporary errors.
 */
export interface AlertsClient {
  /** All alerts, from all pages of the server. */
  listAlerts(options?: CallOptions): Promise<Reply<AlertList>>;
  getAlert(id: string, options?: CallOptions): Promise<Reply<Alert>>;
  /**
   * Sends the body once. `alertUpdate` builds a body that keeps all other fields. The result is null
   * when the accepted reply shows no alert. `differences` compares the reply with the body.
   */
  updateAlert(id: string, body: AlertBody, options?: CallOptions): Promise<Reply<Alert | null>>;
  /** What live servers return in addition. */
  readonly reads: AlertsReads;
  close(): Promise<void>;
}

// Slightly longer than the server's window of one minute, because latencies differ.
const LIMIT = { requests: 100, perMs: 61_000 };
const RETRY_AFTER_MS = 60_000;
const PAGE_SIZE = 1000;
const MAX_PAGES = 20;
/** Limits the load on the server while a user waits. */
const MAX_PARALLEL_PAGES = 5;
const PATH = '/api/v2/alerts';

const Page = z.looseObject({
  data: z.array(z.unknown()),
  meta: z.looseObject({ total: MaybeNumber }).nullish().catch(null),
});

export function createAlertsClient(options: AlertsOptions): AlertsClient {
  const { token, stopping: signal } = options;
  // A line break, for example from a file, would make every request fail before it is sent.
  if (!/^[\x21-\x7e]+$/.test(token.reveal())) {
    const problem = 'must be one word of printable ASCII characters';
    throw new InvalidRequest('configuration', [{ field: 'token', problem }]);
  }
  const { read, readWhole, write, close } = createEnvelopeHttp('data', {
    ...options,
    baseUrl: apiAddress(options.baseUrl, /\/api\/v2$/),
    authorization: new Secret(`Bearer ${token.reveal()}`),
    secrets: [token],
    limit: LIMIT,
    retryAfterMs: RETRY_AFTER_MS,
  });

  async function pageAt(offset: number, { priority }: CallOptions) {
    const operation = 'listAlerts';
    // The contract has no parameters, so the first request has none.
    const query = offset === 0 ? {} : { limit: `${PAGE_SIZE}`, offset: `${offset}` };
    return readWhole({ operation, path: PATH, query, priority, signal }, Page);
  }

  return {
    async listAlerts(callOptions = {}) {
      const first = await pageAt(0, callOptions);
      const total = first.result.meta?.total ?? null;
      const step = first.result.data.length;
      // Entries that are no alert, for example null, count for the offsets of the next pages.
      const unreadable = new Set<number>();
      let alerts = distinct(alertsIn(first.result.data, 0, unreadable));
      const entries = () => alerts.length + unreadable.size;
      for (let read = 1; read < MAX_PAGES && entries() < (total ?? 0); ) {
        const offsets = nextOffsets(entries(), step, total ?? 0, MAX_PAGES - read);
        const pages = await Promise.all(
          offsets.map(async (offset) => {
            const { result } = await pageAt(offset, callOptions);
            return alertsIn(result.data, offset, unreadable);
          }),
        );
        read += pages.length;
        const more = distinct([...alerts, ...pages.flat()]);
        // Older servers ignore the offset and would return the same alerts forever.
        if (more.length === alerts.length) break;
        alerts = more;
      }
      const complete = total === null ? unreadable.size === 0 : alerts.length >= total;
      return { ...first, result: { alerts, total, complete } };
    },

    async getAlert(id, { priority } = {}) {
      const operation = 'getAlert';
      const path = `${PATH}/${pathId(operation, 'id', id)}`;
      const call = { operation, path, priority, hasPlainNotFound: true };
      return read(call, matchingId(Alert, 'id', id));
    },

    async updateAlert(id, given, { priority } = {}) {
      const operation = 'updateAlert';
      const path = `${PATH}/${pathId(operation, 'id', id)}`;
      const body = validRequest(operation, AlertBody, given);
      const call = {
        operation,
        method: 'PUT',
        path,
        body,
        priority,
        hasPlainNotFound: true,
      } as const;
      return write(call, matchingId(Alert, 'id', id));
    },

    reads: createAlertsReads(
      async (request, schema) => (await readWhole({ ...request, signal }, schema)).result,
      options.reads ?? NO_READS,
    ),

    close,
  };
}

/** Offsets of the next pages, assuming that all pages have the length of the first one. */
function nextOffsets(from: number, step: number, total: number, most: number): number[] {
  const pages = Math.ceil((total - from) / Math.max(1, step));
  const count = Math.min(pages, most, MAX_PARALLEL_PAGES);
  return Array.from({ length: count }, (_, index) => from + index * step);
}

/** The alerts of a page. The positions of its other entries are added to `unreadable`. */
function alertsIn(data: readonly unknown[], offset: number, unreadable: Set<number>): Alert[] {
  return data.flatMap((entry, index) => {
    const parsed = Alert.safeParse(entry);
    if (!parsed.success) unreadable.add(offset + index);
    return parsed.success ? [parsed.data] : [];
  });
}

function distinct(alerts: readonly Alert[]): Alert[] {
  return [...new Map(alerts.map((alert) => [alert.id ?? alert, alert])).values()];
}
