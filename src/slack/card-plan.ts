import type { Json, JsonObject } from '../base/text.ts';
import {
  type Change,
  type Plan,
  type PlanRow,
  type Snapshot,
  type State,
  TARGET_TRAITS,
  type Timing,
} from '../domain/change.ts';
import { currentSizeText, valueText } from '../domain/targets.ts';
import { spanText } from '../domain/timing.ts';
import { STATE_WORDS, wordOf } from '../domain/words.ts';
import { fact } from './blocks.ts';
import { bounded, type Line } from './rich-text.ts';

/**
 * Fields about network access and encryption, which are not shown in a channel. Approvers see them
 * in private, and approvals are bound to them.
 */
const PRIVATE = new Set([
  'ipAccessList',
  'encryptionKey',
  'encryptionAssumedRoleIdentifier',
  'vpcResourceShareArn',
  'streamClusterArn',
]);

function hasPrivateFields({ body }: Plan): boolean {
  return Object.keys(body).some((field) => PRIVATE.has(field));
}

/** The plan as a channel may see it: private lists are counted, private values left out. */
export function redacted(plan: Plan): Plan {
  if (!hasPrivateFields(plan)) return plan;
  const body: JsonObject = Object.fromEntries(
    Object.entries(plan.body).map(([field, value]) => [field, hidden(field, value)]),
  );
  const rows = plan.rows.map((row) => ({
    ...row,
    before: row.before === null ? null : hidden(row.field, row.before),
    after: hidden(row.field, row.after),
  }));
  return { ...plan, body, rows };
}

function hidden(field: string, value: Json): Json {
  if (!PRIVATE.has(field)) return value;
  return Array.isArray(value) ? `${value.length} (not shown here)` : 'not shown here';
}

/** One line per changed field, then the fields that stay as they are. */
export function planLines({ rows, unchangedFields }: Plan): readonly Line[] {
  const kept = unchangedFields.length > 0 ? [fact('Unchanged', unchangedFields.join(', '))] : [];
  return [...rowLines(rows), ...kept];
}

export function rowLines(rows: readonly PlanRow[]): readonly Line[] {
  return rows.map(({ field, label, before, after }): Line => {
    const shown = (value: Json, most: number) => bounded(rowText(field, value), most);
    const then = storedInstant(before);
    const was: Line = then ? [then, ' → '] : before === null ? [] : [`${shown(before, 300)} → `];
    return fact(label, ...was, storedInstant(after) ?? shown(after, 600));
  });
}

/** The fields whose values are codes of an API; the value of any other field may be a name. */
const CODED = ['type', 'thresholdType', 'state', 'streamAuthentication', 'source'];

/** The value of a row in words. */
export function rowText(field: string, value: Json): string {
  return typeof value === 'string' && CODED.includes(field) ? wordOf(value) : valueText(value);
}

/** A stored instant, which Slack shows in the reader's time zone; null for any other value. */
export function storedInstant(value: Json): { at: Date } | null {
  const isInstant = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
  return isInstant ? { at: new Date(value) } : null;
}

/**
 * Includes the start of the id, because names can be similar. Without `isNamed`, a title above it has
 * the name, which only one service of the configuration has.
 */
export function targetLines(
  { plan: { target } }: Pick<Change, 'plan'>,
  more: Line = [],
  isNamed = true,
): readonly Line[] {
  const { label, listedIn, appliedBy } = TARGET_TRAITS[target.kind];
  if (appliedBy === 'signalbox') return isNamed ? [fact(label, bounded(target.name, 150))] : [];
  // The name of a new service is one of the requested values; it has no other attributes yet.
  if (listedIn === null) return [];
  const { tags, warehouse, id, discovered } = target;
  const unlisted = discovered && 'not in signalbox.yaml';
  const place = warehouse && `warehouse ${warehouse}`;
  const start = isNamed || unlisted ? id.slice(0, 8) : null;
  const about = [tags?.join(', '), place, start, unlisted];
  const words = about.filter(Boolean).join(' · ');
  const name = isNamed ? `${bounded(target.name, 60)} · ` : '';
  return [fact(label, name, bounded(words, 80), ...more)];
}

export function sendsLine({ target, sends, body }: Plan): Line {
  if (TARGET_TRAITS[target.kind].appliedBy === 'signalbox') {
    return fact('Sends', `nothing: ${target.kind}s live in Signalbox`);
  }
  return fact('Sends', { code: `${sends} ${JSON.stringify(body)}` });
}

const SHORT = 60;
const LONG = 300;

/** `running (checked just now)`, or when the target was seen last, for the line of a preview. */
export function stateWords({ target, before }: Plan): Line {
  if (before?.wasRead) return [` · ${stateOf(before)} (checked just now)${sizeWords(before)}`];
  if (TARGET_TRAITS[target.kind].listedIn === null) return [];
  if (!before) return [' · never seen'];
  return [` · last seen ${seenState(before)}`, { at: before.seenAt }];
}

/** `running when requested`, for the line of a card; empty if the target was not read. */
export function requestedState({ before }: Plan): Line {
  return before?.wasRead ? [` · ${stateOf(before)} when requested${sizeWords(before)}`] : [];
}

function sizeWords({ fields }: Snapshot): string {
  const size = currentSizeText(fields);
  return size ? ` · ${bounded(size, LONG)}` : '';
}

function seenState({ fields, volatileFields }: Snapshot): string {
  const state = volatileFields?.state ?? fields.state;
  return typeof state === 'string' ? `${bounded(wordOf(state), SHORT)}, ` : '';
}

function stateOf({ fields }: Snapshot): string {
  const { state } = fields;
  return typeof state === 'string' ? bounded(wordOf(state), SHORT) : 'state unknown';
}

/** What was read for the preview, with its time. */
export function readStateLine({ before }: Plan): readonly Line[] {
  if (!before?.wasRead) return [];
  const words = `${stateOf(before)}${sizeWords(before)}`;
  return [fact('At the request', words, ', read ', { at: before.seenAt })];
}

/** When a target that was not read for the preview was seen last. */
export function seenLines({ target, before }: Plan): readonly Line[] {
  if (TARGET_TRAITS[target.kind].listedIn === null || before?.wasRead) return [];
  if (!before) return [[{ bold: 'Never seen' }]];
  return [fact('Last seen', seenState(before), { at: before.seenAt }, ` (${before.source})`)];
}

/** What could not be read for the preview. */
export function gapLines({ gaps = [] }: Plan): readonly Line[] {
  return gaps.map((gap) => [bounded(gap, LONG)]);
}

/** What the read right before sending found: the differences, or that there was no answer. */
export function stateCheckLines({ stateCheck }: Change): readonly Line[] {
  if (stateCheck === undefined) return [];
  if (stateCheck.kind === 'unverified') {
    return [[`State not verified before sending: ${bounded(stateCheck.why, LONG)}.`]];
  }
  const { differences, changedBy } = stateCheck;
  const by: Line = changedBy
    ? [' (', { user: changedBy.by }, ', ', { at: changedBy.at }, `, ${changedBy.id})`]
    : [];
  if (differences.length === 0) {
    return changedBy ? [['Another change of it ran since the preview', ...by, '.']] : [];
  }
  return differences.map(({ label, was, is }) =>
    fact(label, `was ${bounded(was, SHORT)}, is now ${bounded(is, SHORT)}`, ...by),
  );
}

/** The whole estimate. */
export function costLines({ cost }: Plan): readonly Line[] {
  return cost ? [fact('Cost', cost.text)] : [];
}

/** The estimate with its range, for a preview. */
export function costRangeLines({ cost }: Plan): readonly Line[] {
  return cost ? [fact('Cost', cost.summary?.withRange ?? cost.text)] : [];
}

/** The estimate per day, for a card: *Show request* has the rest. */
export function costPerDayLines({ cost }: Plan): readonly Line[] {
  if (!cost) return [];
  const { summary } = cost;
  return [fact('Cost', summary ? `${summary.perDay} · details` : cost.text)];
}

/** When the change runs and when it reverts, for preview and card. */
export function timingLines(change: Change): readonly Line[] {
  const { parent, plan } = change;
  const reverted = parent ? [fact('Reverts', `${parent} (approved together)`)] : [];
  const { schedule } = plan.timing ?? {};
  const scheduled = schedule ? [fact('Run of schedule', `${schedule} (approved with it)`)] : [];
  return [
    ...reverted,
    ...scheduled,
    ...startLines(change),
    ...(plan.timing?.revert ? backLines(change) : []),
  ];
}

const WAITING: readonly State[] = ['draft', 'pending', 'approved'];
const RAN: readonly State[] = ['executing', 'succeeded', 'failed', 'unknown'];

function startLines({ state, plan: { timing } }: Change): readonly Line[] {
  if (!timing?.startAt || RAN.includes(state)) return [];
  return [
    fact(WAITING.includes(state) ? 'Runs' : 'Was scheduled for', { at: new Date(timing.startAt) }),
  ];
}

function backLines({ state, plan, revertAt, child }: Change): readonly Line[] {
  const back = plan.timing?.revert;
  if (!back) return [];
  if (child) return [childLine(child, revertAt)];
  if (state === 'succeeded') {
    return [fact('Reverts', revertAt ? { at: revertAt } : 'not automatically')];
  }
  const isOpen = [...WAITING, 'executing', 'unknown'].includes(state);
  return isOpen ? [fact('Reverts', ...laterWords(back))] : [];
}

function laterWords({ afterMs, until, label }: NonNullable<Timing['revert']>): Line {
  if (until !== undefined) return [{ at: new Date(until) }, ` (${label})`];
  return [`${spanText(afterMs)} later (${label})`];
}

// The id is in brackets: a lost card is found by its own id, which follows a dot.
function childLine({ id, state }: NonNullable<Change['child']>, revertAt: Date | null): Line {
  if (state === 'succeeded') return fact('Reverted', `by ${id}`);
  if (state === 'unknown') return fact('Reverted', `outcome unknown (${id})`);
  const isOpen = ['approved', 'executing'].includes(state);
  if (isOpen && revertAt) return fact('Reverts', { at: revertAt }, ` (${id})`);
  return fact('Reverts', `not automatically: ${id} is ${STATE_WORDS[state]}`);
}
