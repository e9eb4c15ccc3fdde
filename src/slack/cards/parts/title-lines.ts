import type { Change } from '../../../domain/change.ts';
import { fact } from '../../blocks/blocks.ts';
import { bounded, type Line } from '../../blocks/rich-text.ts';
import type { DrawContext } from '../draw-context.ts';
import { lowerActionText, lowerFirst, requestedAction } from '../naming.ts';
import { cardTitle } from './state-text.ts';

const ACTION_MAX = 100;

/** The first lines of a card: requester, action and target, or the state; for an emergency, why. */
export function titleLines(change: Change, { commands }: Titling): readonly Line[] {
  const { id, state, requester, breakGlass, expiresAt, plan } = change;
  const action = bounded(lowerActionText(change), ACTION_MAX);
  if (breakGlass) return [...emergencyLines(change, action), stateLine(change, commands)];
  if (state !== 'pending') return [stateLine(change, commands)];
  const until = plan.timing?.startAt ? 'approve by' : 'expires';
  const asked = lowerFirst(bounded(requestedAction(change), ACTION_MAX));
  const title: Line = [{ bold: '○ ' }, { user: requester }, { bold: ` requests: ${asked}` }];
  return [[...title, ` · ${id} · ${until} `, { at: expiresAt }]];
}

type Titling = Pick<DrawContext, 'commands'>;

function stateLine(change: Change, commands: Titling['commands']): Line {
  return [{ bold: cardTitle(change, commands) }, ` · ${change.id}`];
}

function emergencyLines({ breakGlass, review }: Change, action: string): readonly Line[] {
  if (!breakGlass) return [];
  const { by, at, reason } = breakGlass;
  return [
    [{ bold: '⚠ EMERGENCY · ' }, { user: by }, { bold: `: ${action} without approval` }],
    fact('Reason', reason),
    review
      ? fact('Reviewed by', { user: review.by }, ', ', { at: review.at }, ': ', review.note)
      : fact('Reviewed by', 'nobody yet · used ', { at }),
  ];
}
