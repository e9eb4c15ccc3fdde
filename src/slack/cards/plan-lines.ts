import type { Change, Json, JsonObject, Plan, Snapshot, State } from '../../changes/change.ts';
import { TARGET_TRAITS } from '../../changes/target-kinds.ts';
import { currentSizeText } from '../../intent/answers/service-size.ts';
import { valueText } from '../../workflow/request/plan.ts';
import { fact } from '../blocks/blocks.ts';
import { bounded, type Line } from '../blocks/rich-text.ts';

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
  const changed = rows.map(({ label, before, after }): Line => {
    const then = instantOf(before);
    const was: Line = then
      ? [then, ' → ']
      : before === null
        ? []
        : [`${bounded(valueText(before), 300)} → `];
    return fact(label, ...was, instantOf(after) ?? { bold: bounded(valueText(after), 600) });
  });
  const kept = unchangedFields.length > 0 ? [fact('Unchanged', unchangedFields.join(', '))] : [];
  return [...changed, ...kept];
}

/** A stored instant, which Slack shows in the reader's time zone; null for any other value. */
function instantOf(value: Json): { at: Date } | null {
  const isInstant = typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value);
  return isInstant ? { at: new Date(value) } : null;
}

/** Includes the start of the id, because two services can have the same or similar names. */
export function targetLines(
  { plan: { target } }: Pick<Change, 'plan'>,
  ...more: readonly string[]
): readonly Line[] {
  const { label, exists, appliedBy } = TARGET_TRAITS[target.kind];
  if (appliedBy === 'signalbox') return [fact(label, bounded(target.name, 150))];
  // The name of a new service is one of the requested values; it has no other attributes yet.
  if (!exists) return [];
  const { tags, warehouse, id, discovered } = target;
  const unlisted = discovered && 'not in signalbox.yaml';
  const about = [tags?.join(', '), warehouse, id.slice(0, 8), unlisted, ...more];
  const words = about.flatMap((each) => (each ? ` · ${each}` : [])).join('');
  return [fact(label, bounded(target.name, 150), words)];
}

export function sendsLine({ target, sends, body }: Plan): Line {
  if (TARGET_TRAITS[target.kind].appliedBy === 'signalbox') {
    return fact('Sends', 'nothing: freezes live in Signalbox');
  }
  return fact('Sends', { code: `${sends} ${JSON.stringify(body)}` });
}

const SHORT = 60;
const LONG = 300;

/** `running (checked just now)`, for the line of the target; empty if it was not read. */
export function stateWords({ before }: Plan): readonly string[] {
  return before?.wasRead ? [`${stateOf(before)} (checked just now)`] : [];
}

function stateOf({ fields }: Snapshot): string {
  const { state } = fields;
  return typeof state === 'string' ? bounded(state, SHORT) : 'state unknown';
}

/** The size that was read for the preview, and what could not be read. */
export function readStateLines({ before, gaps = [] }: Plan): readonly Line[] {
  const size = before?.wasRead ? currentSizeText(before.fields) : null;
  return [...(size ? [fact('Size', bounded(size, LONG))] : []), ...gaps.map(gapLine)];
}

function gapLine(gap: string): Line {
  return [bounded(gap, LONG)];
}

const OPEN: readonly State[] = ['pending', 'approved'];

/** For approvers: what the requester saw, with its time. */
export function previewedLines({ state, plan }: Change): readonly Line[] {
  const { before, gaps = [] } = plan;
  if (!OPEN.includes(state)) return [];
  if (!before?.wasRead) return gaps.map(gapLine);
  const size = currentSizeText(before.fields);
  const words = [stateOf(before), ...(size ? [bounded(size, LONG)] : [])].join(' · ');
  return [fact('At the request', words, ', read ', { at: before.seenAt }), ...gaps.map(gapLine)];
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

export function costLines({ cost }: Plan): readonly Line[] {
  return cost ? [fact('Cost', cost.text)] : [];
}
