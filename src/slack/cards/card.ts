import { type Change, hasAuditMismatch, type State } from '../../changes/change.ts';
import { TARGET_TRAITS } from '../../changes/target-kinds.ts';
import { buttons, fact, lines, type Message, message, title } from '../blocks/blocks.ts';
import { bounded, either, type Line, type RichInline } from '../blocks/rich-text.ts';
import { breakGlassLines } from './break-glass.ts';
import type { DrawContext } from './draw-context.ts';
import { endingLines } from './ending.ts';
import { actionText, roleText } from './naming.ts';
import { cardButtons } from './parts/card-buttons.ts';
import {
  costLines,
  planLines,
  previewedLines,
  redacted,
  sendsLine,
  stateCheckLines,
  targetLines,
} from './plan-lines.ts';
import { stoppedLine } from './refusals.ts';
import { timingLines } from './timing-lines.ts';

const MARKS: Readonly<Record<State, string>> = {
  draft: '○',
  pending: '○',
  approved: '○',
  executing: '◐',
  succeeded: '●',
  failed: '✕',
  unknown: '?',
  rejected: '✕',
  cancelled: '✕',
  expired: '✕',
  stale: '✕',
  denied: '✕',
};

const TITLES: Readonly<Record<State, string>> = {
  draft: 'draft, not requested',
  pending: 'waiting for approval',
  approved: 'approved',
  executing: 'running',
  succeeded: 'accepted',
  failed: 'rejected by the server',
  unknown: 'outcome unknown',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
  stale: 'not run: it changed since the preview',
  denied: 'not run: the current policy refuses it',
};

// Signalbox stores freezes itself: no server accepts or rejects them.
function titles({ plan }: Change): Readonly<Record<State, string>> {
  return TARGET_TRAITS[plan.target.kind].appliedBy === 'signalbox'
    ? { ...TITLES, succeeded: 'done', failed: 'not done' }
    : TITLES;
}

/** The state in words, as the title of a card shows it. */
export function stateText(change: Change): string {
  const { resolution, state, breakGlass, stopReason: stopped, parent } = change;
  if (hasAuditMismatch(change)) {
    const end = ['denied', 'stale'].includes(state) ? 'not run: ' : '';
    return `${end}it does not match the audit trail`;
  }
  if (stopped === 'restored') return 'not tracked: the database was restored';
  if (stopped === 'gap-accepted') return 'not run: a gap of the audit trail was accepted';
  if (state === 'approved' && parent) return 'planned';
  if (state === 'approved' && breakGlass) return 'emergency, without approval';
  if (!resolution) return titles(change)[state];
  return resolution.happened ? 'it happened' : 'it did not happen';
}

export function cardTitle(change: Change): string {
  // A header holds 150 characters. A long name must not push the state out of it.
  const mark = MARKS[hasAuditMismatch(change) ? 'denied' : change.state];
  return `${mark} ${bounded(actionText(change), 100)}: ${stateText(change)}`;
}

interface CardButtons {
  /** The buttons that are left out. */
  readonly hidden: readonly string[];
  /** The block id of the others. */
  readonly block: string;
}

/** The public message of a change. Signalbox redraws it whole in every state. */
export function changeCard(
  change: Change,
  drawing: DrawContext,
  { hidden, block }: CardButtons = { hidden: [], block: blockId(change) },
): Message {
  if (hasAuditMismatch(change)) {
    const details = fact('Details', `not shown · ${change.id}`);
    return message(title(cardTitle(change)), lines(stoppedLine(change, drawing), details));
  }
  return message(
    title(cardTitle(change)),
    lines(
      ...facts(change),
      ...warnings(change),
      ...stateCheckLines(change),
      ...endingLines(change, drawing),
    ),
    lines(
      ...people(change),
      ...(change.stopReason ? [stoppedLine(change, drawing)] : []),
      ...approvalLines(change, drawing),
      ruleLine(change, drawing),
    ),
    buttons(block, ...cardButtons(change, drawing, hidden)),
  );
}

// Slack requires a new block id for each drawing, also when only the state of the revert or what was
// read of the target changed.
export function blockId({ version, child, followUp }: Change): string {
  const changed = [...(child ? [child.state] : []), ...(followUp ? [followUp.revision] : [])];
  return ['card', version, ...changed].join(':');
}

function facts(change: Change): readonly Line[] {
  const { id, requester, reason, createdAt } = change;
  return [
    ...targetLines(change),
    ...previewedLines(change),
    fact('Requested by', { user: requester }, ', ', { at: createdAt }, ` · ${id}`),
    ...(reason ? [fact('Reason', reason)] : []),
    ...planLines(redacted(change.plan)),
    sendsLine(redacted(change.plan)),
    ...timingLines(change),
    ...costLines(change.plan),
  ];
}

function warnings({ state, plan }: Change): readonly Line[] {
  if (!['pending', 'approved'].includes(state)) return [];
  return plan.warnings.map((warning) => [{ bold: '⚠ ' }, warning]);
}

function people(change: Change): readonly Line[] {
  const { approvals, requires, rejection, state } = change;
  const names: RichInline[] = approvals.flatMap(({ by }, index) => [
    ...(index > 0 ? [', '] : []),
    { user: by },
  ]);
  const approvers = names.length > 0 ? names : ['nobody yet'];
  const approved = fact('Approved by', ...approvers, ` (${approvals.length} of ${requires.count})`);
  return [
    ...breakGlassLines(change),
    ...(requires.count > 0 && (state === 'pending' || names.length > 0) ? [approved] : []),
    ...(rejection ? [fact('Rejected by', { user: rejection.by }, ': ', rejection.reason)] : []),
    ...(change.cancelledBy ? [fact('Cancelled by', { user: change.cancelledBy })] : []),
  ];
}

function ruleLine({ requires }: Change, { policy }: DrawContext): Line {
  return fact(`Rule ${requires.rule}`, `${roleText(policy, requires.to)} may request`);
}

// The mention notifies the approvers once: Slack sends no notification for an edited message.
function approvalLines(change: Change, drawing: DrawContext): readonly Line[] {
  const { from, count, self } = change.requires;
  if (change.state !== 'pending' || from === null) return [];
  const groups = drawing.groupIds(from).map((group) => ({ group }));
  const who: Line = groups.length > 0 ? either(groups) : [`the role ${from}`];
  const notSelf: Line = self ? [] : [', not ', { user: change.requester }];
  return [
    fact('Needs', `${count} of `, ...who, ...notSelf),
    ...escalationLines(change, drawing),
    fact(change.plan.timing?.startAt ? 'Approve by' : 'Expires', { at: change.expiresAt }),
  ];
}

function escalationLines(
  { requires, confirmedAt }: Change,
  { policy }: DrawContext,
): readonly Line[] {
  const { escalation } = requires;
  if (!escalation || !confirmedAt) return [];
  const at = new Date(confirmedAt.getTime() + escalation.afterMs);
  return [fact('Escalates', `to ${roleText(policy, escalation.to)} `, { at })];
}
