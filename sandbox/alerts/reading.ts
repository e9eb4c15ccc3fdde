import type { Call } from '../api/call.ts';
import { jsonReply, type Reply } from '../api/reply.ts';
import type { Json } from '../json.ts';
import { alertReply } from './alert-reply.ts';
import { TRAITS } from './profiles.ts';
import { type Issue, refuseIssues, refuseUnknownAlert } from './replies.ts';
import type { AlertsState } from './state.ts';

const MAX_LIMIT = 1_000;

export function listAlerts(state: AlertsState, { query }: Call): Reply {
  const all = [...state.alerts.values()];
  if (!TRAITS[state.profile].paging) {
    return jsonReply(200, { data: all.map((one) => alertReply(state, one)) });
  }
  const sorted = all.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return pageReply(state, query, sorted, (one) => alertReply(state, one));
}

/** One page of a list; an entry whose reply is null is counted but left out. */
export function pageReply<Entry>(
  state: AlertsState,
  query: URLSearchParams,
  entries: readonly Entry[],
  replyOf: (entry: Entry) => Json | null,
): Reply {
  const limit = Number(query.get('limit') ?? MAX_LIMIT);
  const offset = Number(query.get('offset') ?? 0);
  refuseIssues(state, 'Query', [
    ...wholeNumber('limit', limit, 1, MAX_LIMIT),
    ...wholeNumber('offset', offset, 0),
  ]);
  const data = entries.slice(offset, offset + limit).flatMap((entry) => replyOf(entry) ?? []);
  const total = entries.length;
  const headers = { 'x-total-count': String(total) };
  return jsonReply(200, { data, meta: { total, limit, offset } }, headers);
}

export function getAlert(state: AlertsState, call: Call): Reply {
  const record = state.alerts.get(idOf(state, call)) ?? refuseUnknownAlert(state);
  return jsonReply(200, { data: alertReply(state, record) });
}

// The server accepts as an id 24 hex digits or any 12 characters.
export function idOf(state: AlertsState, { params: { id = '' } }: Call): string {
  const isServer = TRAITS[state.profile].values === 'server';
  if (isServer && id.length !== 12 && !isObjectId(id))
    refuseIssues(state, 'Params', [{ path: 'id', message: 'Invalid ObjectId' }]);
  return id;
}

export function isObjectId(id: unknown): id is string {
  return typeof id === 'string' && /^[0-9a-f]{24}$/i.test(id);
}

function wholeNumber(path: string, value: number, min: number, max = Infinity): Issue[] {
  const message = numberProblem(value, min, max);
  return message === null ? [] : [{ path, message }];
}

function numberProblem(value: number, min: number, max: number): string | null {
  if (Number.isNaN(value)) return 'Expected number, received nan';
  if (!Number.isInteger(value)) return 'Expected integer, received float';
  if (value > max) return `Number must be less than or equal to ${max}`;
  return value < min ? `Number must be greater than or equal to ${min}` : null;
}
