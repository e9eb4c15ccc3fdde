import { isObject, type JsonObject } from '../api/call.ts';
import { isObjectId } from './reading.ts';
import type { AlertsState } from './state.ts';

/** The first thing that the update points at and that is not there, in the server's words. */
export function referenceProblem(state: AlertsState, body: JsonObject): string | null {
  return (
    watchedProblem(state, body) ?? channelsOf(body).map(webhookProblem(state)).find(Boolean) ?? null
  );
}

function watchedProblem(state: AlertsState, body: JsonObject): string | null {
  if (body.source === 'saved_search') {
    return state.savedSearches.has(String(body.savedSearchId)) ? null : 'Saved search not found';
  }
  const tiles = state.dashboards.get(String(body.dashboardId));
  if (tiles === undefined) return 'Dashboard not found';
  return tiles.includes(String(body.tileId)) ? null : 'Tile not found';
}

function webhookProblem({ webhooks }: AlertsState) {
  return ({ type, webhookId }: JsonObject): string | null => {
    if (type !== 'webhook') return null;
    if (!isObjectId(webhookId)) return 'Invalid webhook ID';
    return webhooks.has(webhookId) ? null : 'Webhook not found';
  };
}

/** The channels that a body asks for: the list where there is one, else the single one. */
export function channelsOf({ channel, channels }: JsonObject): readonly JsonObject[] {
  if (Array.isArray(channels)) return channels.filter(isObject);
  return isObject(channel) ? [channel] : [];
}
