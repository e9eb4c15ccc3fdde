import { z } from 'zod';
import { InvalidRequest, Secret } from '../errors.ts';
import type { HttpOptions, Reply } from '../http/client.ts';
import { type CallOptions, createEnvelopeHttp } from '../http/envelope.ts';
import { apiAddress, pathId, validRequest } from '../http/request.ts';
import { MaybeNumber, matchingId } from '../http/tolerance.ts';
import { Alert, AlertBody } from './schema.ts';

export interface AlertsOptions
  extends Pick<
    HttpOptions,
    'version' | 'timing' | 'clock' | 'observe' | 'leaving' | 'privateAddresses'
  > {
  readonly baseUrl: string;
  readonly token: Secret;
  /** Cancels the list when Signalbox stops. Reads of one alert continue: a running update needs them. */
  readonly stopping?: AbortSignal;
}

export interface AlertList {
  readonly alerts: readonly Alert[];
  /** The total that the server reports; null without one. */
  readonly total: number | null;
  /** False when the server reports more alerts than it returned. */
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
  data: z.array(Alert),
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
      let alerts = distinct(first.result.data);
      for (let read = 1; read < MAX_PAGES && alerts.length < (total ?? 0); ) {
        const offsets = nextOffsets(alerts.length, step, total ?? 0, MAX_PAGES - read);
        const pages = await Promise.all(offsets.map((offset) => pageAt(offset, callOptions)));
        read += pages.length;
        const more = distinct([...alerts, ...pages.flatMap(({ result }) => result.data)]);
        // Older servers ignore the offset and would return the same alerts forever.
        if (more.length === alerts.length) break;
        alerts = more;
      }
      const complete = total === null || alerts.length >= total;
      return { ...first, result: { alerts, total, complete } };
    },

    async getAlert(id, { priority } = {}) {
      const operation = 'getAlert';
      const path = `${PATH}/${pathId(operation, 'id', id)}`;
      return read({ operation, path, priority }, matchingId(Alert, 'id', id));
    },

    async updateAlert(id, given, { priority } = {}) {
      const operation = 'updateAlert';
      const path = `${PATH}/${pathId(operation, 'id', id)}`;
      const body = validRequest(operation, AlertBody, given);
      return write({ operation, method: 'PUT', path, body, priority }, matchingId(Alert, 'id', id));
    },

    close,
  };
}

/** Offsets of the next pages, assuming that all pages have the length of the first one. */
function nextOffsets(from: number, step: number, total: number, most: number): number[] {
  const pages = Math.ceil((total - from) / Math.max(1, step));
  const count = Math.min(pages, most, MAX_PARALLEL_PAGES);
  return Array.from({ length: count }, (_, index) => from + index * step);
}

function distinct(alerts: readonly Alert[]): Alert[] {
  return [...new Map(alerts.map((alert) => [alert.id ?? alert, alert])).values()];
}
