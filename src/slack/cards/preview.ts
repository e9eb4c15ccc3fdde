import type { Change, Plan, Snapshot, State } from '../../changes/change.ts';
import { TARGET_TRAITS } from '../../changes/target-kinds.ts';
import type { Freeze } from '../../policy/policy-types.ts';
import { buttons, fact, lines, type Message, message, title } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { cardTitle, stateText } from './card.ts';
import { cardLink, type LinkOf, openCard } from './card-link.ts';
import type { DrawContext } from './draw-context.ts';
import { actionText, lowerActionText, roleText } from './naming.ts';
import { previewButtons } from './parts/card-buttons.ts';
import {
  costLines,
  planLines,
  readStateLines,
  redacted,
  sendsLine,
  stateWords,
  targetLines,
} from './plan-lines.ts';
import { previewBlock } from './private-block.ts';
import { freezeNote } from './refusals.ts';
import { timingLines } from './timing-lines.ts';

/** The preview of a draft, which only its requester sees. */
export function preview(
  draft: Change,
  { others, before, freezes }: RelatedChanges,
  drawing: DrawContext,
): Message {
  return message(
    title(`${actionText(draft)}?`),
    lines(
      ...before.map((each) => beforeLine(each, drawing)),
      ...targetLines(draft, ...stateWords(draft.plan)),
      ...seenLines(draft.plan),
      ...readStateLines(draft.plan),
      ...planLines(draft.plan),
      sendsLine(draft.plan),
      ...timingLines(draft),
      ...costLines(draft.plan),
      approvalLine(draft, drawing),
      ...(draft.reason ? [fact('Reason', draft.reason)] : []),
      ...draft.plan.warnings.map((warning): Line => [{ bold: '⚠ ' }, warning]),
      ...freezes.map(freezeLine),
      ...others.map((each) => otherLine(each, drawing)),
    ),
    buttons(previewBlock(draft.id), ...previewButtons(draft)),
  );
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

function beforeLine(before: Change, { linkOf }: DrawContext): Line {
  const { createdAt, requester, id } = before;
  const asked: Line = [{ user: requester }, ' requested the same change ', { at: createdAt }];
  const note = `): ${stateText(before)}. This would be a second one.`;
  const link = cardLink(before, id, linkOf);
  return [{ bold: '⚠ ' }, ...asked, ' (', link, note, blockingNote(before)];
}

function blockingNote({ state }: Change): string {
  return state === 'unknown' ? ' A new request waits until that outcome is recorded.' : '';
}

function seenLines({ target, before }: Plan): readonly Line[] {
  if (!TARGET_TRAITS[target.kind].exists || before?.wasRead) return [];
  return [seenLine(before)];
}

function seenLine(before: Snapshot | null): Line {
  const state = before?.volatileFields?.state ?? before?.fields.state;
  if (!before) return [{ bold: 'Never seen' }];
  const words = typeof state === 'string' ? `${state}, ` : '';
  return fact('Last seen', words, { at: before.seenAt }, ` (${before.source})`);
}

function approvalLine({ requires, plan }: Change, { policy }: DrawContext): Line {
  const rule = `rule ${requires.rule}`;
  if (requires.count === 0) return fact('Approval', `not required · ${rule}`);
  const hours = requires.expiresAfterMs / 3_600_000;
  const left = hours >= 1 ? `${+hours.toFixed(1)} h` : `${Math.round(hours * 60)} min`;
  const who = `${requires.count} of ${roleText(policy, requires.from)}`;
  const by = plan.timing?.startAt ? 'before it runs, ' : '';
  const self = requires.self ? '' : ', not you';
  return fact('Approval', `${who}${self} · ${rule} · ${by}expires in ${left}`);
}

function otherLine(other: Change, { linkOf }: DrawContext): Line {
  const { requester, createdAt, id } = other;
  const request: Line = [{ user: requester }, ` requested “${lowerActionText(other)}” `];
  return [
    { bold: '⚠ ' },
    ...request,
    { at: createdAt },
    ' (',
    cardLink(other, id, linkOf),
    `: ${stateText(other)}).`,
    blockingNote(other),
  ];
}

/** Replaces an answered preview, so that its buttons disappear. */
export function answeredPreview(
  change: Change,
  cardChannel: string | null,
  { linkOf }: DrawContext,
): Message {
  return message(
    title(cardTitle(change)),
    lines(nextStep(change, cardChannel, linkOf), [`Change ${change.id}`]),
  );
}

const NOT_RUN: readonly State[] = ['rejected', 'expired', 'stale', 'denied'];

function nextStep(change: Change, cardChannel: string | null, linkOf: LinkOf): Line {
  const { state } = change;
  if (state === 'pending' && cardChannel) {
    const open = openCard(change, linkOf);
    return [`Sent to ${cardChannel}. Updates appear in its thread.`, ...open];
  }
  if (state === 'cancelled') return ['Nothing was changed.'];
  // A draft can expire between two clicks of its requester.
  if (NOT_RUN.includes(state)) return ['Nothing was changed. Request it again.'];
  return runLine(change, linkOf);
}

function runLine(change: Change, linkOf: LinkOf): Line {
  const { timing } = change.plan;
  if (!timing?.startAt)
    return ['It runs now. ', cardLink(change, 'The card', linkOf), ' shows the result.'];
  const card = cardLink(change, 'the card', linkOf);
  return ['It runs ', { at: new Date(timing.startAt) }, '. Cancel it on ', card, ' until then.'];
}

/** The request for one reader. */
export function fullRequest(change: Change, isFull: boolean): Message {
  const plan = isFull ? change.plan : redacted(change.plan);
  return message(
    title(actionText(change)),
    lines(...targetLines(change), ...planLines(plan), sendsLine(plan)),
  );
}
