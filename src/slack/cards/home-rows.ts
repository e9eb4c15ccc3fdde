import { countWords } from '../../domain/answer.ts';
import type { Change } from '../../domain/change.ts';
import { type Button, buttons, fact, lines, type MessagePart, noteLine } from '../blocks/blocks.ts';
import type { Line, RichInline } from '../blocks/rich-text.ts';
import { breakGlassLines, reviewButtons } from './break-glass.ts';
import { cardPlace, type LinkOf } from './card-link.ts';
import type { DrawContext } from './draw-context.ts';
import { actionText, roleText } from './naming.ts';
import { outcomeButtons } from './parts/card-buttons.ts';
import { cardTitle } from './parts/state-text.ts';
import { costPerDayLines, planLines, targetLines } from './plan-lines.ts';
import { timingLines } from './timing-lines.ts';

type HomeParts = readonly (MessagePart | null)[];

/** As many whole changes as fit into a Slack view, so that no plan is cut; the rest is counted. */
export function fitting(
  changes: readonly Change[],
  draw: (change: Change) => HomeParts,
  { most, bytes }: { most: number; bytes: number },
): HomeParts {
  const shown: (MessagePart | null)[] = [];
  let [drawn, size] = [0, 0];
  for (const change of changes.slice(0, most)) {
    const parts = draw(change);
    size += Buffer.byteLength(JSON.stringify(parts.map((part) => part?.block)));
    if (size > bytes) break;
    shown.push(...(drawn > 0 ? [DIVIDER] : []), ...parts);
    drawn += 1;
  }
  const left = changes.length - drawn;
  return [...shown, left > 0 ? noteLine(`${left} more not shown. Each has its card.`) : null];
}

const DIVIDER: MessagePart = { block: { type: 'divider' }, text: '' };

/** Everything that the card shows before a change runs, for an approver who decides here. */
export function toDecide(change: Change, linkOf: LinkOf): HomeParts {
  const { id, requester, createdAt, reason, plan, approvals, requires } = change;
  return [
    lines(
      [{ bold: actionText(change) }, ` · ${id}`],
      ...targetLines(change),
      ...plan.warnings.map((warning): Line => [{ bold: '⚠ ' }, warning]),
      ...planLines(change.plan),
      fact('Requested by', { user: requester }, ', ', { at: createdAt }),
      ...(reason ? [fact('Reason', reason)] : []),
      ...costPerDayLines(plan),
      ...timingLines(change),
      ...(approvals.length > 0 ? [approved(change)] : []),
      fact('Needs', needed(requires.count, approvals.length)),
      fact('Expires', { at: change.expiresAt }, ...placeOf(change, linkOf)),
    ),
    actions(
      change,
      { id: 'change.approve', label: 'Approve', value: id, style: 'primary' },
      { id: 'change.reject', label: 'Reject', value: id, style: 'danger' },
      { id: 'change.details', label: 'Show request', value: id },
    ),
  ];
}

export function ownRequest(change: Change, { linkOf, commands }: RowDrawing): HomeParts {
  const { id, state, approvals, requires } = change;
  const counted = state === 'pending' ? ` (${approvals.length} of ${requires.count})` : '';
  return [
    lines(
      [`${cardTitle(change, commands)}${counted} · ${id}`, ...placeOf(change, linkOf)],
      ...timingLines(change),
    ),
    actions(change, { id: 'change.cancel', label: 'Cancel', value: id }),
  ];
}

/** An unknown outcome, or an emergency change to review. Other users read who can record the outcome. */
export function toAnswerRow(change: Change, mayAnswer: boolean, drawing: DrawContext): HomeParts {
  const { id, requires } = change;
  const isUnknown = change.state === 'unknown';
  const who = roleText(drawing.policy, requires.from ?? requires.to);
  const blocked = 'Other changes to this target are blocked until the outcome is recorded.';
  return [
    lines(
      [`${cardTitle(change, drawing.commands)} · ${id}`, ...placeOf(change, drawing.linkOf)],
      ...breakGlassLines(change),
      ...(isUnknown ? [[blocked]] : []),
      ...(mayAnswer ? [] : [[`${who} can record it after a check of the console.`]]),
    ),
    mayAnswer
      ? actions(change, ...(isUnknown ? outcomeButtons(change, drawing) : reviewButtons(change)))
      : null,
  ];
}

/** What a row of a change needs for drawing. */
export type RowDrawing = Pick<DrawContext, 'linkOf' | 'commands'>;

/** One line for a change that is in progress or has ended. */
export function homeRow(change: Change, drawing: RowDrawing): Line {
  const { text, about } = rowOfChange(change, drawing);
  return [`${text} · `, ...about];
}

/** Title and state of a change, and apart from them who requested it, when, and its card. */
export function rowOfChange(
  change: Change,
  { linkOf, commands }: RowDrawing,
): { readonly text: string; about: Line } {
  const { requester, createdAt } = change;
  const requested: Line = [{ user: requester }, ', ', { at: createdAt }];
  const timing = timingLines(change).flatMap((line): Line => [' · ', ...line]);
  return {
    text: cardTitle(change, commands),
    about: [...requested, ...timing, ...placeOf(change, linkOf)],
  };
}

// The id names the buttons, because one change can be in two lists of the same view.
function actions({ id, version }: Change, ...all: readonly Button[]): MessagePart | null {
  const kinds = all.map((button) => button.id).join(' ');
  return buttons(`home:${id}:${version}:${kinds}`, ...all);
}

function needed(count: number, have: number): string {
  if (have > 0) return `${count - have} more of ${count}`;
  return countWords(count, 'approval');
}

function approved({ approvals }: Change): Line {
  const names = approvals.flatMap(({ by }, index): RichInline[] => [
    ...(index > 0 ? [', '] : []),
    { user: by },
  ]);
  return fact('Approved by', ...names);
}

function placeOf(change: Change, linkOf: LinkOf): Line {
  const place = cardPlace(change, 'card', linkOf);
  return place.length > 0 ? [' · ', ...place] : [];
}
