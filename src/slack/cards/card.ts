import type { Change, State } from '../../changes/change.ts';
import {
  type Button,
  buttons,
  fact,
  lines,
  type Message,
  message,
  title,
} from '../blocks/blocks.ts';
import { bounded, either, type Line, type RichInline } from '../blocks/rich-text.ts';
import { breakGlassButton, breakGlassLines, reviewButtons } from './break-glass.ts';
import type { Drawing } from './drawing.ts';
import { endingLines } from './ending.ts';
import { actionText, roleText } from './naming.ts';
import {
  costLines,
  guarded,
  holdsGuarded,
  planLines,
  sendsLine,
  targetLines,
} from './plan-lines.ts';
import { stoppedLine } from './stopped-line.ts';
import { revertButtons, timingLines } from './timing-lines.ts';

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
  draft: 'not sent off yet',
  pending: 'waiting for approval',
  approved: 'approved',
  executing: 'running',
  succeeded: 'accepted',
  failed: 'refused by the server',
  unknown: 'nobody knows whether it happened',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
  stale: 'not run, for something changed meanwhile',
  denied: 'not run, for the policy refuses it now',
};

// A freeze is kept by us: no server accepts or refuses it.
function titles({ plan }: Change): Readonly<Record<State, string>> {
  return plan.target.kind === 'freeze'
    ? { ...TITLES, succeeded: 'done', failed: 'not done' }
    : TITLES;
}

/** How it stands, or how it ended. */
export function stateText(change: Change): string {
  const { resolution, state, brokenGlass, stopped, parent } = change;
  if (stopped === 'restored') return 'not followed any more, for the database was restored';
  if (state === 'approved' && parent) return 'planned';
  if (state === 'approved' && brokenGlass) return 'goes ahead without approvals';
  if (!resolution) return titles(change)[state];
  return resolution.happened ? 'it happened' : 'it did not happen';
}

export function cardTitle(change: Change): string {
  // A header ends at 150 letters, and a long name must not push the state out of it.
  return `${MARKS[change.state]} ${bounded(actionText(change), 100)}: ${stateText(change)}`;
}

/** The one public message of a change, drawn whole in every state it enters. */
export function changeCard(change: Change, drawing: Drawing): Message {
  return message(
    title(cardTitle(change)),
    lines(...facts(change), ...warnings(change), ...endingLines(change, drawing)),
    lines(
      ...people(change),
      ...why(change, drawing),
      ...call(change, drawing),
      ruleLine(change, drawing),
    ),
    buttons(drawnId(change), ...cardButtons(change, drawing)),
  );
}

// Slack wants a new id for each drawing: one is drawn anew for what takes it back as well.
function drawnId({ version, child }: Change): string {
  return ['card', version, ...(child ? [child.state] : [])].join(':');
}

function facts(change: Change): readonly Line[] {
  const { id, requester, reason, createdAt } = change;
  return [
    ...targetLines(change),
    fact('Asked by', { user: requester }, ', ', { at: createdAt }, ` · ${id}`),
    ...(reason ? [fact('Reason', reason)] : []),
    ...planLines(guarded(change.plan)),
    sendsLine(guarded(change.plan)),
    ...timingLines(change),
    ...costLines(change.plan),
  ];
}

function warnings({ state, plan }: Change): readonly Line[] {
  if (!['pending', 'approved'].includes(state)) return [];
  return plan.warnings.map((warning) => [{ bold: '! ' }, warning]);
}

function people(change: Change): readonly Line[] {
  const { approvals, requires, rejection, state } = change;
  const names: RichInline[] = approvals.flatMap(({ by }, index) => [
    ...(index > 0 ? [', '] : []),
    { user: by },
  ]);
  const counted = names.length > 0 ? names : ['nobody yet'];
  const approved = fact('Approved by', ...counted, ` (${approvals.length} of ${requires.count})`);
  return [
    ...breakGlassLines(change),
    ...(requires.count > 0 && (state === 'pending' || names.length > 0) ? [approved] : []),
    ...(rejection ? [fact('Rejected by', { user: rejection.by }, ': ', rejection.reason)] : []),
    ...(change.cancelledBy ? [fact('Cancelled by', { user: change.cancelledBy })] : []),
  ];
}

function why(change: Change, drawing: Drawing): readonly Line[] {
  return change.stopped ? [stoppedLine(change, drawing)] : [];
}

/** On what grounds it may be run at all: the place of its rule, and whose it is to ask. */
function ruleLine({ requires }: Change, { policy }: Drawing): Line {
  return fact('Rule', `${requires.rule}, for ${roleText(policy, requires.to)}`);
}

// The mention stands in the first drawing only, in effect: an edited message pings nobody.
function call(change: Change, drawing: Drawing): readonly Line[] {
  const { from, count, self } = change.requires;
  if (change.state !== 'pending' || from === null) return [];
  const groups = drawing.groupIds(from).map((group) => ({ group }));
  const who: Line = groups.length > 0 ? either(groups) : [`the role ${from}`];
  const notSelf: Line = self ? [] : [', not ', { user: change.requester }];
  return [
    fact('Needs', `${count} of `, ...who, ...notSelf),
    ...later(change, drawing),
    fact(change.plan.timing?.startAt ? 'Approve by' : 'Expires', { at: change.expiresAt }),
  ];
}

function later({ requires, confirmedAt }: Change, { policy }: Drawing): readonly Line[] {
  const { escalation } = requires;
  if (!escalation || !confirmedAt) return [];
  const at = new Date(confirmedAt.getTime() + escalation.afterMs);
  return [fact('Later', `${roleText(policy, escalation.to)} as well, from `, { at }, ' on')];
}

function cardButtons(change: Change, { commands }: Drawing): readonly Button[] {
  const value = change.id;
  const cancel = { id: 'change.cancel', label: 'Cancel', value };
  const details = holdsGuarded(change.plan)
    ? [{ id: 'change.details', label: 'Show all of it', value }]
    : [];
  if (change.state === 'pending') {
    return [
      { id: 'change.approve', label: 'Approve', value, style: 'primary' },
      { id: 'change.reject', label: 'Reject', value, style: 'danger' },
      ...(change.requires.breakGlass === null ? [] : [breakGlassButton(change)]),
      cancel,
      ...details,
    ];
  }
  if (change.state === 'approved') return [cancel, ...details];
  if (change.state === 'unknown') {
    return [
      { id: 'change.happened', label: 'It happened', value },
      { id: 'change.did-not-happen', label: 'It did not happen', value },
    ];
  }
  if (change.state !== 'succeeded') return [...revertButtons(change), ...reviewButtons(change)];
  const { target, before, body } = change.plan;
  const command = commands.get(change.command);
  const undo = command?.undo(target, before, body);
  return [
    ...(undo ? [{ id: 'change.undo', label: undo.label, value }] : []),
    ...(command?.hasSecret ? [{ id: 'change.reveal', label: 'Show the password', value }] : []),
    ...reviewButtons(change),
  ];
}
