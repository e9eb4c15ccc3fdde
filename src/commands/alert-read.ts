import { z } from 'zod';
import { nearest } from '../base/text.ts';
import {
  type Answer,
  type Cell,
  type CommandOffer,
  countWords,
  oneLineOf,
  textAnswer,
} from '../domain/answer.ts';
import {
  type AlertNames,
  notifiesText,
  readAlertNames,
  readWebhookNames,
} from '../servers/alerts-reads.ts';
import { type Alert, isSilenced } from '../servers/alerts-schema.ts';
import { AlertName, numberField, oneOf, switchField, textField } from './arguments.ts';
import { queryCommand } from './define.ts';
import { timeCell } from './reported.ts';

const Words = z.string().max(200, 'is too long');

/** What people call the states. */
const STATES = {
  ...{ firing: 'ALERT', alerting: 'ALERT', red: 'ALERT', triggered: 'ALERT' },
  ...{ alert: 'ALERT', alerts: 'ALERT', fired: 'ALERT', critical: 'ALERT', broken: 'ALERT' },
  ...{ ok: 'OK', green: 'OK', fine: 'OK', resolved: 'OK', healthy: 'OK' },
  ...{ disabled: 'DISABLED', off: 'DISABLED', pending: 'PENDING' },
};
const SILENCE = {
  ...{ muted: 'on', silenced: 'on', silent: 'on', snoozed: 'on' },
  ...{ unmuted: 'off', 'not silenced': 'off', 'not muted': 'off', loud: 'off' },
};

const args = z.strictObject({
  state: textField(Words, {
    word: 'state',
    label: 'State',
    hint: 'For example firing or ok',
    means: STATES,
  }),
  source: textField(Words, {
    word: 'source',
    label: 'Source',
    hint: 'tile, saved_search or search',
  }),
  silenced: switchField(z.boolean('must be on or off'), {
    ...{ word: 'silenced', label: 'Silenced', means: SILENCE, synonyms: ['muted'] },
  }),
  page: numberField(z.int('must be a whole number').min(1, 'must be 1 or more'), {
    word: 'page',
    label: 'Page',
    min: 1,
  }),
  words: textField(Words, { label: 'Words in the name, message or id', rest: true }),
});
type Filter = z.output<typeof args>;

export const alertList = queryCommand({
  name: 'alert list',
  title: 'Find alerts',
  summary: 'Find alerts by words, state, source or silence',
  examples: ['alert list checkout', 'alert list state=ALERT silenced=off'],
  args,

  target: () => null,
  answer: async (filter, context) => {
    const { alerts, complete, total } = await context.listAlerts();
    const unknown = unknownValue(filter, alerts);
    if (unknown) return unknown;
    const found = alerts.filter((alert) => matches(alert, filter, context.now()));
    const none = found.length === 0 ? noneMatches(filter) : null;
    if (none) return none;
    const beyond = beyondEnd(filter, pagesOf(found));
    if (beyond) return beyond;
    const names = await readWebhookNames(context.reads.alerts);
    const shown = { now: context.now(), names };
    return page(found, filter, shown, complete ? null : { read: alerts.length, total });
  },
});

/** The values that servers are known to use; an alert may have others. */
const KNOWN = {
  state: ['OK', 'ALERT', 'PENDING', 'INSUFFICIENT_DATA', 'DISABLED', 'active', 'inactive'],
  source: ['tile', 'saved_search', 'search'],
} as const;

/** Refuses a state or source that neither servers are known to use nor any alert has. */
function unknownValue(filter: Filter, alerts: readonly Alert[]): Answer | null {
  for (const key of ['state', 'source'] as const) {
    const wanted = filter[key];
    const present = alerts.flatMap((alert) => alert[key] ?? []);
    const accepted = [...new Set([...KNOWN[key], ...present])];
    if (accepted.some((value) => same(wanted, value))) continue;
    const text = `${key} must be ${oneOf(accepted)} (you typed ${oneLineOf(wanted ?? '', 60)})`;
    return textAnswer(
      'Alerts',
      text,
      nearest(wanted ?? '', accepted).map((value) => again(filter, { [key]: value }, value)),
    );
  }
  return null;
}

/** No alert has all of several filters: the same list with each of them alone. */
function noneMatches(filter: Filter): Answer | null {
  const filters = Object.entries(filter).filter(
    ([key, value]) => key !== 'page' && value !== undefined,
  );
  if (filters.length < 2) return null;
  const offers = filters.map(([key, value]) => again({}, { [key]: value }, filterText(key, value)));
  const all = filters.map(([key, value]) => filterText(key, value)).join(' and ');
  return textAnswer('Alerts', `No alert matches both: ${all}.`, offers);
}

function filterText(key: string, value: unknown): string {
  if (key === 'words') return `“${value}”`;
  if (key === 'silenced') return value === true ? 'silenced' : 'not silenced';
  return `${key} ${value}`;
}

function beyondEnd(filter: Filter, pages: number): Answer | null {
  const { page = 1 } = filter;
  if (page <= pages) return null;
  const text = `There's no page ${page}. The last page is ${pages}.`;
  return textAnswer('Alerts', text, [again(filter, { page: pages }, `Page ${pages}`)]);
}

const PAGE = 100;

function pagesOf(found: readonly Alert[]): number {
  return Math.max(1, Math.ceil(found.length / PAGE));
}

function matches(alert: Alert, { state, source, silenced, words }: Filter, now: Date): boolean {
  const text = [alert.name, alert.message, alert.id].join(' ').toLowerCase();
  const sought = (words ?? '').toLowerCase().split(/\s+/);
  return (
    sought.every((word) => text.includes(word)) &&
    same(state, alert.state) &&
    same(source, alert.source) &&
    (silenced === undefined || silenced === isSilenced(alert, now))
  );
}

function same(wanted: string | undefined, is: string | null): boolean {
  return wanted === undefined || wanted.toLowerCase() === (is ?? '').toLowerCase();
}

const COLUMNS = ['Alert', 'State', 'Threshold', 'Interval', 'Source', 'Channel', 'Silent until'];

function page(
  found: readonly Alert[],
  filter: Filter,
  { now, names }: { readonly now: Date; readonly names: AlertNames },
  cut: { readonly read: number; readonly total: number | null } | null,
): Answer {
  const number = filter.page ?? 1;
  const shown = found.slice((number - 1) * PAGE, number * PAGE);
  const pages = pagesOf(found);
  const label = (alert: Alert) => alert.name ?? alert.id ?? 'Unnamed alert';
  const note = cut
    ? `Only ${cut.read} of ${cut.total ?? 'an unknown number of'} alerts were read. `
    : '';
  return {
    title: `${countWords(found.length, 'alert')}${pages > 1 ? ` · page ${number} of ${pages}` : ''}`,
    parts: [
      { kind: 'table', columns: COLUMNS, rows: shown.map((alert) => row(alert, now, names)) },
      {
        kind: 'menu',
        label: 'Show an alert…',
        offers: shown.map((alert) => ({ label: label(alert), line: `alert show ${alert.id}` })),
      },
      { kind: 'offers', offers: turning(filter, number, pages) },
      { kind: 'note', text: `${note}Read at most 30 s ago.` },
    ],
  };
}

function row(alert: Alert, now: Date, names: AlertNames): readonly Cell[] {
  return [
    alert.name ?? alert.id,
    alert.state,
    thresholdText(alert),
    alert.interval,
    alert.source,
    channelKinds(alert, names),
    silenceCell(alert, now),
  ];
}

/** The threshold of an alert in the server's words: `above 100`, `between 5 and 10`. */
function thresholdText({ thresholdType, threshold, thresholdMax }: Alert): string | null {
  if (threshold === null) return thresholdType;
  const isRange = thresholdType === 'between' || thresholdType === 'not_between';
  const upper = isRange ? ` and ${thresholdMax ?? '?'}` : '';
  return `${(thresholdType ?? '?').replaceAll('_', ' ')} ${threshold}${upper}`;
}

/** The names of the notification channels, or their kinds: `Paging, webhook`. */
function channelKinds({ channels }: Alert, { webhook = {} }: AlertNames): string | null {
  const name = ({ type, webhookId }: Alert['channels'][number]) =>
    webhook[String(webhookId ?? '')] ?? String(type ?? 'unknown');
  return channels.map(name).join(', ') || null;
}

/** The end of the silence, `silenced` without an end, or null; a silence can have expired. */
function silenceCell(alert: Alert, now: Date): Cell {
  if (!isSilenced(alert, now)) return null;
  const { silenced } = alert;
  const until = typeof silenced === 'object' && silenced !== null ? silenced.until : null;
  return until ? new Date(until) : 'silenced';
}

function turning(filter: Filter, number: number, pages: number): readonly CommandOffer[] {
  return [
    ...(number > 1 ? [again(filter, { page: number - 1 }, 'Previous page')] : []),
    ...(number < pages ? [again(filter, { page: number + 1 }, 'Next page')] : []),
  ];
}

/** The same search with other values. */
function again(filter: Filter, changed: Partial<Filter>, label: string): CommandOffer {
  const { state, source, silenced, page: number, words } = { ...filter, ...changed };
  const keys = [
    state && `state=${state}`,
    source && `source=${source}`,
    silenced !== undefined && `silenced=${silenced ? 'on' : 'off'}`,
    number && `page=${number}`,
  ];
  return { label, line: ['alert list', ...keys, words].filter(Boolean).join(' ') };
}

export const alertShow = queryCommand({
  name: 'alert show',
  title: 'Look up an alert',
  summary: 'Show all fields of an alert',
  examples: ['alert show "5xx rate"'],
  args: z.strictObject({ alert: AlertName }),

  target: ({ alert: { id, name } }) => ({ kind: 'alert', id, name, tags: [], warehouse: null }),
  answer: async ({ alert }, { alerts, reads, now }) => {
    if (!alerts) return OFF;
    const { result, requestId } = await alerts.getAlert(alert.id);
    const names = await readAlertNames(reads.alerts, result);
    return {
      title: result.name ?? `Alert ${alert.id}`,
      parts: [
        { kind: 'facts', facts: facts(result, now(), names) },
        { kind: 'offers', offers: [{ label: 'Edit…', line: `alert edit ${alert.id}` }] },
        ...(requestId ? [{ kind: 'note', text: `Request ${requestId}` } as const] : []),
      ],
    };
  },
});

const OFF = {
  title: 'Alert commands are off',
  parts: [
    {
      kind: 'text',
      text: 'ALERTS_API_URL and ALERTS_API_TOKEN are not set. Ask an administrator to set them.',
    },
  ],
} as const;

// Shown with a label of their own, or of no use to a reader.
const NAMED = new Set([
  ...['id', 'name', 'message', 'note', 'threshold', 'thresholdMax', 'thresholdType', 'interval'],
  ...['source', 'state', 'channel', 'channels', 'silenced', 'createdAt', 'updatedAt', 'groupBy'],
  ...['team', 'teamId', 'dashboard', 'dashboardId', 'tileId', 'savedSearch', 'savedSearchId'],
]);

function facts(alert: Alert, now: Date, names: AlertNames): readonly (readonly [string, Cell])[] {
  const others = Object.entries(alert.asRead)
    .filter(([key, value]) => !NAMED.has(key) && value !== null && !isEmptyList(value))
    .map(
      ([key, value]) => [key, typeof value === 'string' ? value : JSON.stringify(value)] as const,
    );
  return [
    ['State', alert.state],
    ['Threshold', thresholdText(alert)],
    ['Interval', alert.interval],
    ['Source', alert.source],
    ['Tile', referenceText(alert.tileId, names.tile)],
    ['Dashboard', referenceText(alert.dashboardId, names.dashboard)],
    ['Saved search', referenceText(alert.savedSearchId, names['saved search'])],
    ['Group by', alert.groupBy],
    ['Channel', channelText(alert, names)],
    ['Message', alert.message],
    ['Note', alert.note],
    ['Silent until', silenceCell(alert, now) ?? 'not silenced'],
    ['Team', alert.teamId],
    ['Id', alert.id],
    ['Created', timeCell(alert.createdAt)],
    ['Updated', timeCell(alert.updatedAt)],
    ...others,
  ];
}

function channelText({ channels }: Alert, names: AlertNames = {}): string | null {
  const named = notifiesText(channels, names);
  if (named !== null) return named;
  const texts = channels.map(({ type, webhookId, emailRecipients }) => {
    const to = webhookId ?? (Array.isArray(emailRecipients) ? emailRecipients.join(' ') : '');
    return `${String(type ?? 'unknown')} ${String(to)}`.trim();
  });
  return texts.length > 0 ? texts.join(', ') : null;
}

/** The name of what the alert refers to; the id where the name is unknown. */
function referenceText(
  id: string | null,
  names: Readonly<Record<string, string | null>> = {},
): Cell {
  if (id === null || names[id] === undefined) return id;
  return names[id] ?? `${id} (not listed by the server)`;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
