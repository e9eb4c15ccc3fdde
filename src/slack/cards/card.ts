import {
  type Change,
  hasAuditMismatch,
  isEnded,
  type Plan,
  TARGET_TRAITS,
} from '../../domain/change.ts';
import { buttons, fact, lines, type Message, message, title } from '../blocks/blocks.ts';
import { either, type Line, type RichInline } from '../blocks/rich-text.ts';
import type { DrawContext } from './draw-context.ts';
import { ending } from './ending.ts';
import { roleText } from './naming.ts';
import { cardButtons } from './parts/card-buttons.ts';
import { cardTitle } from './parts/state-text.ts';
import { summaryParts, warningLine } from './parts/summary.ts';
import { titleLines } from './parts/title-lines.ts';
import {
  costPerDayLines,
  gapLines,
  redacted,
  requestedState,
  stateCheckLines,
  targetLines,
} from './plan-lines.ts';
import { stoppedLine } from './refusals.ts';
import { timingLines } from './timing-lines.ts';

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
    return message(
      title(cardTitle(change, drawing.commands)),
      lines(stoppedLine(change, drawing), details),
    );
  }
  return message(
    ...(isEnded(change) || change.state === 'unknown'
      ? endedParts(change, drawing)
      : openParts(change, drawing)),
    buttons(block, ...cardButtons(change, drawing, hidden)),
  );
}

// Slack requires a new block id for each drawing, also when only the state of the revert or what was
// read of the target changed.
export function blockId({ version, child, followUp }: Change): string {
  const changed = [...(child ? [child.state] : []), ...(followUp ? [followUp.revision] : [])];
  return ['card', version, ...changed].join(':');
}

/** What approvers need to decide, and what a user may still stop. */
function openParts(change: Change, drawing: DrawContext) {
  const { state, plan, reason, breakGlass } = change;
  const isPending = state === 'pending';
  const because = reason && !breakGlass ? [fact('Reason', reason)] : [];
  const isAlert = plan.target.kind === 'alert';
  const target = isAlert || !isListed(plan) ? targetLines(change, requestedState(plan)) : [];
  const isInHead = !isAlert && !breakGlass;
  return summaryParts({
    head: [
      ...titleLines(change, drawing),
      ...(isInHead ? target : []),
      ...(isPending ? because : []),
      ...(breakGlass ? [] : costPerDayLines(plan)),
    ],
    warnings: state === 'executing' ? [] : [...plan.warnings.map(warningLine), ...gapLines(plan)],
    plan: redacted(plan),
    facts: [
      ...timingLines(change),
      ...approvalLines(change, drawing),
      ...ending(change, drawing).facts,
      ...(isPending ? [] : because),
      ...(isInHead ? [] : target),
    ],
  });
}

/** A service of the configuration has a name of its own, which the title shows. */
function isListed({ target: { kind, tags, discovered } }: Plan): boolean {
  return !discovered && (tags !== null || !TARGET_TRAITS[kind].exists);
}

/** How the change ended, who decided, and what to do next. */
function endedParts(change: Change, drawing: DrawContext) {
  const { state, plan, reason, stopReason } = change;
  const { facts, extras, warnings } = ending(change, drawing);
  return summaryParts({
    head: titleLines(change, drawing),
    warnings: [...stateCheckLines(change), ...warnings],
    plan: { ...redacted(plan), unchangedFields: [] },
    facts: [
      ...decisionLines(change),
      ...(stopReason ? [stoppedLine(change, drawing)] : []),
      ...facts,
      ...timingLines(change),
      peopleLine(change),
      ...(reason ? [fact('Reason', reason)] : []),
      // An unknown outcome is settled by what the target shows: its estimated cost does not help.
      ...(state === 'unknown' ? [] : costPerDayLines(plan)),
      ...extras,
    ],
  });
}

function decisionLines({ rejection, cancelledBy }: Change): readonly Line[] {
  return [
    ...(rejection ? [fact('Rejected by', { user: rejection.by }, ': ', rejection.reason)] : []),
    ...(cancelledBy ? [fact('Cancelled by', { user: cancelledBy })] : []),
  ];
}

/** `Requested by Ana · approved by Ben, Cleo (2 of 2)` */
function peopleLine({ requester, approvals, requires }: Change): Line {
  const words: Line = ['Requested by ', { user: requester }];
  if (approvals.length === 0) return words;
  const counted = ` (${approvals.length} of ${requires.count})`;
  return [...words, ' · approved by ', ...namesOf(approvals), counted];
}

function namesOf(approvals: Change['approvals']): Line {
  return approvals.flatMap(({ by }, index): RichInline[] => [
    ...(index > 0 ? [', '] : []),
    { user: by },
  ]);
}

/** `Approved  Ben (1 of 2 from @db-leads) · @db-operators too after 17:40` */
function approvalLines(change: Change, drawing: DrawContext): readonly Line[] {
  const { approvals, requires, state } = change;
  if (requires.count === 0 || state !== 'pending') return [peopleLine(change)];
  const names: Line = approvals.length > 0 ? namesOf(approvals) : ['nobody yet'];
  const counted: Line = [` (${approvals.length} of ${requires.count} from `];
  const from = approversOf(change, drawing);
  return [fact('Approved', ...names, ...counted, ...from, ')', ...escalation(change, drawing))];
}

// The mention notifies the approvers once: Slack sends no notification for an edited message.
function approversOf({ requires: { from } }: Change, { groupIds }: DrawContext): Line {
  const groups = from === null ? [] : groupIds(from).map((group) => ({ group }));
  return groups.length > 0 ? either(groups) : [`the role ${from}`];
}

function escalation({ requires, confirmedAt }: Change, { policy }: DrawContext): Line {
  if (!requires.escalation || !confirmedAt) return [];
  const at = new Date(confirmedAt.getTime() + requires.escalation.afterMs);
  return [` · ${roleText(policy, requires.escalation.to)} too after `, { at }];
}
