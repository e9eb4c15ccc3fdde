import type { Call } from '../api/call.ts';
import { ALERT_READS, type AlertRead } from '../api/optional-reads.ts';
import { type Operation, operationOn } from '../api/pipeline.ts';
import { htmlReply, jsonReply, Refused, type Reply } from '../api/reply.ts';
import type { Json } from '../json.ts';
import { NAMES, TEAM, UNLISTED_WEBHOOK } from '../seed/alert-references.ts';
import { TRAITS } from './profiles.ts';
import { pageReply } from './reading.ts';
import type { AlertsState } from './state.ts';

type Answer = (state: AlertsState, call: Call) => Reply;

const READS: Readonly<Record<AlertRead, readonly [path: string, answer: Answer]>> = {
  'list webhooks': ['/api/v2/webhooks', listWebhooks],
  'list saved searches': ['/api/v2/saved-searches', listSavedSearches],
  'list dashboards': ['/api/v2/dashboards', listDashboards],
};

export function alertReads(state: AlertsState): readonly Operation[] {
  const operation = operationOn(state);
  return ALERT_READS.map((name) => operation(name, 'get', ...READS[name]));
}

/** Refuses a read that this server does not have. */
export function checkAlertRead(
  { profile, absentReads }: AlertsState,
  { operation, method, path }: Call,
): void {
  const name = ALERT_READS.find((one) => one === operation);
  if (name === undefined) return;
  const { reads } = TRAITS[profile];
  const isThere = reads === 'all' || (reads === 'dashboards' && name.includes('dashboard'));
  const status = isThere ? absentReads[name] : 404;
  if (status !== undefined)
    throw new Refused(htmlReply(status, `Cannot ${method} ${path.split('?')[0]}`));
}

const CREATED = { createdAt: '2026-02-03T09:00:00.000Z', updatedAt: '2026-05-11T14:20:00.000Z' };

function nameOf(id: string): string {
  return NAMES[id] ?? id;
}

/** The URL is a credential, and so is the body of some webhooks. */
function listWebhooks(state: AlertsState, { query }: Call): Reply {
  const ids = [...state.webhooks, UNLISTED_WEBHOOK].toSorted();
  return pageReply(state, query, ids, (id) =>
    id === UNLISTED_WEBHOOK
      ? null
      : {
          ...{ id, name: nameOf(id), service: 'slack', description: '', ...CREATED },
          url: `https://hooks.example.com/services/secret-of-${id}`,
        },
  );
}

function listSavedSearches(state: AlertsState, { query }: Call): Reply {
  return pageReply(state, query, [...state.savedSearches].toSorted(), savedSearchReply);
}

function savedSearchReply(id: string): Json {
  return {
    id,
    name: nameOf(id),
    sourceId: 'b1a7c2d3e4f5061728394a5b',
    select: 'Timestamp, Body',
    where: 'SeverityText = "error"',
    whereLanguage: 'lucene',
    orderBy: 'Timestamp DESC',
    tags: ['production'],
    filters: [],
    teamId: TEAM,
    ...CREATED,
  };
}

/** Every dashboard with all its tiles, by name, last name first, without pages. */
function listDashboards({ dashboards }: AlertsState): Reply {
  const data = [...dashboards].map(([id, tiles]) => dashboardReply(id, tiles));
  return jsonReply(200, {
    data: data.toSorted((a, b) => String(b.name).localeCompare(String(a.name))),
  });
}

function dashboardReply(id: string, tiles: readonly string[]): Json {
  return {
    id,
    name: nameOf(id),
    tags: ['production'],
    tiles: tiles.map((tile, index) => ({
      ...{ id: tile, name: tileName(tile), x: 0, y: index * 4, w: 12, h: 4 },
      config: { displayType: 'line', where: 'ServiceName = "checkout"' },
    })),
    filters: [],
    containers: [],
    savedQuery: null,
    savedQueryLanguage: null,
    savedFilterValues: [],
  };
}

// `tile-latency` is called “Latency”.
function tileName(id: string): string {
  const word = id.replace('tile-', '');
  return word.charAt(0).toUpperCase() + word.slice(1);
}
