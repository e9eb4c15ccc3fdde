import { HOUR_MS } from '../base/time.ts';
import type { Change } from '../domain/change.ts';
import { standingOf } from '../domain/standing.ts';
import { buttons, fact, lines, type Message, message, title } from './blocks.ts';
import {
  decisionParts,
  mayRequestAgain,
  namesOf,
  ownBlock,
  previewBlock,
  previewButtons,
  reasonLines,
  requestAgainButtons,
} from './card.ts';
import {
  aboutLines,
  costLines,
  narrowingLines,
  planLines,
  readAtLines,
  redacted,
  sendsLine,
  stateCheckLines,
  targetLines,
  timingLines,
  warningLines,
} from './card-plan.ts';
import { cardTitle, ending, newsLines } from './card-state.ts';
import { cardLink, type LinkOf, openCard } from './links.ts';
import {
  actionText,
  type DrawContext,
  requestedAction,
  requesterLine,
  roleText,
} from './naming.ts';
import { bounded, type Line } from './rich-text.ts';

/** The whole request in private, for one reader; `isFull` with its private fields. */
export function fullRequest(change: Change, isFull: boolean, drawing: DrawContext): Message {
  const { createdAt, requires, rejection, breakGlass, review } = change;
  const plan = isFull ? change.plan : redacted(change.plan);
  const { facts, extras, warnings } = ending(change, drawing, true);
  return message(
    title(`${actionText(change)} (${change.id})`),
    lines(
      ...targetLines(change),
      ...newsLines(change, drawing),
      fact('Requested by', ...requesterLine(change), ', ', { at: createdAt }),
      ...reasonLines(change),
      ...(breakGlass ? [fact('Break-glass', breakGlass.reason)] : []),
      ...(review ? [fact('Review', review.note)] : []),
      ...(rejection ? [fact('Rejected', rejection.reason)] : []),
      ...aboutLines(change),
      ...readAtLines(plan),
      ...planLines(plan),
      ...narrowingLines(change),
      sendsLine(plan),
      ...timingLines(change),
      ...costLines(plan, true),
      ...warningLines(plan),
      ...stateCheckLines(change),
      ...facts,
      ...warnings,
      ...extras,
      fact('May request', roleText(drawing.policy, requires.to)),
    ),
  );
}

/** The preview of a draft, which only its requester sees. */
export function preview(draft: Change, drawing: DrawContext): Message {
  const question: Line = [{ bold: `${bounded(requestedAction(draft), 150)}?` }];
  return message(
    ...decisionParts(draft, drawing, {
      head: [question, ...(draft.via ? [fact('Requested by', `${draft.via.agent}, for you`)] : [])],
      plan: draft.plan,
      facts: [approvalLine(draft, drawing)],
    }),
    buttons(previewBlock(draft.id), ...previewButtons(draft)),
  );
}

function approvalLine({ requires, plan, news }: Change, { policy }: DrawContext): Line {
  if (requires.count === 0) return fact('Approval', 'not required');
  const found = news?.standing && standingOf(news.standing);
  if (news?.standing && found) {
    const { id, approvals } = news.standing;
    const left = `, ${found.left} of ${found.allowance.uses} uses left`;
    const by = `runs when you confirm: standing approval ${id} by `;
    return fact('Approval', by, ...namesOf(approvals), left);
  }
  const hours = requires.expiresAfterMs / HOUR_MS;
  const left = hours >= 1 ? `${+hours.toFixed(1)} h` : `${Math.round(hours * 60)} min`;
  const who = `${requires.count} of ${roleText(policy, requires.from)}`;
  const by = plan.timing?.startAt ? 'before it runs, ' : '';
  const self = requires.self ? '' : ', not you';
  return fact('Approval', `${who}${self} · ${by}expires in ${left}`);
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
  const { timing } = change.plan;
  if (!timing?.startAt)
    return ['It runs now. ', cardLink(change, 'The card', linkOf), ' shows the result.'];
  const card = cardLink(change, 'the card', linkOf);
  return ['It runs ', { at: new Date(timing.startAt) }, '. Cancel it on ', card, ' until then.'];
}
