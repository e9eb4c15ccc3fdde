import type { Change, EvidenceGap, FollowUp } from '../../../domain/change.ts';
import { fact } from '../../blocks/blocks.ts';
import { bounded, type Line, type RichInline } from '../../blocks/rich-text.ts';
import { lowerActionText } from '../naming.ts';

const WHY: Readonly<Record<EvidenceGap, string>> = {
  creation: 'Signalbox cannot tell whether this request created it: a person decides.',
  'not-as-requested': 'This is not yet what was requested. The request may still be applied.',
  'under-way': 'Its state moved as requested, so the request probably arrived.',
  'before-unknown':
    'The values before the request are unknown, so this does not prove that it was applied.',
  'was-so-before': 'It was so before the request, so this does not prove that it was applied.',
  'changed-since':
    'Another change of this target was sent since, so this does not prove that it was applied.',
  'trail-problem': 'The audit trail has a problem, so Signalbox settles nothing by itself.',
};

interface FollowUpLines {
  readonly lines: readonly Line[];
  readonly candidates: readonly Line[];
}

/** What the optional reads show of the target after the send. */
export function followUp({ state, followUp: follow, outcome, resolution }: Change): FollowUpLines {
  if (!follow) return { lines: [], candidates: [] };
  if (state === 'unknown') return unknownLines(follow);
  const { seen } = follow;
  // What was read before a resolution is no value after it.
  const isOutdated = seen && resolution && seen.at < resolution.at;
  const isHidden = follow.state === 'closed' || isOutdated;
  const later =
    state !== 'succeeded' || isHidden ? [] : laterState(follow, outcome?.at ?? new Date(0));
  const isShown = follow.seen !== null || follow.gap !== null;
  const label: Line = isShown ? [{ bold: 'The server reports:' }] : [];
  return { lines: later.length > 0 ? [[...label, ...later]] : [], candidates: [] };
}

const EVERY = 'checked every 30 s';
const NOT_READ_YET: Line = ['Signalbox checks the state every 30 s until it is done.'];

/** A reading within this time has its time without the day. */
const SAME_DAY_MS = 12 * 3_600_000;

/** After the state in the reply at `since`: the later one. Empty if nothing follows it. */
export function laterState({ state, seen, gap }: FollowUp, since: Date): Line {
  if (state === 'closed') return [];
  if (gap !== null && state !== 'superseded') {
    const last: Line = seen ? [`; last seen: ${seen.text}, `, { at: seen.at }] : [];
    const end = state === 'open' ? ['.'] : NOT_READ_AGAIN;
    return [` Later state unknown: ${gap}`, ...last, ...end];
  }
  if (seen === null) return state === 'open' ? [' ', ...NOT_READ_YET] : [];
  const isSoon = seen.at.getTime() - since.getTime() < SAME_DAY_MS;
  const time: RichInline = isSoon ? { at: seen.at, as: 'time' } : { at: seen.at };
  return [' ', time, `: ${seen.text}`, ...laterNote(state)];
}

function laterNote(state: FollowUp['state']): Line {
  if (state === 'superseded') return ['. A newer change of this service was sent since.'];
  if (state === 'given-up') return ['. Not settled after 30 min.', ...CHECK];
  if (state === 'failed') return ['.', ...CHECK];
  return [` (${EVERY})`];
}

const SHOWS = 'Server shows';
const CHECK: Line = [' Check the console.'];
const NOT_READ_AGAIN: Line = ['. Signalbox does not read it again.', ...CHECK];

function gapLine(gap: string, seen: FollowUp['seen']): Line {
  const last: Line = seen ? [`; last seen: ${seen.text}, `, { at: seen.at }] : [];
  return fact(SHOWS, `unknown: ${gap}`, ...last);
}

/** Beside the buttons: what a person who records the outcome can compare. */
function unknownLines({ seen, gap, why, candidates }: FollowUp): FollowUpLines {
  if (gap !== null) return { lines: [gapLine(gap, seen)], candidates: [] };
  if (seen === null) return { lines: [], candidates: [] };
  const shown = fact(SHOWS, `${seen.text} (checked `, { at: seen.at }, ')');
  return {
    lines: [shown, ...(why === null ? [] : [[WHY[why]]])],
    candidates: candidates.map(candidateLine),
  };
}

function candidateLine({ name, id, state, createdAt }: FollowUp['candidates'][number]): Line {
  const created: Line = createdAt ? [', created ', { at: createdAt }] : [', creation time unknown'];
  const about = [id, ...(state === null ? [] : [state])].join(' · ');
  return fact('Candidate', `“${bounded(name, 60)}” · ${about}`, ...created);
}

/** In the thread, once: how the target ended. */
export function followUpLine(change: Change): Line {
  const { requester, followUp: follow } = change;
  const what = `“${lowerActionText(change)}”`;
  const who: Line = [{ user: requester }, ' '];
  const { seen = null, state, gap = null } = follow ?? {};
  const shown: Line = seen ? [`${seen.text}, since `, { at: seen.at }, '.'] : ['unknown.'];
  if (state === 'settled') return [...who, `${what} is done. The server shows: `, ...shown];
  if (state === 'failed') {
    return [...who, `${what} was accepted and then failed. The server shows: `, ...shown, ...CHECK];
  }
  if (gap !== null) {
    const unread = `Signalbox could not read whether ${what} is done: ${gap}. Last seen: `;
    return [...who, unread, ...shown, ...CHECK];
  }
  return [...who, `${what} is not done after 30 min. Last seen: `, ...shown, ...CHECK];
}
