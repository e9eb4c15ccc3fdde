import { z } from 'zod';
import { InvalidRequest, Secret } from '../errors.ts';
import type { HttpOptions, Reply } from '../http/client.ts';
import { type CallOptions, createEnvelopeHttp } from '../http/envelope.ts';
import { apiAddress, pathId, validRequest } from '../http/request.ts';
import { about, MaybeNumber } from '../http/tolerance.ts';
import { Alert, AlertBody } from './schema.ts';

export interface AlertsOptions
  extends Pick<
    HttpOptions,
    'version' | 'timing' | 'clock' | 'observe' | 'leaving' | 'privateAddresses'
  > {
  readonly baseUrl: string;
  readonly token: Secret;
  /** The list is given up when it fires. One alert is not: an update under way looks at it again. */
  readonly stopping?: AbortSignal;
}

export interface AlertList {
  readonly alerts: readonly Alert[];
  /** How many there are by the server's own count, where it counts. */
  readonly total: number | null;
  /** False when the server counts more alerts than it handed out. */
  readonly complete: boolean;
}

/**
 * The three operations of the alerts API, by the contract's names. Errors are those of the cloud
 * client: InvalidRequest before sending, ApiError after. Reads are repeated on passing trouble.
 */
export interface AlertsClient {
  /** All alerts, over as many pages as it takes where the server pages. */
  listAlerts(options?: CallOptions): Promise<Reply<AlertList>>;
  getAlert(id: string, options?: CallOptions): Promise<Reply<Alert>>;
  /**
   * Sends the body once, as it is; `alertUpdate` makes one that loses nothing. The result is null
   * when the server accepted it and showed no alert. Compare a reply with `differences`.
   */
  updateAlert(id: string, body: AlertBody, options?: CallOptions): Promise<Reply<Alert | null>>;
  close(): Promise<void>;
}

// A little more than the server's own minute: requests do not travel equally fast.
const LIMIT = { requests: 100, perMs: 61_000 };
const RETRY_AFTER_MS = 60_000;
const PAGE_SIZE = 1000;
const MAX_PAGES = 20;
/** So many pages at a time: a person waits, and the server serves others too. */
const SIDE_BY_SIDE = 5;
const PATH = '/api/v2/alerts';

const Page = z.looseObject({
  data: z.array(Alert),
  meta: z.looseObject({ total: MaybeNumber }).nullish().catch(null),
});

export function createAlertsClient(options: AlertsOptions): AlertsClient {
  const { token, stopping: signal } = options;
  // A line break that came along from a file would make every request fail before it is sent.
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
    // The contract knows no parameters, so the first request has none.
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
        // An older server ignores the offset and would send the same alerts for ever.
        if (more.length === alerts.length) break;
        alerts = more;
      }
      const complete = total === null || alerts.length >= total;
      return { ...first, result: { alerts, total, complete } };
    },

    async getAlert(id, { priority } = {}) {
      const operation = 'getAlert';
      const path = `${PATH}/${pathId(operation, 'id', id)}`;
      return read({ operation, path, priority }, about(Alert, 'id', id));
    },

    async updateAlert(id, given, { priority } = {}) {
      const operation = 'updateAlert';
      const path = `${PATH}/${pathId(operation, 'id', id)}`;
      const body = validRequest(operation, AlertBody, given);
      return write({ operation, method: 'PUT', path, body, priority }, about(Alert, 'id', id));
    },

    close,
  };
}

/** Where the next pages begin, if they are as long as the first one was. */
function nextOffsets(from: number, step: number, total: number, most: number): number[] {
  const pages = Math.ceil((total - from) / Math.max(1, step));
  const count = Math.min(pages, most, SIDE_BY_SIDE);
  return Array.from({ length: count }, (_, index) => from + index * step);
}

function distinct(alerts: readonly Alert[]): Alert[] {
  return [...new Map(alerts.map((alert) => [alert.id ?? alert, alert])).values()];
}
