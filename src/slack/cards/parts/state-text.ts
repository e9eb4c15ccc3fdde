import { changeSubject } from '../../../domain/answer.ts';
import type { FollowUp } from '../../../domain/change.ts';
import {
  type Change,
  hasAuditMismatch,
  type State,
  TARGET_TRAITS,
} from '../../../domain/change.ts';
import { bounded, oneLine } from '../../blocks/rich-text.ts';
import type { DrawContext } from '../draw-context.ts';
import { actionText, lowerFirst } from '../naming.ts';

const MARKS: Readonly<Record<State, string>> = {
  draft: '○',
  pending: '○',
  approved: '○',
  executing: '◐',
  succeeded: '●',
  failed: '✕',
  unknown: '?',
  rejected: '✕',
  cancelled: '✕',
  expired: '✕',
  stale: '✕',
  denied: '✕',
};

const TITLES: Readonly<Record<State, string>> = {
  draft: 'draft, not requested',
  pending: 'waiting for approval',
  approved: 'approved',
  executing: 'running',
  succeeded: 'accepted',
  failed: 'rejected by the server',
  unknown: 'outcome unknown',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
  stale: 'not run: it changed since the preview',
  denied: 'not run: the current policy refuses it',
};

// Signalbox stores freezes itself: no server accepts or rejects them.
function titles({ plan }: Change): Readonly<Record<State, string>> {
  return TARGET_TRAITS[plan.target.kind].appliedBy === 'signalbox'
    ? { ...TITLES, succeeded: 'done', failed: 'not done' }
    : TITLES;
}

/** The state in words, after the action. */
export function stateText(change: Change, commands: Commands): string {
  const { resolution, state, breakGlass, followUp, stopReason: stopped, parent } = change;
  if (hasAuditMismatch(change)) {
    const end = ['denied', 'stale'].includes(state) ? 'not run: ' : '';
    return `${end}it does not match the audit trail`;
  }
  if (stopped === 'restored') return 'not tracked: the database was restored';
  if (stopped === 'gap-accepted') return 'not run: a gap of the audit trail was accepted';
  if (state === 'approved' && parent) return 'planned';
  if (state === 'approved' && breakGlass) return 'emergency, without approval';
  if (state === 'succeeded' && followUp?.state === 'failed') return 'accepted, then failed';
  if (!resolution) return titles(change)[state];
  return lowerFirst(answerLabel(change, resolution.happened, commands));
}

type Commands = DrawContext['commands'];

/** What a person can answer about an unknown outcome: `It was stopped`, `It was not stopped`. */
export function answerLabel(
  { command }: Pick<Change, 'command'>,
  happened: boolean,
  commands: Commands,
): string {
  const done = commands.get(command)?.outcome.done;
  if (done === undefined) return happened ? 'It happened' : 'It did not happen';
  return happened ? `It was ${done}` : `It was not ${done}`;
}

const TITLE_MAX = 100;

/** The mark of the state, then the title without it. */
export function cardTitle(change: Change, commands: Commands): string {
  const mark = MARKS[hasAuditMismatch(change) ? 'denied' : change.state];
  return `${mark} ${plainTitle(change, commands)}`;
}

function plainTitle(change: Change, commands: Commands): string {
  // A long name must not push the state out of the first line.
  return (
    acceptedTitle(change, commands) ??
    `${bounded(actionText(change), TITLE_MAX)}: ${stateText(change, commands)}`
  );
}

/**
 * `staging is stopping`, `staging is stopped`. Null for a change that was not accepted, and where no
 * more is known than that it was.
 */
export function acceptedTitle(change: Change, commands: Commands): string | null {
  const { state, outcome, stopReason, followUp } = change;
  const words = commands.get(change.command)?.outcome;
  if (state !== 'succeeded' || stopReason || outcome?.how !== 'succeeded') return null;
  if (!words || UNCERTAIN.includes(followUp?.state ?? 'open')) return null;
  const { reported } = outcome;
  if (reported.length > 0 && reported.every(isWarning)) return null;
  const end = reachedEnd(change, commands);
  const { done, accepted = `is ${done}`, reached = `is ${end}` } = words;
  const progress = end === null ? accepted : reached;
  return `${bounded(oneLine(changeSubject(change)), TITLE_MAX)} ${progress}`;
}

/** The state that ends the command, from a later read or from the reply; null: not known to be reached. */
export function reachedEnd(change: Change, commands: Commands): string | null {
  const { followUp, outcome } = change;
  if (followUp?.state === 'settled') return followUp.seen?.text ?? null;
  const ends = commands.get(change.command)?.settled?.ends ?? [];
  const reported = outcome?.how === 'succeeded' ? outcome.reported : [];
  return reported.find((each) => ends.includes(each)) ?? null;
}

/** The target failed, or is not followed any more. */
const UNCERTAIN: readonly FollowUp['state'][] = ['failed', 'given-up', 'superseded'];

/** Whether a reported value is not as sent, or the reply is not that of the API. */
export function isWarning(reported: string): boolean {
  return reported.startsWith('⚠');
}
