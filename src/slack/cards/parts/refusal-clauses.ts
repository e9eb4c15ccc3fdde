import { slashCommand } from '../../../domain/answer.ts';
import type { BlockingFreeze, Change, State, Verb } from '../../../domain/change.ts';
import type { Denial } from '../../../domain/gate.ts';
import type { Freeze, Policy } from '../../../domain/policy.ts';
import type { Line } from '../../blocks/rich-text.ts';
import type { DrawContext } from '../draw-context.ts';
import { roleText } from '../naming.ts';

const STATES: Readonly<Record<State, string>> = {
  draft: 'it is not requested yet',
  pending: 'it is waiting for approval',
  approved: 'it was approved',
  executing: 'it is running',
  succeeded: 'it was accepted',
  failed: 'it was rejected by the server',
  unknown: 'its outcome is unknown',
  rejected: 'it was rejected',
  cancelled: 'it was cancelled',
  expired: 'it has expired',
  stale: 'the target changed since the preview',
  denied: 'the policy refuses it',
};

const AGAIN_IF_NEEDED = 'Request it again if it is still needed.';
const FOLLOW = 'Updates appear in the thread of its card.';

/** What a user can do next about a change in this state. */
export const NEXT_STEP: Readonly<Record<State, string>> = {
  draft: 'Its requester must request approval first.',
  pending: 'An approver can decide on its card.',
  approved: FOLLOW,
  executing: FOLLOW,
  succeeded: 'Its card shows the response.',
  failed: AGAIN_IF_NEEDED,
  unknown: 'Record the outcome on its card.',
  rejected: AGAIN_IF_NEEDED,
  cancelled: AGAIN_IF_NEEDED,
  expired: AGAIN_IF_NEEDED,
  stale: AGAIN_IF_NEEDED,
  denied: AGAIN_IF_NEEDED,
};

const LATE: Readonly<Record<Verb, string>> = {
  confirm: 'confirm',
  approve: 'approve',
  reject: 'reject',
  cancel: 'cancel',
  'break-glass': 'use break-glass',
  review: 'review',
  happened: 'record the outcome',
  'did-not-happen': 'record the outcome',
  snooze: 'snooze the reminders',
};

/** `Too late to cancel` */
export function tooLate({ press }: Denial): string {
  return press ? `Too late to ${LATE[press.verb]}` : 'Too late';
}

/** `: it was approved by Ben, 14:01. Updates appear in the thread of its card.` */
export function stateClause({ change }: Denial): Line {
  if (!change) return ['.'];
  return [`: ${STATES[change.state]}`, ...decidedBy(change), `. ${NEXT_STEP[change.state]}`];
}

/** In plain text, for a field of a form: `Too late: it has expired. Request it again …` */
export const lateSentence = (state: State): string =>
  `Too late: ${STATES[state]}. ${NEXT_STEP[state]}`;

/** Names only the user who brought about this state: an approver did not cancel the change. */
export function decidedBy({ state, approvals, rejection, cancelledBy }: Change): Line {
  if (state === 'cancelled' && cancelledBy) return [' by ', { user: cancelledBy }];
  const verdict = state === 'rejected' ? rejection : state === 'approved' && approvals.at(-1);
  return verdict ? [' by ', { user: verdict.by }, ', ', { at: verdict.at }] : [];
}

/** ` (year end, by Gus).` */
export function freezeNote({ reason, by, made }: BlockingFreeze): Line {
  const author: Line = made ? [', by ', { user: made.by }] : by ? [`, by ${by}`] : [];
  return [` (${reason}`, ...author, ').'];
}

export function unfreezeHint({ made }: Freeze, { prefix }: DrawContext): string {
  return made
    ? ` ${slashCommand(prefix, `change unfreeze ${made.id}`)} ends it.`
    : ' It is set in signalbox.yaml.';
}

/** ` (rule 2, @db-leads)` */
export function ruleNote({ rule, role }: Denial, { policy }: DrawContext): Line {
  return rule === null ? [] : [` (rule ${rule}, ${roleText(policy, role)})`];
}

export function ruleName(rule: number | null): string {
  return rule === null ? 'The rule of this change' : `Rule ${rule}`;
}

/** ` of at least 20 characters`, where the rule requires a reason of that length. */
export function minimumLength({ rules }: Policy, place: number | null): string {
  const minimum = rules.find((rule) => rule.place === place)?.reason.minimum ?? 1;
  return minimum > 1 ? ` of at least ${minimum} characters` : '';
}

/** `stop analytics-prod`; what is not a change of a service is named by its command. */
export function refusedAction(denial: Denial, drawing: DrawContext): string {
  const { command, target } = denial;
  const [noun, verb] = (command ?? '').split(' ');
  const isChange = command !== null && drawing.commands.has(command);
  return noun === 'service' && isChange && target
    ? `${verb} ${target}`
    : `use ${refusedCommand(denial, drawing)}`;
}

/** `/service stop on analytics-prod`. A button is no command, but a rule names it like one. */
export function refusedCommand({ command, target }: Denial, { prefix }: DrawContext): string {
  const words = command ? slashCommand(prefix, command) : 'this command';
  const line = command === 'trail accept' ? '“Accept gap…” (trail accept)' : words;
  return target ? `${line} on ${target}` : line;
}
