import { z } from 'zod';
import type { FieldProblem } from '../base/errors.ts';
import { typedSpan } from '../base/moments.ts';
import { canonical, type Json, type JsonObject } from '../base/text.ts';
import { MINUTE_MS, spanMs } from '../base/time.ts';
import { countWords } from '../domain/answer.ts';
import type { Snapshot, StateDifference } from '../domain/change.ts';
import { fieldLabel, wordOf } from '../domain/words.ts';
import { LIVE_INTERVALS } from '../servers/accepted-values.ts';
import { type AlertRefusal, alertUpdate, differences } from '../servers/alerts.ts';
import {
  type AlertNames,
  missingReferences,
  namedValue,
  readAlertNames,
  storedNames,
} from '../servers/alerts-reads.ts';
import {
  Alert,
  AlertBody,
  AlertEdit,
  AlertThreshold,
  Interval,
  SERVER_MANAGED,
  ThresholdType,
} from '../servers/alerts-schema.ts';
import { bodyOf, inSendOrder, type SendResult, wireProblems } from '../servers/sent.ts';
import { acceptanceWarnings } from './accepted.ts';
import {
  AlertName,
  choiceField,
  commandLine,
  numberField,
  oneOf,
  type TypedValues,
  textField,
} from './arguments.ts';
import {
  alertTarget,
  type ChangeCommand,
  type CommandContext,
  changeCommand,
  type Phrase,
  type PhraseState,
} from './define.ts';

// A command has at most 5,000 characters.
const AlertText = z.string().trim().min(1, 'must not be empty').max(5_000, 'is too long');
const NONE = 'none';
/** A text that the alert can be without. */
const OptionalText = AlertText.transform((typed) => (typed.toLowerCase() === NONE ? '' : typed));

/** The accepted intervals before and after a span. */
function intervalsNear(typed: string): readonly string[] {
  const ms = spanMs(typed);
  const below = LIVE_INTERVALS.findLast((each) => spanMs(each) < ms);
  const above = LIVE_INTERVALS.find((each) => spanMs(each) > ms);
  return ms === 0 ? [] : [below, above].filter((each) => each !== undefined);
}

/** `above 250`, `> 250`, `raise to 250`, `250`. */
function thresholdPhrase(typed: readonly string[], { given }: PhraseState): Phrase | null {
  if (given.threshold !== undefined || given.alert === undefined) return null;
  const before = /^(raise|lower|set|change|increase|decrease|reduce|bump)$/i.test(typed[0] ?? '')
    ? 1
    : 0;
  const words = typed.slice(before);
  const [sign = ''] = /^(above|over|exceeds|>=?|below|under|<=?)$/i.exec(words[0] ?? '') ?? [];
  const joint = sign || words[0]?.toLowerCase() === 'to' ? 1 : 0;
  const [, number] = /^[<>]?=?(-?\d[\d,.]*(?:e\d+)?k?)%?$/i.exec(words[joint] ?? '') ?? [];
  if (number === undefined) return null;
  const threshold = { threshold: number };
  const taken = before + joint + 1;
  if (/^(below|under|<)/i.test(sign))
    return { taken, given: { ...threshold, thresholdType: 'below' } };
  if (sign || /^[<>]/.test(words[joint] ?? '')) return { taken, given: threshold };
  const readings = [{ label: `threshold=${number}`, given: threshold }];
  return { taken, choice: { why: `Is “${number}” the new threshold?`, readings } };
}

const REMOVABLE = { none: NONE, hint: `“${NONE}” removes it` };

const args = z.strictObject({
  alert: AlertName,
  threshold: numberField(AlertThreshold, {
    ...{ word: 'threshold', label: 'Threshold', decimal: true },
    ...{ synonyms: ['limit', 'value'], unit: /^%$/ },
  }),
  interval: textField(Interval, {
    word: 'interval',
    synonyms: ['every', 'each'],
    label: 'Interval',
    reads: typedSpan,
    suggestions: intervalsNear,
    hint: `A number and a unit. Live servers accept ${LIVE_INTERVALS.join(', ')}`,
  }),
  thresholdType: choiceField(ThresholdType, () => ThresholdType.options, {
    word: 'type',
    label: 'Type',
    hint: 'On some servers, “above” includes the threshold itself',
  }),
  name: textField(OptionalText, { word: 'name', label: 'Name', ...REMOVABLE }),
  message: textField(OptionalText, { word: 'message', label: 'Message', ...REMOVABLE }),
  webhookId: textField(AlertText, { word: 'webhook', label: 'Webhook (id)', lists: 'webhook' }),
  dashboardId: textField(AlertText, {
    word: 'dashboard',
    label: 'Dashboard (id)',
    lists: 'dashboard',
  }),
  tileId: textField(AlertText, { word: 'tile', label: 'Tile (id)', lists: 'tile' }),
});
type AlertChanges = Omit<z.output<typeof args>, 'alert'>;

export const alertEdit: ChangeCommand = changeCommand({
  name: 'alert edit',
  program: 'request',
  title: 'Edit an alert',
  summary: 'Edit an alert; other fields stay as they are',
  examples: ['alert edit "5xx rate" threshold=250 interval=15m'],
  args,
  // The form is prefilled with the values of the alert, so the alert is selected first.
  hasField: (field, { given }) => field === 'alert' || Boolean(given.alert),
  call: 'PUT alert',
  timed: 'start and revert',
  phrase: thresholdPhrase,

  target: ({ alert }) => alertTarget(alert),
  observe: async ({ alert, ...edit }, context) => {
    const read = await readAlert(alert.id, context);
    const names = await readAlertNames(context.reads.alerts, read, edit);
    return { before: alertSnapshot(read, context.now(), names) };
  },
  compareBeforeSending: async ({ target, before }, context) => {
    const { fields } = alertSnapshot(await readAlert(target.id, context), context.now());
    if (canonical(fields) === canonical(before?.fields ?? null)) return { kind: 'same' };
    return { kind: 'differs', differences: before ? alertDifferences(before, fields) : [] };
  },
  prefill: ({ fields }) => given(fields),
  noEffect: ({ alert, ...edit }, before) => {
    if (updateOf(edit, before)?.changes.length !== 0) return null;
    return {
      sentence: `${alert.name} already has these values (checked just now), so nothing was requested.`,
      offers: [{ label: 'Show it', line: `alert show ${alert.id}` }],
    };
  },
  desired: ({ alert: _, ...edit }, before) => updateOf(edit, before)?.body ?? {},
  problems: ({ alert: _, ...edit }, before) => problemsOf(edit, before),
  rows: ({ alert: _, ...edit }, before) => {
    const names = storedNames(before);
    return (updateOf(edit, before)?.changes ?? []).map(({ field, ...change }) => ({
      field,
      label: fieldLabel(field),
      before: namedValue(field, asJson(change.before), names),
      after: change.after === undefined ? NONE : namedValue(field, asJson(change.after), names),
    }));
  },
  unchanged: ({ alert: _, ...edit }, before) => {
    const { unchangedFields = [], body = {} } = updateOf(edit, before) ?? {};
    // Live servers return the first channel twice: alone, and in the list of all channels.
    const isRepeated = unchangedFields.includes('channels');
    return unchangedFields
      .filter((field) => !(field === 'channel' && isRepeated))
      .map((field) => keptText(field, asJson(body[field]), storedNames(before)));
  },
  warnings: ({ alert: _, ...edit }, before) => [
    // The unchanged fields are sent as well, so the server checks them too.
    ...acceptanceWarnings('update alert', updateOf(edit, before)?.body ?? {}),
    ...missingReferences(updateOf(edit, before)?.body ?? {}, storedNames(before)),
    ...(before?.volatileFields?.state === 'ALERT'
      ? ['Firing now; evaluated again at its next run.']
      : []),
  ],
  send: async ({ id }, body, context) => {
    // The plan was checked; the client checks the body again before it sends it.
    const reply = await client(context).updateAlert(id, body as AlertBody);
    return sentAlert(body, reply);
  },
  verifyOutcome: async ({ id }, body, context) => {
    const reply = await client(context).getAlert(id);
    if (differences(body, reply.result).length > 0) return null;
    const reported = ['read again: all values are as requested'];
    return { ...sentAlert(body, reply), reported };
  },
  undo: ({ id }, before, body) => undoLine(id, before, body),
  outcome: { done: 'edited', accepted: 'was edited' },
  endingNote: 'The alert is evaluated again at its next run.',
});

function client({ alerts }: Pick<CommandContext, 'alerts'>) {
  if (!alerts) throw new Error('The alerts API is not configured');
  return alerts;
}

async function readAlert(id: string, context: Pick<CommandContext, 'alerts'>): Promise<Alert> {
  return (await client(context).getAlert(id)).result;
}

/** A snapshot of an alert: the fields of an update, and apart from them the state and the names. */
function alertSnapshot(alert: Alert, seenAt: Date, names: AlertNames = {}): Snapshot {
  const entries = Object.entries(alert.asRead);
  const own = entries.filter(([key]) => !SERVER_MANAGED.includes(key));
  const volatileFields = {
    ...(alert.state === null ? {} : { state: alert.state }),
    ...(Object.keys(names).length === 0 ? {} : { names }),
  };
  // The alert was parsed from JSON.
  const fields = Object.fromEntries(own) as JsonObject;
  return { fields, volatileFields, seenAt, source: 'read just now' };
}

/**
 * The fields of an alert that are not as in the preview, with their labels, previous and current values.
 * Servers that send both `channel` and `channels` repeat the first channel.
 */
function alertDifferences(before: Snapshot, now: JsonObject): readonly StateDifference[] {
  const names = storedNames(before);
  const text = (field: string, { [field]: value }: JsonObject) =>
    value === undefined ? 'not in the reply' : textOf(namedValue(field, value, names));
  const fields = [...new Set([...Object.keys(before.fields), ...Object.keys(now)])];
  const isSame = (field: string) =>
    canonical(before.fields[field] ?? null) === canonical(now[field] ?? null);
  const changed = fields.filter((field) => !isSame(field));
  return changed
    .filter((field) => field !== 'channel' || !changed.includes('channels'))
    .map((field) => ({
      label: fieldLabel(field),
      was: text(field, before.fields),
      is: text(field, now),
    }));
}

function textOf(value: Json): string {
  if (value === null) return 'not set';
  if (Array.isArray(value)) return value.map(textOf).join(', ') || 'none';
  return typeof value === 'object' ? Object.values(value).map(textOf).join(' ') : String(value);
}

function updateOf(edit: AlertChanges, before: Snapshot | null) {
  if (!before) return null;
  const update = alertUpdate(Alert.parse(before.fields), AlertEdit.parse(bodyOf(edit)));
  return update.ok ? { ...update, body: inSendOrder(AlertBody, update.body as JsonObject) } : null;
}

function problemsOf(edit: AlertChanges, before: Snapshot | null): readonly FieldProblem[] {
  const typed = Object.keys(bodyOf(edit));
  if (typed.length === 0)
    return [
      { field: 'threshold', problem: 'must differ from the current value, or set another field' },
    ];
  const { interval } = edit;
  if (interval !== undefined && !LIVE_INTERVALS.includes(interval)) {
    return [{ field: 'interval', problem: `must be ${oneOf(LIVE_INTERVALS)}` }];
  }
  if (!before) return [];
  const update = alertUpdate(Alert.parse(before.fields), AlertEdit.parse(bodyOf(edit)));
  if (update.ok) return wireProblems(AlertBody, update.body as JsonObject).map(carriedBy(typed));
  const fields = FIELDS[update.refusal] ?? typed;
  const field = fields.find((name) => typed.includes(name)) ?? 'threshold';
  const offset = Number(before.fields.scheduleOffsetMinutes ?? 0) * MINUTE_MS;
  const longer = LIVE_INTERVALS.filter((each) => spanMs(each) > offset).slice(0, 2);
  const offered = update.refusal === 'offset-too-long' ? { offered: longer } : {};
  return [{ field, problem: SENTENCES[update.refusal], ...offered }];
}

/** A field that is carried along has no input: its problem is one of what was typed. */
function carriedBy(typed: readonly string[]) {
  return ({ field, problem }: FieldProblem): FieldProblem =>
    typed.includes(field)
      ? { field, problem }
      : {
          field: typed[0] ?? field,
          problem: `cannot be changed: the ${fieldLabel(field).toLowerCase()} that the server returned ${problem}`,
        };
}

const FIELDS: Partial<Record<AlertRefusal, readonly string[]>> = {
  'type-not-editable': ['thresholdType'],
  'offset-too-long': ['interval'],
  'webhook-twice': ['webhookId'],
  'not-a-tile-alert': ['tileId', 'dashboardId'],
  'channel-without-webhook': ['webhookId'],
};

/** Problems that continue the label of the field as a sentence. */
const SENTENCES: Readonly<Record<AlertRefusal, string>> = {
  'type-not-editable': 'cannot be changed here: the type of this alert is neither above nor below',
  'bounds-crossed': 'must not be above the upper bound of this alert',
  'offset-too-long': 'must be longer than the schedule offset of this alert',
  'webhook-twice': 'is a webhook of this alert already',
  'not-a-tile-alert': 'does not apply: this alert watches a saved search',
  'channel-without-webhook': 'does not apply: the first channel is not a webhook',
  'unknown-source':
    'cannot be changed: the server returned neither a tile nor a saved search as the source',
  'no-channel': 'cannot be changed alone: this alert has no channel. Set a webhook as well',
  'no-tile': 'cannot be changed alone: this alert lacks a tile or a dashboard. Set both as well',
  'no-saved-search':
    'cannot be changed: the server returned no saved search, so an update would remove it',
};

type AlertReply = Awaited<ReturnType<ReturnType<typeof client>['updateAlert']>>;

function sentAlert(body: JsonObject, reply: AlertReply): SendResult {
  const { result, requestId } = reply;
  if (!result) return { requestId, reported: [], learned: null };
  const other = differences(body, result).map(({ field, sent, got }) =>
    got === undefined
      ? `⚠ ${fieldLabel(field)}: the reply does not show it (sent: ${JSON.stringify(sent)})`
      : `⚠ ${fieldLabel(field)} is ${JSON.stringify(got)}, not ${JSON.stringify(sent ?? null)} as sent`,
  );
  const state = result.state === null ? [] : [`state ${wordOf(result.state)}`];
  return { requestId, reported: [...state, ...other], learned: null };
}

function given(fields: JsonObject): TypedValues {
  const alert = Alert.parse(fields);
  const webhook = alert.channels[0]?.webhookId;
  const plainType = ThresholdType.safeParse(alert.thresholdType).data;
  const entries = {
    threshold: alert.threshold,
    interval: alert.interval,
    thresholdType: plainType,
    name: alert.name,
    message: alert.message,
    webhookId: typeof webhook === 'string' ? webhook : null,
    dashboardId: alert.dashboardId,
    tileId: alert.tileId,
  };
  const known = Object.entries(entries).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
}

/** Reverts only the changed fields; null if one cannot be removed again. */
function undoLine(id: string, before: Snapshot | null, body: JsonObject) {
  if (!before) return null;
  const was = given(before.fields);
  const now = given(body);
  const touched = Object.keys({ ...was, ...now }).filter((name) => now[name] !== was[name]);
  const previous: TypedValues = { name: NONE, message: NONE, ...was };
  const back = Object.fromEntries(touched.map((name) => [name, previous[name] ?? '']));
  if (touched.length === 0 || Object.values(back).includes('')) return null;
  return {
    label: 'Restore the previous values',
    line: commandLine(alertEdit, { alert: id, ...back }, ''),
  };
}

/** `channels (notifies Paging)`: a field that stays as it is, with the name that it refers to. */
function keptText(field: string, value: Json, names: AlertNames): string {
  const label = fieldLabel(field).toLowerCase();
  const named = namedValue(field, value, names);
  if (named !== value) return `${label} (${named})`;
  return Array.isArray(value) ? countWords(value.length, label.replace(/s$/, '')) : label;
}

// Values of a reply are JSON.
function asJson(value: unknown): Json {
  return (value ?? null) as Json;
}
