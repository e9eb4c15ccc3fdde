import { HOUR_MS } from '../base/time.ts';
import type { Change } from '../domain/change.ts';
import type { Freeze } from '../domain/policy.ts';
import { buttons, fact, lines, type Message, message, title } from './blocks.ts';
import {
  mayRequestAgain,
  ownBlock,
  previewBlock,
  previewButtons,
  requestAgainButtons,
  summaryParts,
  warningLine,
} from './card.ts';
import {
  costLines,
  costRangeLines,
  gapLines,
  planLines,
  readStateLine,
  redacted,
  seenLines,
  sendsLine,
  stateCheckLines,
  stateWords,
  targetLines,
  timingLines,
} from './card-plan.ts';
import { cardTitle, ending, stateText } from './card-state.ts';
import { cardLink, type LinkOf, openCard } from './links.ts';
import {
  actionText,
  type DrawContext,
  lowerActionText,
  requestedAction,
  roleText,
} from './naming.ts';
import { freezeNote } from './refusals.ts';
import { bounded, type Line } from './rich-text.ts';

/** The whole request in private, for one reader; `isFull` with its private fields. */
export function fullRequest(change: Change, isFull: boolean, drawing: DrawContext): Message {
  const { requester, createdAt, reason, requires, rejection, breakGlass, review } = change;
  const plan = isFull ? change.plan : redacted(change.plan);
  const { facts, extras, warnings } = ending(change, drawing, true);
  return message(
    title(`${actionText(change)} (${change.id})`),
    lines(
      ...targetLines(change),
      fact('Requested by', { user: requester }, ', ', { at: createdAt }),
      ...(reason ? [fact('Reason', reason)] : []),
      ...(breakGlass ? [fact('Break-glass', breakGlass.reason)] : []),
      ...(review ? [fact('Review', review.note)] : []),
      ...(rejection ? [fact('Rejected', rejection.reason)] : []),
      ...seenLines(plan),
      ...readStateLine(plan),
      ...planLines(plan),
      sendsLine(plan),
      ...timingLines(change),
      ...costLines(plan),
      ...plan.warnings.map(warningLine),
      ...gapLines(plan),
      ...stateCheckLines(change),
      ...facts,
      ...warnings,
      ...extras,
      fact('May request', roleText(drawing.policy, requires.to)),
    ),
  );
}

/** The preview of a draft, which only its requester sees. */
export function preview(draft: Change, related: RelatedChanges, drawing: DrawContext): Message {
  const { plan, reason } = draft;
  const target = targetLines(draft, stateWords(plan), false);
  const isAlert = plan.target.kind === 'alert';
  const question: Line = [{ bold: `${bounded(requestedAction(draft), 150)}?` }];
  return message(
    ...summaryParts({
      head: [question, ...(isAlert ? [] : target)],
      warnings: [
        ...relatedLines(related, drawing),
        ...plan.warnings.map(warningLine),
        ...gapLines(plan),
      ],
      plan,
      facts: [
        ...costRangeLines(plan),
        ...timingLines(draft),
        approvalLine(draft, drawing),
        ...(reason ? [fact('Reason', reason)] : []),
        ...(isAlert ? target : []),
      ],
    }),
    buttons(previewBlock(draft.id), ...previewButtons(draft)),
  );
}

function relatedLines(
  { before, freezes, others }: RelatedChanges,
  drawing: DrawContext,
): readonly Line[] {
  return [
    ...before.map((each) => beforeLine(each, drawing)),
    ...freezes.map(freezeLine),
    ...others.map((each) => otherLine(each, drawing)),
  ];
}

/** Changes and freezes of the same target. */
interface RelatedChanges {
  readonly others: readonly Change[];
  readonly before: readonly Change[];
  readonly freezes: readonly Freeze[];
}

function freezeLine(freeze: Freeze): Line {
  const span: Line = [{ at: freeze.from }, ' and ', { at: freeze.until }];
  return [{ bold: '⚠ ' }, 'Frozen between ', ...span, ...freezeNote(freeze)];
}

function beforeLine(before: Change, { linkOf, commands }: DrawContext): Line {
  if (before.state === 'unknown') return blockingLine(before, linkOf);
  const { createdAt, requester, id } = before;
  const asked: Line = [' by ', { user: requester }, ', ', { at: createdAt }];
  const link = cardLink(before, id, linkOf);
  const state = ` (${stateText(before, commands)}).`;
  return [{ bold: '⚠ ' }, 'This would be a second one: ', link, ...asked, state];
}

function blockingLine(change: Change, linkOf: LinkOf): Line {
  const link = cardLink(change, change.id, linkOf);
  const next = 'outcome unknown. A new request waits until it is recorded.';
  return [{ bold: '⚠ ' }, link, ` “${lowerActionText(change)}”: ${next}`];
}

function approvalLine({ requires, plan }: Change, { policy }: DrawContext): Line {
  if (requires.count === 0) return fact('Approval', 'not required');
  const hours = requires.expiresAfterMs / HOUR_MS;
  const left = hours >= 1 ? `${+hours.toFixed(1)} h` : `${Math.round(hours * 60)} min`;
  const who = `${requires.count} of ${roleText(policy, requires.from)}`;
  const by = plan.timing?.startAt ? 'before it runs, ' : '';
  const self = requires.self ? '' : ', not you';
  return fact('Approval', `${who}${self} · ${by}expires in ${left}`);
}

function otherLine(other: Change, { linkOf, commands }: DrawContext): Line {
  if (other.state === 'unknown') return blockingLine(other, linkOf);
  const { requester, createdAt, id } = other;
  const request: Line = [{ user: requester }, ` requested “${lowerActionText(other)}” `];
  return [
    { bold: '⚠ ' },
    ...request,
    { at: createdAt },
    ' (',
    cardLink(other, id, linkOf),
    `: ${stateText(other, commands)}).`,
  ];
}

/** Replaces an answered preview, so that its buttons disappear. */
export function answeredPreview(
  change: Change,
  cardChannel: string | null,
  { linkOf, commands }: DrawContext,
): Message {
  // Slack cannot change this message later: it names no state that will pass.
  const title = change.state === 'pending' ? actionText(change) : cardTitle(change, commands);
  return message(
    lines([{ bold: title }, ` · ${change.id}`], nextStep(change, cardChannel, linkOf)),
    buttons(ownBlock(change.id), ...requestAgainButtons(change)),
  );
}

function nextStep(change: Change, cardChannel: string | null, linkOf: LinkOf): Line {
  const { state } = change;
  if (state === 'pending' && cardChannel) {
    const open = openCard(change, linkOf);
    // Nothing is sent before Slack has accepted the card.
    const sent = change.card ? 'Sent' : 'Its card goes';
    return [`${sent} to ${cardChannel}. Updates appear in its thread.`, ...open];
  }
  // A draft can expire between two presses of its requester.
  if (mayRequestAgain(change)) return ['Nothing was changed.'];
  if (state === 'succeeded') return [cardLink(change, 'The card', linkOf), ' shows the result.'];
  return runLine(change, linkOf);
}

function runLine(change: Change, linkOf: LinkOf): Line {
  const { timing } = change.plan;
  if (!timing?.startAt)
    return ['It runs now. ', cardLink(change, 'The card', linkOf), ' shows the result.'];
  const card = cardLink(change, 'the card', linkOf);
  return ['It runs ', { at: new Date(timing.startAt) }, '. Cancel it on ', card, ' until then.'];
}
