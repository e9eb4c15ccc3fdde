import { isJson, type Json } from '../json.ts';
import { isObjectId } from './reading.ts';
import type { AlertsState } from './state.ts';

/** The server's text for the first reference to a missing object, or null. */
export function referenceProblem(state: AlertsState, body: Json): string | null {
  return (
    watchedProblem(state, body) ?? channelsOf(body).map(webhookProblem(state)).find(Boolean) ?? null
  );
}

function watchedProblem(state: AlertsState, body: Json): string | null {
  if (body.source === 'saved_search') {
    return state.savedSearches.has(String(body.savedSearchId)) ? null : 'Saved search not found';
  }
  const tiles = state.dashboards.get(String(body.dashboardId));
  if (tiles === undefined) return 'Dashboard not found';
  return tiles.includes(String(body.tileId)) ? null : 'Tile not found';
}

function webhookProblem({ webhooks }: AlertsState) {
  return ({ type, webhookId }: Json): string | null => {
    if (type !== 'webhook') return null;
    if (!isObjectId(webhookId)) return 'Invalid webhook ID';
    return webhooks.has(webhookId) ? null : 'Webhook not found';
  };
}

/** The channels in a body: the list if present, otherwise the single channel. */
export function channelsOf({ channel, channels }: Json): readonly Json[] {
  if (Array.isArray(channels)) return channels.filter(isJson);
  return isJson(channel) ? [channel] : [];
}
