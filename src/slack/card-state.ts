import { countWords } from '../domain/answer.ts';
import {
  type Change,
  changeSubject,
  type EvidenceGap,
  type ExecutionOutcome,
  type FollowUp,
  isEnded,
  isLocal,
  type News,
  nameWithin,
  type Resolution,
  type State,
  type Target,
} from '../domain/change.ts';
import { staleText, wordIn, wordOf } from '../domain/words.ts';
import { fact } from './blocks.ts';
import { cardLink, consoleLink } from './links.ts';
import {
  actionText,
  type DrawContext,
  lowerActionText,
  lowerFirst,
  requesterLine,
  roleText,
} from './naming.ts';
import { freezeNote } from './refusals.ts';
import { bounded, type Line, oneLine } from './rich-text.ts';

// How a card words the state of a change: its title, how its execution ended, and what later reads show.

/** The mark of a state, and the state in words. */
const TITLES: Readonly<Record<State, readonly [mark: string, title: string]>> = {
  draft: ['○', 'draft, not requested'],
  pending: ['○', 'waiting for approval'],
  approved: ['○', 'approved'],
  executing: ['◐', 'running'],
  succeeded: ['●', 'accepted'],
  failed: ['✕', 'rejected by the server'],
  unknown: ['?', 'outcome unknown'],
  rejected: ['✕', 'rejected'],
  cancelled: ['✕', 'cancelled'],
  expired: ['✕', 'expired'],
  stale: ['✕', 'not run'],
  denied: ['✕', 'not run: the current policy refuses it'],
};
/** Where no server answered. */
const LOCAL_TITLES: Readonly<Partial<Record<State, string>>> = {
  succeeded: 'done',
  failed: 'not done',
};

const TITLE_MAX = 100;

/** The mark of the state, then the title without it. */
export function cardTitle(change: Change, commands: Commands): string {
  const accepted = acceptedTitle(change, commands);
  const hasEnd = commands.get(change.command)?.settled !== undefined;
  const isUnderWay = accepted !== null && hasEnd && reachedEnd(change, commands) === null;
  const [mark] = TITLES[isUnderWay ? 'executing' : change.state];
  // A long name must not push the state out of the first line.
  const action = bounded(actionText(change), TITLE_MAX);
  return `${mark} ${accepted ?? `${action}: ${stateText(change, commands)}`}`;
}

/**
 * `staging is stopping`, `staging is stopped`. Null for a change that was not accepted, and where no
 * more is known than that it was: the answer had no details.
 */
export function acceptedTitle(change: Change, commands: Commands): string | null {
  const { state, outcome, stopReason, followUp } = change;
  const words = commands.get(change.command)?.outcome;
  if (state !== 'succeeded' || stopReason || outcome?.how !== 'succeeded') return null;
  if (!words || UNCERTAIN.includes(followUp?.state ?? 'open')) return null;
  const end = reachedEnd(change, commands);
  // What nobody reported is not claimed, neither here nor in the thread and the audit channel.
  if (end === null && !isLocal(change) && outcome.reported.every(isWarning)) return null;
  const { done, accepted = `is ${done}`, reached = `is ${end}` } = words;
  const progress = change.isOver ? `was ${done}` : end === null ? accepted : reached;
  return `${bounded(oneLine(changeSubject(change)), TITLE_MAX)} ${progress}`;
}

/** The state that ends the command, from a later read or from the reply; null: not known to be reached. */
function reachedEnd(change: Change, commands: Commands): string | null {
  const { followUp, outcome } = change;
  if (followUp?.state === 'settled') return wordIn(followUp.seen?.text ?? null);
  const ends = commands.get(change.command)?.settled?.ends ?? [];
  const reported = outcome?.how === 'succeeded' ? outcome.reported : [];
  return reported.find((each) => ends.includes(each)) ?? null;
}

/** The target failed, or is not followed any more. */
const UNCERTAIN: readonly FollowUp['state'][] = ['failed', 'given-up', 'superseded'];

/** Whether a reported value is not as sent, or the reply is not that of the API. */
function isWarning(reported: string): boolean {
  return reported.startsWith('⚠');
}

/** The state in words, after the action. */
export function stateText(change: Change, commands: Commands): string {
  const { resolution, state, breakGlass, followUp, stopReason: stopped, parent } = change;
  if (stopped === 'restored') return 'not tracked: the database was restored';
  if (state === 'stale' || state === 'denied') return `not run: ${staleText(stopped)}`;
  if (state === 'approved' && parent) return 'planned';
  if (state === 'approved' && breakGlass) return 'emergency, without approval';
  if (state === 'succeeded' && followUp?.state === 'failed') return 'accepted, then failed';
  if (resolution) return lowerFirst(answerLabel(change, resolution.happened, commands));
  const own = isLocal(change) || wasRefusedHere(change) ? LOCAL_TITLES[state] : undefined;
  return own ?? TITLES[state][1];
}

/** Signalbox itself refused the values of a failed change: no server answered. */
export function wasRefusedHere({ outcome }: Pick<Change, 'outcome'>): boolean {
  return outcome?.how === 'failed' && outcome.status === null;
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

/** What surrounds an open change, for everyone who decides about it. */
export function newsLines(change: Change, drawing: DrawContext): readonly Line[] {
  const { news, plan, state, expiresAt } = change;
  if (!news) return [];
  const { others, freezes, target, refusal } = news;
  return [
    ...(target ? [movedLine(plan.target, target)] : []),
    ...(refusal === 'not-verified' ? [[...WARNING, NOT_VERIFIED]] : []),
    ...freezes.map((freeze) => {
      const ends = state === 'pending' && expiresAt < freeze.until ? EXPIRES_FIRST : WAITS;
      const span: Line = [{ at: freeze.from }, ' and ', { at: freeze.until }];
      const note = [...freezeNote(freeze), refusal === 'frozen' ? ends : ''];
      return [...WARNING, 'Frozen between ', ...span, ...note];
    }),
    ...relatedLines(others, drawing),
  ];
}

const RELATED_SHOWN = 3;

/** The unknown ones first: they block; then those that are open. */
function relatedLines(others: News['others'], drawing: DrawContext): readonly Line[] {
  const blocking = others.filter(({ state }) => state === 'unknown');
  const open = others.filter((other) => !isEnded(other));
  const ordered = [...new Set([...blocking, ...open, ...others])];
  const lines = ordered.map((each) => relatedLine(each, drawing));
  const hidden = lines.length - RELATED_SHOWN;
  if (hidden <= 0) return lines;
  const more = `And ${countWords(hidden, 'more change')} of this target.`;
  return [...lines.slice(0, RELATED_SHOWN), [...WARNING, more]];
}

function relatedLine(change: Change, { linkOf, commands }: DrawContext): Line {
  const { id, createdAt, state } = change;
  const waits = state === 'unknown' ? ' A new request waits until it is recorded.' : '';
  return [
    ...[...WARNING, ...requesterLine(change), ` requested “${lowerActionText(change)}” `],
    ...[{ at: createdAt }, ' (', cardLink(change, id, linkOf)],
    `: ${stateText(change, commands)}).${waits}`,
  ];
}

const WARNING: Line = [{ bold: '⚠ ' }];
const NOT_VERIFIED =
  'Its current tags and warehouse are unknown: the server did not return them. This change waits.';

/** `Its tags are prod now; when requested: staging.` */
function movedLine(was: Target, now: Target): Line {
  const words = ({ tags, warehouse }: Target) =>
    [tags === null ? 'unknown tags' : tags.join(', ') || 'no tags', warehouse ?? 'no warehouse']
      .map((word) => bounded(word, 80))
      .join(' · ');
  const moved = `Its tags and warehouse are ${words(now)} now; when requested: ${words(was)}.`;
  return [...WARNING, moved];
}

const WAITS = ' This change waits until then.';
const EXPIRES_FIRST = ' This change expires before that. Request it again afterwards.';

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
  // Values in the reply that are not as sent, each on a line of its own.
  const reported = outcome.how === 'succeeded' ? outcome.reported.filter(isWarning) : [];
  return {
    facts: [...words, ...happened, ...(isReported ? [] : lines)],
    warnings: [...candidates, ...reported.map((each) => [each])],
    extras: state === 'unknown' ? [] : [requestLine(outcome, change, isFull)],
  };
}

function waiting({ notBefore, plan, notSent }: Change): readonly Line[] {
  if (!notBefore) return [['Not sent yet. Everything is checked again before it runs.']];
  if (plan.timing?.startAt === notBefore.toISOString()) {
    return [['It can be cancelled until then. Signalbox checks everything again before it runs.']];
  }
  const why: readonly Line[] = notSent ? [[{ bold: 'Not sent: ' }, notSent.why]] : [];
  return [['Nothing was sent yet. Next attempt: ', { at: notBefore }, '.'], ...why];
}

function outcomeWords(
  ending: ExecutionOutcome,
  change: Change,
  { drawing, isFull }: { drawing: DrawContext; isFull: boolean },
): readonly Line[] {
  const after = endingNote(change, drawing);
  if (ending.how === 'succeeded') {
    const plain = ending.reported.filter((each) => !isWarning(each));
    const later = change.followUp ? laterState(change.followUp) : [];
    // What was created is used by its addresses, also when a later state is known.
    const isNew = drawing.commands.get(change.command)?.hasSecret;
    const shown = change.followUp?.seen && !isFull && !isNew ? plain.slice(0, 1) : plain;
    const reported = shown.map(wordOf).join(', ') || 'no details';
    // Signalbox stores freezes itself: no server reports on them.
    if (isLocal(change)) {
      const what = change.plan.target.kind === 'freeze' ? 'freeze' : 'standing approval';
      // The title says what was done.
      return [[change.isOver ? `The ${what} has ended.` : after]];
    }
    const answer = [{ bold: 'The server reports: ' }, `${reported}.`, ...later];
    // The note is about the time until the target is settled.
    const entry = isNew && ending.createdId ? [entryLine(change, ending.createdId)] : [];
    const isReached = reachedEnd(change, drawing.commands) !== null;
    return [answer, ...entry, ...(isReached ? [] : [[after]])];
  }
  if (ending.how === 'failed') {
    return [
      [{ bold: wasRefusedHere(change) ? 'Reason: ' : 'Server response: ' }, answerOf(ending)],
      ['Nothing was changed. Fix the reported problem and request it again.'],
    ];
  }
  if (change.resolution) return [[{ bold: 'Known at the time: ' }, answerOf(ending)]];
  const open = consoleLink(change, drawing.console);
  const { from, to } = change.requires;
  const request = isFull && ending.requestId ? `, request ${ending.requestId}` : '';
  return [
    [
      ...[{ bold: 'Known so far' }, ' (', { at: ending.at }, `${request}): `, answerOf(ending)],
      ...(ending.status === 409 ? [' (despite the 409, it may have been applied)'] : []),
    ],
    ['Not sent again. Other changes to this target are blocked until this is resolved.'],
    ['Check the console', ...(open ? [' (', open, ')'] : []), ', then record what you found.'],
    [`${roleText(drawing.policy, from ?? to)} can record it.`],
  ];
}

/** The created service as `signalbox.yaml` lists it, to be pasted. */
function entryLine({ plan: { target } }: Change, id: string): Line {
  const { tags, warehouse, organization } = target;
  // A JSON text is YAML as well.
  const text = (value: string) => (/^[a-z][\w.-]*$/i.test(value) ? value : JSON.stringify(value));
  const place = warehouse === null ? '' : `, warehouse: ${text(warehouse)}`;
  const own = (tags ?? []).map(text).join(', ');
  const of = organization ? `, organization: ${organization.name}` : '';
  const entry = `- { name: ${text(nameWithin(target, target.name))}, id: ${id}${of}, tags: [${own}]${place} }`;
  return fact('For signalbox.yaml', { code: entry });
}

function answerOf({ status, text }: ExecutionOutcome & { how: 'failed' | 'unknown' }): string {
  return status === null ? text : `${status} ${text}`;
}

function endingNote({ command, followUp }: Change, { commands }: DrawContext): string {
  const { endingNote: note = '', unfollowedNote = '' } = commands.get(command) ?? {};
  const isFollowed = followUp && !['unreadable', 'closed'].includes(followUp.state);
  return isFollowed || unfollowedNote === '' ? note : `${note} ${unfollowedNote}`;
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

function requestLine(ending: ExecutionOutcome, change: Change, isFull: boolean): Line {
  const { at, tookMs, requestId } = ending;
  if (isLocal(change)) return fact('Carried out', { at });
  const request = isFull && requestId ? ` · request ${requestId}` : '';
  const took = tookMs < 1_000 ? `${tookMs} ms` : `${(tookMs / 1_000).toFixed(1)} s`;
  // Without a status there was no answer, so there is no duration to show.
  if (ending.how === 'unknown' && ending.status === null) return fact('No answer', { at });
  return fact('Answered', { at }, `, after ${took}${request}`);
}

interface FollowUpLines {
  readonly lines: readonly Line[];
  readonly candidates: readonly Line[];
}

/** What the optional reads show of the target after the send. */
export function followUp(change: Change): FollowUpLines {
  const { state, followUp: follow, resolution } = change;
  if (state === 'unknown') return unknownLines(change);
  // What was read before a resolution is no value after it.
  const isOutdated = follow?.seen && resolution && follow.seen.at < resolution.at;
  const later = state === 'succeeded' && follow && !isOutdated ? laterState(follow) : [];
  return { lines: later.length > 0 ? [later] : [], candidates: [] };
}

const SHOWS = 'Server shows';
export const CHECK: Line = [' Check the console.'];
const NOT_READ_AGAIN: Line = ['. Signalbox does not read it again.', ...CHECK];

/** Beside the buttons: what a person who records the outcome can compare. */
function unknownLines(change: Change): FollowUpLines {
  const { seen = null, gap = null, why = null, candidates = [] } = change.followUp ?? {};
  const note = lateNote(change);
  const late = note === null ? [] : [fact('Late answer', note)];
  if (gap !== null) {
    const line = fact(SHOWS, `unknown: ${gap}`, ...lastSeen(seen));
    return { lines: [...late, line], candidates: [] };
  }
  if (seen === null) return { lines: late, candidates: [] };
  const shown = fact(SHOWS, `${wordOf(seen.text)} (checked `, { at: seen.at }, ')');
  return {
    lines: [...late, shown, ...(why === null ? [] : [[WHY[why]]])],
    candidates: candidates.map(candidateLine),
  };
}

const LATE = {
  succeeded: 'the server accepted it',
  failed: 'the server rejected it',
  unknown: 'still not known',
  'not-sent': 'nothing was sent',
};

/** What came after the outcome had become unknown, as the note of a person who records it. */
export function lateNote({ lateAnswer: late }: Change): string | null {
  if (!late) return null;
  const { as, status, text } = late;
  return `${LATE[as]}: ${status === null ? '' : `${status} `}${text}`;
}

/** The note that a late answer offers for this answer of a person; null where it does not speak for it. */
export function offeredNote(change: Change, happened: boolean): string | null {
  const as = change.lateAnswer?.as ?? 'unknown';
  const speaks = happened ? as === 'succeeded' : as === 'failed' || as === 'not-sent';
  return speaks ? `Late answer: ${lateNote(change)}` : null;
}

const WHY: Readonly<Record<EvidenceGap, string>> = {
  creation: 'Signalbox cannot tell whether this request created it: a person decides.',
  'not-as-requested': 'This is not yet what was requested. The request may still be applied.',
  'under-way': 'Its state moved as requested, so the request probably arrived.',
  'before-unknown':
    'The values before the request are unknown, so this does not prove that it was applied.',
  'was-so-before': 'It was so before the request, so this does not prove that it was applied.',
  'changed-since':
    'Another change of this target was sent since, so this does not prove that it was applied.',
};

function lastSeen(seen: FollowUp['seen']): Line {
  return seen ? [`; last seen: ${wordOf(seen.text)} (`, { at: seen.at }, ')'] : [];
}

function candidateLine({ name, id, state, createdAt }: FollowUp['candidates'][number]): Line {
  const created: Line = createdAt ? [', created ', { at: createdAt }] : [', creation time unknown'];
  const about = [id, ...(state === null ? [] : [wordOf(state)])].join(' · ');
  return fact('Candidate', `“${bounded(name, 60)}” · ${about}`, ...created);
}

/** After the state in the reply: the later one. Empty if nothing follows it. */
export function laterState({ state, seen, gap }: FollowUp): Line {
  if (state === 'closed') return [];
  if (gap !== null && state !== 'superseded') {
    const end = state === 'open' ? ['.'] : NOT_READ_AGAIN;
    return [` Later state unknown: ${gap}`, ...lastSeen(seen), ...end];
  }
  if (seen === null)
    return state === 'open' ? [' Signalbox checks the state every 30 s until it is done.'] : [];
  // Slack begins a date with a small letter: no sentence begins with one.
  const note = LATER_NOTES[state] ?? [', checked every 30 s).'];
  return [` Last seen: ${wordOf(seen.text)} (`, { at: seen.at }, ...note];
}

const LATER_NOTES: Readonly<Partial<Record<FollowUp['state'], Line>>> = {
  superseded: ['). A newer change of this service was sent since.'],
  'given-up': ['). Not settled after 30 min.', ...CHECK],
  failed: [').', ...CHECK],
};
