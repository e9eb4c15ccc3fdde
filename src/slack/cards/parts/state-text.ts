import { type Change, hasAuditMismatch, type State } from '../../../changes/change.ts';
import { TARGET_TRAITS } from '../../../changes/target-kinds.ts';
import { bounded } from '../../blocks/rich-text.ts';
import { actionText } from '../naming.ts';

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

/** The state in words, as the title of a card shows it. */
export function stateText(change: Change): string {
  const { resolution, state, breakGlass, stopReason: stopped, parent } = change;
  if (hasAuditMismatch(change)) {
    const end = ['denied', 'stale'].includes(state) ? 'not run: ' : '';
    return `${end}it does not match the audit trail`;
  }
  if (stopped === 'restored') return 'not tracked: the database was restored';
  if (stopped === 'gap-accepted') return 'not run: a gap of the audit trail was accepted';
  if (state === 'approved' && parent) return 'planned';
  if (state === 'approved' && breakGlass) return 'emergency, without approval';
  if (!resolution) return titles(change)[state];
  return resolution.happened ? 'it happened' : 'it did not happen';
}

export function cardTitle(change: Change): string {
  // A long name must not push the state out of the first line.
  const mark = MARKS[hasAuditMismatch(change) ? 'denied' : change.state];
  return `${mark} ${bounded(actionText(change), 100)}: ${stateText(change)}`;
}
