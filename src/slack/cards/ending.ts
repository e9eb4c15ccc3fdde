import type { Change, ExecutionOutcome, Resolution } from '../../domain/change.ts';
import { TARGET_TRAITS } from '../../domain/change.ts';
import { fact } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { consoleLink } from './card-link.ts';
import type { DrawContext } from './draw-context.ts';
import { followUp, laterState } from './follow/follow-up.ts';
import { isWarning, reachedEnd } from './parts/state-text.ts';

interface Ending {
  readonly facts: readonly Line[];
  /** What an unanswered request may have created, and replies that differ from the request. */
  readonly warnings: readonly Line[];
  /** Times and ids, which help to investigate. */
  readonly extras: readonly Line[];
}

/**
 * How an execution ended. The text claims no more than Signalbox knows. `isFull`: with all that the
 * server reported, also when a later state was read, and with the id of the request.
 */
export function ending(change: Change, drawing: DrawContext, isFull = false): Ending {
  const { outcome, resolution, state } = change;
  const none = { warnings: [], extras: [] };
  if (!outcome) return { ...none, facts: state === 'approved' ? waiting(change) : [] };
  const { lines, candidates } = followUp(change);
  const isReported = outcome.how === 'succeeded';
  const happened: readonly Line[] = resolution ? [resolutionLine(resolution)] : [];
  const words = outcomeWords(outcome, change, { drawing, isFull });
  return {
    facts: [...words, ...happened, ...(isReported ? [] : lines)],
    warnings: [...candidates, ...reportedWarnings(outcome)],
    extras: state === 'unknown' ? [] : [requestLine(outcome, change, isFull)],
  };
}

function resolutionLine({ by, note, evidence }: Resolution): Line {
  if (by !== 'signalbox' || !evidence) {
    return fact('Verified by', by === 'signalbox' ? 'Signalbox' : { user: by }, ': ', note);
  }
  const { shown, shownAt, before, beforeAt } = evidence;
  return fact(
    'Settled by evidence',
    ...[`the server shows ${shown} (`, { at: shownAt }],
    ...[`), before the request ${before} (`, { at: beforeAt }, ')'],
  );
}

function waiting({ notBefore, plan }: Change): readonly Line[] {
  if (!notBefore) return [['Queued behind another change; checked again before it runs.']];
  if (plan.timing?.startAt === notBefore.toISOString()) {
    return [['It can be cancelled until then. Signalbox checks everything again before it runs.']];
  }
  return [
    ['The server requested a pause, so nothing was sent. Next attempt: ', { at: notBefore }, '.'],
  ];
}

function outcomeWords(
  ending: ExecutionOutcome,
  change: Change,
  { drawing, isFull }: { drawing: DrawContext; isFull: boolean },
): readonly Line[] {
  const after = endingNote(change, drawing);
  const isLocal = TARGET_TRAITS[change.plan.target.kind].appliedBy === 'signalbox';
  if (ending.how === 'succeeded') {
    const plain = ending.reported.filter((each) => !isWarning(each));
    const later = change.followUp ? laterState(change.followUp, ending.at) : [];
    const shown = change.followUp?.seen && !isFull ? plain.slice(0, 1) : plain;
    const reported = shown.join(', ') || 'no details';
    // Signalbox stores freezes itself: no server reports on them.
    if (isLocal) return [[{ bold: 'Done. ' }, after]];
    const answer = [{ bold: 'The server reports: ' }, `${reported}.`, ...later];
    // The note is about the time until the target is settled.
    return reachedEnd(change, drawing.commands) === null ? [answer, [after]] : [answer];
  }
  if (ending.how === 'failed') {
    return [
      [{ bold: isLocal ? 'Reason: ' : 'Server response: ' }, answerOf(ending)],
      ['Nothing was changed. Fix the reported problem and request it again.'],
    ];
  }
  if (change.resolution) return [[{ bold: 'Known at the time: ' }, answerOf(ending)]];
  const open = consoleLink(change, drawing.console);
  const request = isFull && ending.requestId ? `, request ${ending.requestId}` : '';
  return [
    [
      ...[{ bold: 'Known so far' }, ' (', { at: ending.at }, `${request}): `, answerOf(ending)],
      ...(ending.status === 409 ? [' (despite the 409, it may have been applied)'] : []),
    ],
    ['Not sent again. Other changes to this target are blocked until this is resolved.'],
    ['Check the console', ...(open ? [' (', open, ')'] : []), ', then record what you found.'],
  ];
}

/** Values in the reply that are not as sent, each on a line of its own. */
function reportedWarnings(outcome: ExecutionOutcome): readonly Line[] {
  return outcome.how === 'succeeded'
    ? outcome.reported.filter(isWarning).map((each) => [each])
    : [];
}

function endingNote({ command, followUp }: Change, { commands }: DrawContext): string {
  const { endingNote: note = '', unfollowedNote = '' } = commands.get(command) ?? {};
  const isFollowed = followUp && !['unreadable', 'closed'].includes(followUp.state);
  return isFollowed || unfollowedNote === '' ? note : `${note} ${unfollowedNote}`;
}

function answerOf({ status, text }: ExecutionOutcome & { how: 'failed' | 'unknown' }): string {
  return status === null ? text : `${status} ${text}`;
}

function requestLine(ending: ExecutionOutcome, { plan }: Change, isFull: boolean): Line {
  const { at, tookMs, requestId } = ending;
  if (TARGET_TRAITS[plan.target.kind].appliedBy === 'signalbox') return fact('At', { at });
  const request = isFull && requestId ? ` · request ${requestId}` : '';
  const took = tookMs < 1_000 ? `${tookMs} ms` : `${(tookMs / 1_000).toFixed(1)} s`;
  // Without a status there was no answer, so there is no duration to show.
  if (ending.how === 'unknown' && ending.status === null) return fact('No answer', { at });
  return fact('Answered', { at }, `, after ${took}${request}`);
}
