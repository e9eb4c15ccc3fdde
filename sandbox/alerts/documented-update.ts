import { isObject, type JsonObject } from '../api/call.ts';
import type { Traits } from './profiles.ts';
import type { Issue } from './replies.ts';
import type { AlertRecord } from './state.ts';

const TEXTS = ['dashboardId', 'tileId', 'name', 'message'];

/** What the contract says of an update: nine fields, none required, each of its type. */
export function documentedIssues(
  body: JsonObject,
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
    ...is('channel', isObject(channel) && typeof channel.type === 'string', 'must be an object'),
    ...TEXTS.flatMap((path) => is(path, typeof body[path] === 'string', 'must be a string')),
  ];
}

/**
 * Nothing says whether an update replaces or merges. This server does what every version of the
 * real one did with the texts: what is left out is lost. The rest it keeps.
 */
export function documentedChanges(stored: AlertRecord, body: JsonObject): Partial<AlertRecord> {
  // The issues above checked the type of each field that is read here.
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
    channels: isObject(channel) ? [channel, ...stored.channels.slice(1)] : stored.channels,
    ...(isConverted ? { savedSearchId: undefined, groupBy: undefined } : {}),
  };
}
