import type { Change } from '../../../domain/change.ts';
import { fact, lines, type Message, message, title } from '../../blocks/blocks.ts';
import type { DrawContext } from '../draw-context.ts';
import { ending } from '../ending.ts';
import { actionText, roleText } from '../naming.ts';
import {
  costLines,
  gapLines,
  planLines,
  readStateLine,
  redacted,
  seenLines,
  sendsLine,
  stateCheckLines,
  targetLines,
} from '../plan-lines.ts';
import { timingLines } from '../timing-lines.ts';
import { warningLine } from './summary.ts';

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
      fact(`Rule ${requires.rule}`, `${roleText(drawing.policy, requires.to)} may request`),
    ),
  );
}
