import type { Change, Plan, Snapshot } from '../../changes/change.ts';
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
import { actionText, roleText } from './naming.ts';
import { costLines, planLines, sendsLine, targetLines } from './plan-lines.ts';
import { freezeNote } from './refusals.ts';
import { timingLines } from './timing-lines.ts';

/** What the requester alone sees before anything is asked of anybody. */
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
      ...draft.plan.warnings.map((warning): Line => [{ bold: '! ' }, warning]),
      ...freezes.map(freezeLine),
      ...others.map(otherLine),
    ),
    buttons(`preview:${draft.id}`, ...previewButtons(draft)),
  );
}

/** What else there is of the same target. */
export interface RelatedChanges {
  readonly others: readonly Change[];
  readonly before: readonly Change[];
  readonly freezes: readonly Freeze[];
}

function freezeLine(freeze: Freeze): Line {
  const span: Line = [{ at: freeze.from }, ' and ', { at: freeze.until }];
  return [{ bold: '! ' }, 'Frozen between ', ...span, ...freezeNote(freeze)];
}

function beforeLine(before: Change): Line {
  const { createdAt, requester, id } = before;
  const asked: Line = [{ user: requester }, ' asked for the same ', { at: createdAt }];
  return [{ bold: '! ' }, ...asked, ` (${id}): ${stateText(before)}. This would be a second one.`];
}

// Nobody has seen what is yet to be made, and a freeze is nothing to be seen of its target.
function seenLines({ target, before }: Plan): readonly Line[] {
  return ['freeze', 'new service'].includes(target.kind) ? [] : [seenLine(before)];
}

function seenLine(before: Snapshot | null): Line {
  const state = before?.beside?.state ?? before?.fields.state;
  if (!before) return fact('Last seen', 'not yet');
  const words = typeof state === 'string' ? `${state}, ` : '';
  return fact('Last seen', words, { at: before.seenAt }, ` (${before.source})`);
}

function approvalLine({ requires, requester, plan }: Change, { policy }: Drawing): Line {
  const rule = `rule ${requires.rule}`;
  if (requires.count === 0) return fact('Approval', `none needed · ${rule}`);
  const hours = requires.expiresAfterMs / 3_600_000;
  const left = hours >= 1 ? `${+hours.toFixed(1)} h` : `${Math.round(hours * 60)} min`;
  const who = `${requires.count} of ${roleText(policy, requires.from)}`;
  const by = plan.timing?.startAt ? 'before it runs, ' : '';
  const self: Line = requires.self ? [] : [', not ', { user: requester }];
  return fact('Approval', who, ...self, ` · ${rule} · ${by}expires after ${left}`);
}

function otherLine(other: Change): Line {
  const by: Line = [{ user: other.requester }, ', ', { at: other.createdAt }];
  return [{ bold: '! ' }, `Another open change: ${actionText(other)} by `, ...by, ` (${other.id})`];
}

function previewButtons(draft: Change): readonly Button[] {
  const { id, requires } = draft;
  const now = draft.plan.timing?.startAt ? 'Do it then' : 'Do it now';
  const label = requires.count > 0 ? 'Ask for approval' : now;
  return [
    { id: 'change.confirm', label, value: id, style: 'primary' },
    ...(requires.breakGlass !== null && requires.count > 0 ? [breakGlassButton(draft)] : []),
    { id: 'change.edit', label: 'Edit', value: id },
    { id: 'change.cancel', label: 'Cancel', value: id },
  ];
}

/** In place of the preview, once it is answered: a dead button should not stay to be pressed. */
export function answeredPreview(change: Change, cardChannel: string | null): Message {
  const where: Line =
    change.state === 'pending' && cardChannel
      ? [`The card is in ${cardChannel}. Its thread tells you how it ends.`]
      : change.state === 'cancelled'
        ? ['Nothing was changed.']
        : runLine(change);
  return message(title(cardTitle(change)), lines(where, [`Change ${change.id}`]));
}

function runLine({ plan: { timing } }: Change): Line {
  if (!timing?.startAt) return ['It runs now. Its card tells how it ends.'];
  return ['It runs ', { at: new Date(timing.startAt) }, '. Until then its card can cancel it.'];
}

/** What a card does not show in a channel, for one reader. */
export function wholePlan(change: Change): Message {
  return message(
    title(actionText(change)),
    lines(...targetLines(change), ...planLines(change.plan), sendsLine(change.plan)),
  );
}
