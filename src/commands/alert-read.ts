import { z } from 'zod';
import { type Json, nearest } from '../base/text.ts';
import {
  type Answer,
  type AnswerRow,
  type Cell,
  type CommandOffer,
  countWords,
  type InlinePart,
  oneLineOf,
  textAnswer,
} from '../domain/answer.ts';
import { valueText } from '../domain/targets.ts';
import { fieldLabel, meaningsOf, wordOf } from '../domain/words.ts';
import {
  type AlertNames,
  notifiesText,
  readAlertNames,
  readWebhookNames,
} from '../servers/alerts-reads.ts';
import { type Alert, isSilenced } from '../servers/alerts-schema.ts';
import { AlertName, alike, numberField, oneOf, switchField, textField } from './arguments.ts';
import { queryCommand } from './define.ts';
import { attentionParts, timeCell, timeOrWord } from './reported.ts';

const Words = z.string().max(200, 'is too long');

/** The values that servers are known to use; an alert may have others. */
const KNOWN = {
  state: [
    ...['OK', 'ALERT', 'PENDING', 'INSUFFICIENT_DATA', 'DISABLED', 'active', 'inactive'],
    // As the list shows it: of no server.
    'broken',
  ],
  source: ['tile', 'saved_search', 'search'],
} as const;

const SILENCE = {
  ...{ muted: 'on', silenced: 'on', silent: 'on', snoozed: 'on' },
  ...{ unmuted: 'off', 'not silenced': 'off', 'not muted': 'off', loud: 'off' },
};

const args = z.strictObject({
  state: textField(Words, {
    word: 'state',
    label: 'State',
    hint: 'For example firing or ok',
    means: meaningsOf(KNOWN.state),
  }),
  source: textField(Words, {
    word: 'source',
    label: 'Source',
    hint: oneOf(KNOWN.source.map(wordOf)),
    means: meaningsOf(KNOWN.source),
  }),
  silenced: switchField(z.boolean('must be on or off'), {
    ...{ word: 'silenced', label: 'Silenced', means: SILENCE, synonyms: ['muted'] },
  }),
  page: numberField(z.int().min(1, 'must be 1 or more'), {
    word: 'page',
    label: 'Page',
    min: 1,
  }),
  words: textField(Words, { label: 'Words in the name, message or id', rest: true }),
});
type Filter = z.output<typeof args>;

export const alertList = queryCommand({
  name: 'alert list',
  program: 'read',
  title: 'Find alerts',
  summary: 'Find alerts by words, state, source or silence',
  examples: ['alert list checkout', 'alert list state=firing silenced=off'],
  args,
  answer: async (filter, context) => {
    const { alerts, complete, total } = await context.listAlerts();
    const unknown = unknownValue(filter, alerts);
    if (unknown) return unknown;
    const now = context.now();
    const found = alerts.filter((alert) => matches(alert, filter, now)).toSorted(byAttention(now));
    const none = found.length === 0 ? noneMatches(filter) : null;
    if (none) return none;
    const pages = Math.max(1, Math.ceil(found.length / PAGE));
    const beyond = beyondEnd(filter, pages);
    if (beyond) return beyond;
    const names = await readWebhookNames(context.reads.alerts);
    const { page = 1 } = filter;
    const shown = found.slice((page - 1) * PAGE, page * PAGE);
    const isUrgent = (alert: Alert) => ['firing', 'broken'].includes(attentionOf(alert, now));
    const urgent = shown.filter(isUrgent).slice(0, ROWS_MAX);
    const others = shown.filter((alert) => !urgent.includes(alert));
    const of = `of ${total ?? 'an unknown number of'} alerts were read. `;
    const offers = shown
      .filter(({ id }) => id !== null)
      .map((alert) => ({ label: nameOf(alert), line: `alert show ${alert.id}` }));
    const rows = others.map((alert) => row(alert, now, names));
    const table = { kind: 'table', caption: 'Alerts', columns: COLUMNS, rows } as const;
    const count = titleOf(found, filter, alerts.length);
    return {
      title: `${count}${pages > 1 ? ` · page ${page} of ${pages}` : ''}`,
      parts: [
        ...attentionParts(
          urgent.map((alert) => urgentRow(alert, now)),
          table,
          { label: 'Show an alert…', offers },
        ),
        { kind: 'offers', offers: turning(filter, page, pages) },
        {
          kind: 'note',
          text: `${complete ? '' : `Only ${alerts.length} ${of}`}Read at most 30 s ago.`,
        },
      ],
    };
  },
});

const ROWS_MAX = 8;
const COLUMNS = ['Alert', 'State', 'Threshold', 'Every', 'Notifies'];

/** Refuses a state or source that neither servers are known to use nor any alert has. */
function unknownValue(filter: Filter, alerts: readonly Alert[]): Answer | null {
  for (const key of ['state', 'source'] as const) {
    const wanted = filter[key];
    const present = alerts.flatMap((alert) => alert[key] ?? []);
    const accepted = [...new Set([...KNOWN[key], ...present])];
    if (accepted.some((value) => same(wanted, value))) continue;
    const typed = oneLineOf(wanted ?? '', 60);
    const known = meaningsOf(accepted);
    const near = nearest(typed.toLowerCase(), Object.keys(known)).map(
      (word) => known[word] ?? word,
    );
    const offered = near.length > 0 ? new Set(near) : accepted.slice(0, 3);
    return textAnswer(
      'Alerts',
      `No alert has the ${key} “${typed}”. Accepted: ${oneOf(accepted.map(wordOf))}.`,
      [...offered].map((value) => again(filter, { [key]: value }, wordOf(value))),
    );
  }
  return null;
}

/** No alert has what is sought: the same list with each of several filters alone, or all alerts. */
function noneMatches(filter: Filter): Answer | null {
  const alone = filtersOf(filter).map(({ key, value, text }) => again({}, { [key]: value }, text));
  if (alone.length === 0) return null;
  const text = alone.map(({ label }) => label).join(' and ');
  const offers = alone.length > 1 ? alone : [FIRING, again({}, {}, 'All alerts')];
  return textAnswer('Alerts', `No alert matches: ${text}.`, offers);
}

const FIRING = { label: 'Firing alerts', line: 'alert list state=firing' };

/** What is sought, each with its words. */
function filtersOf({ page: _, ...filter }: Filter) {
  return Object.entries(filter).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value, text: filterText(key, value) }],
  );
}

function filterText(key: string, value: unknown): string {
  if (key === 'words') return `“${value}”`;
  if (key === 'silenced') return value === true ? 'muted' : 'not muted';
  return key === 'source' ? `${key} ${wordOf(String(value))}` : wordOf(String(value));
}

function beyondEnd(filter: Filter, pages: number): Answer | null {
  const { page = 1 } = filter;
  if (page <= pages) return null;
  const text = `There's no page ${page}. The last page is ${pages}.`;
  return textAnswer('Alerts', text, [again(filter, { page: pages }, `Page ${pages}`)]);
}

const PAGE = 100;

function matches(alert: Alert, { state, source, silenced, words }: Filter, now: Date): boolean {
  const text = [alert.name, alert.message, alert.id].join(' ').toLowerCase();
  const sought = (words ?? '').toLowerCase().split(/\s+/);
  return (
    sought.every((word) => text.includes(word)) &&
    (state === 'broken' ? attentionOf(alert, now) === state : same(state, alert.state)) &&
    same(source, alert.source) &&
    (silenced === undefined || silenced === isSilenced(alert, now))
  );
}

function same(wanted: string | undefined, is: string | null): boolean {
  if (wanted === undefined) return true;
  return [is ?? '', wordOf(is ?? '')].some((each) => alike(each) === alike(wanted));
}

/** What a person should look at first; each alert is in the first that it fits. */
const ATTENTION = ['firing', 'broken', 'unusual', 'muted', 'ok', 'disabled'] as const;

function attentionOf(alert: Alert, now: Date): (typeof ATTENTION)[number] {
  const { state, channels } = alert;
  if (state === 'ALERT') return 'firing';
  if (state === 'DISABLED' || state === 'inactive') return 'disabled';
  if (channels.length === 0 || errorsOf(alert) !== null) return 'broken';
  if (state !== 'OK' && state !== 'active') return 'unusual';
  return isSilenced(alert, now) ? 'muted' : 'ok';
}

function byAttention(now: Date) {
  const rank = (alert: Alert) => ATTENTION.indexOf(attentionOf(alert, now));
  return (a: Alert, b: Alert) => rank(a) - rank(b) || nameOf(a).localeCompare(nameOf(b));
}

function nameOf({ name, id }: Alert): string {
  return name ?? id ?? 'Unnamed alert';
}

/** `firing`, `ok, muted`, `broken: no channel`: the state in plain words. */
function stateWords(alert: Alert, now: Date): string {
  const broken = errorsOf(alert) === null ? 'no channel' : 'its last run failed';
  const state = wordOf(alert.state ?? 'unknown');
  const word = attentionOf(alert, now) === 'broken' ? `broken: ${broken}` : state;
  return `${word}${isSilenced(alert, now) ? ', muted' : ''}`;
}

/** What the server says about a failed evaluation; null: nothing. */
function errorsOf({ asRead }: Alert): string | null {
  const errors = withoutGaps(asRead.executionErrors);
  return Array.isArray(errors) && errors.length > 0 ? valueText(errors as Json) : null;
}

/** `3 of 14 alerts firing`; of a search: `2 of 14 alerts: ok and muted`. */
function titleOf(found: readonly Alert[], filter: Filter, read: number): string {
  const filters = filtersOf(filter).map(({ text }) => text);
  const firing = found.filter((alert) => alert.state === 'ALERT').length;
  if (filters.length === 0) return `${firing} of ${countWords(read, 'alert')} firing`;
  const count = `${found.length} of ${countWords(read, 'alert')}`;
  return filter.state === 'ALERT' && filters.length === 1
    ? `${count} firing`
    : `${count}: ${filters.join(' and ')}`;
}

function urgentRow(alert: Alert, now: Date): AnswerRow {
  const until = silenceCell(alert, now);
  const muted: readonly InlinePart[] = until instanceof Date ? [' until ', { at: until }] : [];
  const about = ['⚠ ', stateWords(alert, now), ...muted, ` · ${conditionText(alert)}`];
  const show = alert.id === null ? null : `alert edit ${alert.id}`;
  return { text: nameOf(alert), about, show, label: 'Edit…' };
}

/** `above 100, every 5m` */
function conditionText(alert: Alert): string {
  const every = alert.interval === null ? null : `every ${alert.interval}`;
  const texts = [thresholdText(alert), every].filter((text) => text !== null);
  return texts.join(', ') || 'threshold unknown';
}

function row(alert: Alert, now: Date, names: AlertNames): readonly Cell[] {
  return [
    nameOf(alert),
    stateWords(alert, now),
    thresholdText(alert),
    alert.interval,
    channelKinds(alert, names),
  ];
}

/** The threshold of an alert in words: `above 100`, `between 5 and 10`. */
function thresholdText({ thresholdType, threshold, thresholdMax }: Alert): string | null {
  const type = wordOf(thresholdType ?? '?');
  if (threshold === null) return thresholdType === null ? null : type;
  const isRange = thresholdType === 'between' || thresholdType === 'not_between';
  return `${type} ${threshold}${isRange ? ` and ${thresholdMax ?? '?'}` : ''}`;
}

/** The names of the notification channels, or their kinds: `Paging, webhook`. */
function channelKinds({ channels }: Alert, { webhook = {} }: AlertNames): string | null {
  const name = ({ type, webhookId }: Alert['channels'][number]) =>
    webhook[String(webhookId ?? '')] ?? wordOf(String(type ?? 'unknown'));
  return channels.map(name).join(', ') || null;
}

/** The end of the silence, `muted` without an end, or null; a silence can have expired. */
function silenceCell(alert: Alert, now: Date): Cell {
  if (!isSilenced(alert, now)) return null;
  const { silenced } = alert;
  const until = typeof silenced === 'object' && silenced !== null ? silenced.until : null;
  return until ? new Date(until) : 'muted';
}

function turning(filter: Filter, number: number, pages: number): readonly CommandOffer[] {
  return [
    // Some people call a firing alert broken.
    ...(filter.state === 'broken' ? [FIRING] : []),
    ...(number > 1 ? [again(filter, { page: number - 1 }, 'Previous page')] : []),
    ...(number < pages ? [again(filter, { page: number + 1 }, 'Next page')] : []),
  ];
}

/** The same search with other values. */
function again(filter: Filter, changed: Partial<Filter>, label: string): CommandOffer {
  const { state, source, silenced, page: number, words } = { ...filter, ...changed };
  const keys = [
    state && `state=${typedWord(state)}`,
    source && `source=${typedWord(source)}`,
    silenced !== undefined && `silenced=${silenced ? 'on' : 'off'}`,
    number && `page=${number}`,
  ];
  return { label, line: ['alert list', ...keys, words].filter(Boolean).join(' ') };
}

/** In a line, a value of several words has hyphens. */
function typedWord(value: string): string {
  return wordOf(value).replaceAll(' ', '-');
}

export const alertShow = queryCommand({
  name: 'alert show',
  program: 'read',
  title: 'Look up an alert',
  summary: 'Show all fields of an alert',
  examples: ['alert show "5xx rate"'],
  args: z.strictObject({ alert: AlertName }),

  answer: async ({ alert }, { alerts, reads, now }) => {
    if (!alerts) return OFF;
    const { result, requestId } = await alerts.getAlert(alert.id);
    const names = await readAlertNames(reads.alerts, result);
    const until = silenceCell(result, now());
    const state: readonly InlinePart[] = [
      { bold: stateWords(result, now()) },
      ...(until instanceof Date ? [' until ', { at: until }] : []),
      ` · ${conditionText(result)}`,
    ];
    return {
      title: result.name ?? `Alert ${alert.id}`,
      parts: [
        { kind: 'lines', lines: [state] },
        { kind: 'facts', facts: facts(result, names) },
        { kind: 'offers', offers: [{ label: 'Edit…', line: `alert edit ${alert.id}` }] },
        ...(requestId ? [{ kind: 'note', text: `Request ${requestId}` } as const] : []),
      ],
    };
  },
});

const OFF = textAnswer(
  'Alert commands are off',
  'ALERTS_API_URL and ALERTS_API_TOKEN are not set. Ask an administrator to set them.',
);

// Shown with a label of their own, or of no use to a reader.
const NAMED = new Set([
  ...['id', 'name', 'message', 'note', 'threshold', 'thresholdMax', 'thresholdType', 'interval'],
  ...['source', 'state', 'channel', 'channels', 'silenced', 'createdAt', 'updatedAt', 'groupBy'],
  ...['team', 'teamId', 'dashboard', 'dashboardId', 'tileId', 'savedSearch', 'savedSearchId'],
]);

/** What is known, without what is not set. */
function facts(alert: Alert, names: AlertNames): readonly (readonly [string, Cell])[] {
  const others = Object.entries(alert.asRead)
    .filter(([key]) => !NAMED.has(key))
    .map(([key, value]) => [fieldLabel(key), otherText(value)] as const);
  const all: readonly (readonly [string, Cell])[] = [
    ['Watches', alert.source && wordOf(alert.source)],
    ['Tile', referenceText(alert.tileId, names.tile)],
    ['Dashboard', referenceText(alert.dashboardId, names.dashboard)],
    ['Saved search', referenceText(alert.savedSearchId, names['saved search'])],
    ['Group by', alert.groupBy],
    ['Notifies', channelText(alert, names) ?? 'nobody: the alert has no channel'],
    ['Message', alert.message],
    ['Note', alert.note],
    ['Team', alert.teamId],
    ...others,
    ['Created', timeCell(alert.createdAt)],
    ['Updated', timeCell(alert.updatedAt)],
    ['Id', alert.id],
  ];
  return all.filter(([, value]) => value !== null && value !== '');
}

/** A field of a newer server: its value in words, never its JSON. */
function otherText(value: unknown): Cell {
  if (typeof value === 'string') return timeOrWord(value);
  return value === null || value === undefined ? null : valueText(withoutGaps(value) as Json);
}

function withoutGaps(value: unknown): unknown {
  return Array.isArray(value) ? value.filter((each) => each !== null) : value;
}

function channelText({ channels }: Alert, names: AlertNames = {}): string | null {
  const named = notifiesText(channels, names);
  if (named !== null) return named.replace(/^notifies /, '');
  const texts = channels.map(({ type, webhookId, emailRecipients }) => {
    const to = webhookId ?? (Array.isArray(emailRecipients) ? emailRecipients.join(' ') : '');
    return `${wordOf(String(type ?? 'unknown'))} ${String(to)}`.trim();
  });
  return texts.length > 0 ? texts.join(', ') : null;
}

/** The name of what the alert refers to; the id where the name is unknown. */
function referenceText(id: string | null, names: Readonly<Record<string, string | null>> = {}) {
  if (id === null || names[id] === undefined) return id;
  return names[id] ?? `${id} (not listed by the server)`;
}
