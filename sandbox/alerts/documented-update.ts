import { isJson, type Json } from '../json.ts';
import type { Traits } from './profiles.ts';
import type { Issue } from './replies.ts';
import type { AlertRecord } from './state.ts';

const TEXTS = ['dashboardId', 'tileId', 'name', 'message'];

/** The problems with an update according to the contract: nine optional fields with their types. */
export function documentedIssues(
  body: Json,
  _traits: Traits,
  stored: AlertRecord | undefined,
): readonly Issue[] {
  const is = (path: string, isRight: boolean, message: string): Issue[] =>
    body[path] === undefined || isRight ? [] : [{ path, message }];
  const { threshold, interval, thresholdType, source, channel } = body;
  const types: readonly unknown[] = ['above', 'below', stored?.thresholdType];
  return [
    ...is('threshold', typeof threshold === 'number', 'must be a number'),
    ...is('interval', /^\d+[a-z]$/.test(String(interval)), 'must be a number and a unit letter'),
    ...is('thresholdType', types.includes(thresholdType), 'must be above or below'),
    ...is('source', source === 'tile' || source === 'search', 'must be tile or search'),
    ...is('channel', isJson(channel) && typeof channel.type === 'string', 'must be an object'),
    ...TEXTS.flatMap((path) => is(path, typeof body[path] === 'string', 'must be a string')),
  ];
}

/**
 * The contract does not define whether an update replaces or merges the alert. This profile clears
 * omitted texts, as every version of the real server does, and keeps the other omitted fields.
 */
export function documentedChanges(stored: AlertRecord, body: Json): Partial<AlertRecord> {
  // The validation has checked the type of each field.
  const sent = body as Partial<AlertRecord>;
  const { channel } = body;
  const source = body.source === 'search' ? 'saved_search' : (sent.source ?? stored.source);
  const isConverted = source === 'tile' && stored.source === 'saved_search';
  return {
    name: sent.name ?? null,
    message: sent.message ?? null,
    threshold: sent.threshold ?? stored.threshold,
    thresholdType: sent.thresholdType ?? stored.thresholdType,
    interval: sent.interval ?? stored.interval,
    source,
    dashboardId: sent.dashboardId ?? stored.dashboardId,
    tileId: sent.tileId ?? stored.tileId,
    channels: isJson(channel) ? [channel, ...stored.channels.slice(1)] : stored.channels,
    ...(isConverted ? { savedSearchId: undefined, groupBy: undefined } : {}),
  };
}
