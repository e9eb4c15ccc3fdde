import type { Change, Ending } from '../../changes/change.ts';
import { fact } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import type { Drawing } from './drawing.ts';

/** How an execution ended, in words that claim no more than is known. */
export function endingLines(change: Change, drawing: Drawing): readonly Line[] {
  const { ending, resolution } = change;
  if (!ending) return change.state === 'approved' ? waiting(change) : [];
  const happened: readonly Line[] = resolution
    ? [fact('Looked up by', { user: resolution.by }, ': ', resolution.note)]
    : [];
  return [...endingWords(ending, change, drawing), requestLine(ending, change), ...happened];
}

function waiting({ notBefore, plan }: Change): readonly Line[] {
  if (!notBefore)
    return [['It runs as soon as nothing else runs there, after a last look at all of it.']];
  if (plan.timing?.startAt === notBefore.toISOString()) {
    return [['Until then it can be cancelled. All of it is looked at once more before it runs.']];
  }
  return [['The server asked to wait, so nothing was sent. Next try: ', { at: notBefore }, '.']];
}

function endingWords(ending: Ending, change: Change, drawing: Drawing): readonly Line[] {
  const after = drawing.commands.get(change.command)?.endingNote ?? '';
  if (ending.how === 'succeeded') {
    const reported = ending.reported.join(', ') || 'no details';
    // A freeze is kept by us: there is no server to report of it.
    if (change.plan.target.kind === 'freeze') return [[{ bold: 'Done. ' }, after]];
    return [[{ bold: 'The server reports: ' }, `${reported}. ${after}`]];
  }
  if (ending.how === 'failed') {
    return [
      [
        { bold: change.plan.target.kind === 'freeze' ? 'Why: ' : 'The server said: ' },
        answerOf(ending),
      ],
      ['Nothing was changed. Mend what it names, then ask again.'],
    ];
  }
  if (change.resolution) return [[{ bold: 'What was known: ' }, answerOf(ending)]];
  return [
    [{ bold: 'What is known: ' }, answerOf(ending)],
    ['It will not be sent again by itself, and no other change of this target runs meanwhile.'],
    ['Look in the console, then tell everyone with one of the buttons.'],
  ];
}

function answerOf({ status, text }: Ending & { how: 'failed' | 'unknown' }): string {
  return status === null ? text : `${status} ${text}`;
}

function requestLine(ending: Ending, { plan }: Change): Line {
  const { at, tookMs, requestId } = ending;
  if (plan.target.kind === 'freeze') return fact('At', { at });
  const request = requestId ? ` · request ${requestId}` : '';
  const took = tookMs < 1_000 ? `${tookMs} ms` : `${(tookMs / 1_000).toFixed(1)} s`;
  // Without a status nothing was answered, and how long nobody waited says nothing.
  if (ending.how === 'unknown' && ending.status === null) return fact('No answer', { at });
  return fact('Answered', { at }, `, after ${took}${request}`);
}
