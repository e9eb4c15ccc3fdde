import type { Change, Plan, Snapshot, State } from '../../changes/change.ts';
import { TARGET_TRAITS } from '../../changes/target-kinds.ts';
import type { Freeze } from '../../policy/policy-types.ts';
import {
  type Button,
  buttons,
  fact,
  lines,
  type Message,
  message,
  title,
} from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { breakGlassButton } from './break-glass.ts';
import { cardTitle, stateText } from './card.ts';
import type { Drawing } from './drawing.ts';
import { actionText, lowerActionText, roleText } from './naming.ts';
import { costLines, planLines, sendsLine, targetLines } from './plan-lines.ts';
import { freezeNote } from './refusals.ts';
import { timingLines } from './timing-lines.ts';

/** The preview of a draft, which only its requester sees. */
export function preview(
  draft: Change,
  { others, before, freezes }: RelatedChanges,
  drawing: Drawing,
): Message {
  return message(
    title(`${actionText(draft)}?`),
    lines(
      ...before.map(beforeLine),
      ...targetLines(draft),
      ...seenLines(draft.plan),
      ...planLines(draft.plan),
      sendsLine(draft.plan),
      ...timingLines(draft),
      ...costLines(draft.plan),
      approvalLine(draft, drawing),
      ...(draft.reason ? [fact('Reason', draft.reason)] : []),
      ...draft.plan.warnings.map((warning): Line => [{ bold: '⚠ ' }, warning]),
      ...freezes.map(freezeLine),
      ...others.map(otherLine),
    ),
    buttons(`preview:${draft.id}`, ...previewButtons(draft)),
  );
}

/** Changes and freezes of the same target. */
export interface RelatedChanges {
  readonly others: readonly Change[];
  readonly before: readonly Change[];
  readonly freezes: readonly Freeze[];
}

function freezeLine(freeze: Freeze): Line {
  const span: Line = [{ at: freeze.from }, ' and ', { at: freeze.until }];
  return [{ bold: '⚠ ' }, 'Frozen between ', ...span, ...freezeNote(freeze)];
}

function beforeLine(before: Change): Line {
  const { createdAt, requester, id } = before;
  const asked: Line = [{ user: requester }, ' requested the same change ', { at: createdAt }];
  return [{ bold: '⚠ ' }, ...asked, ` (${id}): ${stateText(before)}. This would be a second one.`];
}

function seenLines({ target, before }: Plan): readonly Line[] {
  return TARGET_TRAITS[target.kind].exists ? [seenLine(before)] : [];
}

function seenLine(before: Snapshot | null): Line {
  const state = before?.volatileFields?.state ?? before?.fields.state;
  if (!before) return [{ bold: 'Never seen' }];
  const words = typeof state === 'string' ? `${state}, ` : '';
  return fact('Last seen', words, { at: before.seenAt }, ` (${before.source})`);
}

function approvalLine({ requires, plan }: Change, { policy }: Drawing): Line {
  const rule = `rule ${requires.rule}`;
  if (requires.count === 0) return fact('Approval', `not required · ${rule}`);
  const hours = requires.expiresAfterMs / 3_600_000;
  const left = hours >= 1 ? `${+hours.toFixed(1)} h` : `${Math.round(hours * 60)} min`;
  const who = `${requires.count} of ${roleText(policy, requires.from)}`;
  const by = plan.timing?.startAt ? 'before it runs, ' : '';
  const self = requires.self ? '' : ', not you';
  return fact('Approval', `${who}${self} · ${rule} · ${by}expires in ${left}`);
}

function otherLine(other: Change): Line {
  const { requester, createdAt, id } = other;
  const request: Line = [{ user: requester }, ` requested “${lowerActionText(other)}” `];
  return [{ bold: '⚠ ' }, ...request, { at: createdAt }, ` (${id}: ${stateText(other)})`];
}

function previewButtons(draft: Change): readonly Button[] {
  const { id, requires } = draft;
  const run = draft.plan.timing?.startAt ? 'Schedule' : 'Run now';
  const label = requires.count > 0 ? 'Request approval' : run;
  return [
    { id: 'change.confirm', label, value: id, style: 'primary' },
    ...(requires.breakGlass !== null && requires.count > 0 ? [breakGlassButton(draft)] : []),
    { id: 'change.edit', label: 'Edit', value: id },
    { id: 'change.cancel', label: 'Cancel', value: id },
  ];
}

/** Replaces an answered preview, so that its buttons disappear. */
export function answeredPreview(change: Change, cardChannel: string | null): Message {
  return message(
    title(cardTitle(change)),
    lines(nextStep(change, cardChannel), [`Change ${change.id}`]),
  );
}

const NOT_RUN: readonly State[] = ['rejected', 'expired', 'stale', 'denied'];

function nextStep(change: Change, cardChannel: string | null): Line {
  const { state } = change;
  if (state === 'pending' && cardChannel) {
    return [`Sent to ${cardChannel}. Updates appear in its thread.`];
  }
  if (state === 'cancelled') return ['Nothing was changed.'];
  // A draft can expire between two clicks of its requester.
  if (NOT_RUN.includes(state)) return ['Nothing was changed. Request it again.'];
  return runLine(change);
}

function runLine({ plan: { timing } }: Change): Line {
  if (!timing?.startAt) return ['It runs now. The card shows the result.'];
  return ['It runs ', { at: new Date(timing.startAt) }, '. Cancel it on the card until then.'];
}

/** The request with its private fields, for one reader. */
export function fullPlan(change: Change): Message {
  return message(
    title(actionText(change)),
    lines(...targetLines(change), ...planLines(change.plan), sendsLine(change.plan)),
  );
}
