import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { InvalidRequest, Secret } from '../base/errors.ts';
import {
  apiAddress,
  createEnvelopeHttp,
  type PassedOptions,
  pathId,
  validRequest,
} from '../base/http.ts';
import { isRecord } from '../base/http-answer.ts';
import { MaybeNumber, matchingId, numberOf } from '../base/http-rows.ts';
import { MINUTE_MS, spanMs } from '../base/time.ts';
import { createAlertsReads } from './alerts-reads.ts';
import {
  Alert,
  AlertBody,
  type AlertEdit,
  REMOVABLE,
  SERVER_MANAGED,
  underRequestNames,
} from './alerts-schema.ts';
import { type CapabilityOptions, NO_READS } from './optional-reads.ts';

interface AlertsOptions extends PassedOptions {
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
export type AlertsClient = ReturnType<typeof createAlertsClient>;

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

export function createAlertsClient(options: AlertsOptions) {
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

  async function pageAt(offset: number) {
    // The contract has no parameters, so the first request has none.
    const query = offset === 0 ? {} : { limit: `${PAGE_SIZE}`, offset: `${offset}` };
    return readWhole({ operation: 'listAlerts', path: PATH, query, signal }, Page);
  }

  function ofAlert(operation: string, id: string) {
    const path = `${PATH}/${pathId(operation, 'id', id)}`;
    return { operation, path, hasPlainNotFound: true };
  }

  return {
    /** All alerts, from all pages of the server. */
    async listAlerts() {
      const first = await pageAt(0);
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
            const { result } = await pageAt(offset);
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
      const result: AlertList = { alerts, total, complete };
      return { ...first, result };
    },

    async getAlert(id: string) {
      return read(ofAlert('getAlert', id), matchingId(Alert, 'id', id));
    },

    /**
     * Sends the body once. `alertUpdate` builds a body that keeps all other fields. The result is null
     * when the accepted reply shows no alert. `differences` compares the reply with the body.
     */
    async updateAlert(id: string, given: AlertBody) {
      const call = ofAlert('updateAlert', id);
      const body = validRequest(call.operation, AlertBody, given);
      return write({ ...call, method: 'PUT', body }, matchingId(Alert, 'id', id));
    },

    /** What live servers return in addition. */
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

// Which fields an update replaces and which it keeps depends on the server's version. Safe with all
// versions: send all fields of the last read with only the requested changes, and send nothing if a
// required field is unknown.
// Source: docs/apis.md#alert-updates

export type AlertRefusal =
  | MissingForUpdate
  | 'type-not-editable'
  | 'bounds-crossed'
  | 'offset-too-long'
  | 'not-a-tile-alert'
  | 'webhook-twice'
  | 'channel-without-webhook';

/** The update body that applies `edit` to the alert as just read and keeps all other fields. */
export function alertUpdate(read: Alert, edit: AlertEdit) {
  const kept = updatableFields(read);
  const { webhookId, ...plain } = edit;
  const given = fieldsWhere(plain, (_, value) => value !== undefined);
  const edited = { ...kept, ...given, ...withWebhook(kept, webhookId) };
  const body = withoutStaleBound(fieldsWhere(edited, (_, value) => isSet(value)));
  // The edit itself may supply what the alert lacks.
  const refusal = missingForUpdate(body) ?? conflictIn(body, kept, edit);
  if (refusal !== null) return { ok: false as const, refusal };
  const removed = REMOVABLE.filter((field) => field in kept && !(field in body));
  const changes = [...Object.keys(body), ...removed]
    .filter((field) => !isDeepStrictEqual(body[field], kept[field]))
    .map((field) => ({ field, before: kept[field], after: body[field] }));

  const changed = changes.map(({ field }) => field);
  const silence = (read.asRead.silenced ?? null) === null ? [] : ['silenced'];
  const unchangedFields = [
    ...Object.keys(body).filter((field) => !changed.includes(field)),
    ...silence,
  ];
  // Fields of the reply have any type; updateAlert validates the contract's fields before sending.
  return { ok: true as const, body: body as AlertBody, changes, unchangedFields };
}

type AlertFields = Readonly<Record<string, unknown>>;

const OTHER_NUMBERS = ['scheduleOffsetMinutes', 'numConsecutiveWindows'] as const;

/** All fields of the alert that an update may contain, under the request names. */
function updatableFields({ asRead, threshold, thresholdMax }: Alert): AlertFields {
  // Some servers send numbers as strings; the contract requires numbers in requests.
  const read = underRequestNames(asRead);
  const numbers = OTHER_NUMBERS.filter((key) => Object.hasOwn(read, key)).map(
    (key) => [key, numberOf(read[key]) ?? read[key]] as const,
  );
  // Beside the first one, what a deleted webhook leaves behind notifies nobody, and no server takes it back.
  const list = Array.isArray(read.channels) ? read.channels : null;
  const channels = list && { channels: list.filter((each, at) => at === 0 || isWhole(each)) };
  const fields = { ...read, ...channels, threshold, thresholdMax, ...Object.fromEntries(numbers) };
  const foreign = isTile(fields) ? ['savedSearchId', 'groupBy'] : ['dashboardId', 'tileId'];
  const dropped = isTile(fields) || isSearch(fields) ? foreign : [];
  return fieldsWhere(
    fields,
    (key, value) => isSet(value) && !SERVER_MANAGED.includes(key) && !dropped.includes(key),
  );
}

function fieldsWhere(fields: AlertFields, keeps: (key: string, value: unknown) => boolean) {
  return Object.fromEntries(Object.entries(fields).filter(([key, value]) => keeps(key, value)));
}

/** Some servers return an empty text for what is not set, and refuse both it and a null in an update. */
function isSet(value: unknown): boolean {
  return value !== null && value !== '';
}

function isTile({ source }: AlertFields): boolean {
  return source === 'tile';
}

function isSearch({ source }: AlertFields): boolean {
  return source === 'search' || source === 'saved_search';
}

type MissingForUpdate = 'unknown-source' | 'no-channel' | 'no-tile' | 'no-saved-search';

/** A field that an update requires and that the server did not send; null: none. */
function missingForUpdate(kept: AlertFields): MissingForUpdate | null {
  if (!isTile(kept) && !isSearch(kept)) return 'unknown-source';
  if (firstChannel(kept) === null) return 'no-channel';
  const hasTile = kept.dashboardId !== undefined && kept.tileId !== undefined;
  if (isTile(kept)) return hasTile ? null : 'no-tile';
  // For the contract's `search`, the update has no field for the saved search.
  const needed = kept.source === 'saved_search' && kept.savedSearchId === undefined;
  return needed ? 'no-saved-search' : null;
}

/** Null as well for a channel without a type: some servers leave it behind when a webhook is deleted. */
function firstChannel(kept: AlertFields): AlertFields | null {
  const first = Array.isArray(kept.channels) ? (kept.channels[0] ?? kept.channel) : kept.channel;
  return isWhole(first) ? first : null;
}

function isWhole(channel: unknown): channel is AlertFields {
  if (!isRecord(channel)) return false;
  return channel.type === 'webhook' ? isText(channel.webhookId) : isText(channel.type);
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

const RANGES: readonly unknown[] = ['between', 'not_between'];
const PLAIN_TYPES: readonly unknown[] = ['above', 'below'];

function conflictIn(body: AlertFields, kept: AlertFields, edit: AlertEdit): AlertRefusal | null {
  if (body.thresholdType !== kept.thresholdType && !PLAIN_TYPES.includes(kept.thresholdType)) {
    return 'type-not-editable';
  }
  const isRange = RANGES.includes(body.thresholdType);
  if (isRange && Number(body.threshold) > Number(body.thresholdMax)) return 'bounds-crossed';
  const offset = Number(body.scheduleOffsetMinutes ?? 0) * MINUTE_MS;
  if (offset > 0 && offset >= spanMs(String(body.interval))) return 'offset-too-long';
  const moves = edit.dashboardId !== undefined || edit.tileId !== undefined;
  if (moves && !isTile(kept)) return 'not-a-tile-alert';
  if (hasTwins(body.channels)) return 'webhook-twice';
  const isOther = (firstChannel(kept)?.type ?? 'webhook') !== 'webhook';
  return edit.webhookId !== undefined && isOther ? 'channel-without-webhook' : null;
}

/** Servers refuse an alert that notifies one webhook twice. */
function hasTwins(channels: unknown): boolean {
  const ids = Array.isArray(channels)
    ? channels.flatMap((each) => (isRecord(each) && isText(each.webhookId) ? [each.webhookId] : []))
    : [];
  return new Set(ids).size < ids.length;
}

/** Unknown keys of the channel are kept, and `channel` must equal the first of `channels`. */
function withWebhook(kept: AlertFields, webhookId: string | undefined): AlertFields {
  if (webhookId === undefined) return {};
  const channel = { type: 'webhook', ...firstChannel(kept), webhookId };
  if (!Array.isArray(kept.channels)) return { channel };
  const channels = [channel, ...kept.channels.slice(1)];
  return kept.channel === undefined ? { channels } : { channel, channels };
}

/** Servers keep the upper bound after a change of type; sent back, it would count as intended. */
function withoutStaleBound(body: AlertFields): AlertFields {
  if (RANGES.includes(body.thresholdType)) return body;
  const { thresholdMax: _, ...rest } = body;
  return rest;
}

/** Fields of a successful reply that differ from the sent body, and texts that it should have removed. */
export function differences(body: AlertFields, reply: Alert) {
  const got = updatableFields(reply);
  return [...new Set([...Object.keys(body), ...REMOVABLE])]
    .filter((field) => !agree(body[field], got[field]))
    .map((field) => ({ field, sent: body[field], got: got[field] }));
}

/** Some servers send numbers as strings. */
function agree(sent: unknown, got: unknown): boolean {
  const number = typeof sent === 'number' && typeof got === 'string' ? Number(got) : got;
  return isDeepStrictEqual(sent, number);
}
