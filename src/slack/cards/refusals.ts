import type { BlockingFreeze, Change, State } from '../../changes/change.ts';
import type { Refusal } from '../../changes/refusal.ts';
import { slashCommand } from '../../intent/slash-command.ts';
import { neverRuleFor } from '../../policy/decide.ts';
import type { Freeze, Policy } from '../../policy/policy-types.ts';
import { createDenial, type Denial } from '../../workflow/denial.ts';
import { lines, type Message, message } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import type { Drawing } from './drawing.ts';
import { peopleLine, roleText } from './naming.ts';

type Sentence = (denial: Denial, drawing: Drawing) => Line;

const AGAIN = 'Try again in a minute.';

/** The answer for each refusal: what happened, why, and what to do next. */
const SENTENCES: Readonly<Record<Refusal, Sentence>> = {
  'not-found': () => ['This change no longer exists. Request it again.'],
  'not-draft': (denial) => ['This was already requested. ', ...stateSentence(denial)],
  'not-pending': () => ['The requester has not requested approval yet.'],
  'not-approved': (denial) => ['This is not approved. ', ...stateSentence(denial)],
  'not-executing': (denial) => ['This is not running. ', ...stateSentence(denial)],
  'not-unknown': (denial) => ['The outcome is already known. ', ...stateSentence(denial)],
  expired: () => ['The time to decide has passed. Nothing was changed. Request it again.'],
  'not-requester': ({ change }) => [
    'Only ',
    change ? { user: change.requester } : 'the requester',
    ' can do that.',
  ],
  'self-approval': (denial, drawing) => {
    const [action, duty] = denial.change?.breakGlass
      ? ['used break-glass', 'review']
      : ['requested this change', 'approve'];
    const others = alternatives(denial);
    const reason = `You ${action}, so someone else must ${duty} it`;
    return [reason, ...ruleNote(denial, drawing), ...others, '.'];
  },
  'already-approved': () => ['You already approved this. It still needs approvals from others.'],
  'already-decided': (denial) => ['Too late. ', ...stateSentence(denial)],
  'note-required': () => ['Describe what you found: the next person relies on it.'],
  'too-early': () => [`This is still running. ${AGAIN}`],
  'already-received': () => ['This click was already received. It counts once.'],
  'target-changed': ({ target }) => [
    `${target ?? 'The target'} changed after the preview. Nothing was sent. `,
    'Request it again with the current values.',
  ],
  'approvals-missing': (denial, drawing) => [
    'The current policy requires more approvals than this change has',
    ...ruleNote(denial, drawing),
    '. Nothing was sent.',
  ],
  'too-late': () => ['The scheduled time has passed. Request it again with a later time.'],
  'no-break-glass': ({ rule }) => [
    `${ruleName(rule)} does not allow break-glass. The change needs its approvals.`,
  ],
  'may-not-break-glass': (denial, { policy }) => [
    `${ruleName(denial.rule)} allows break-glass only to ${roleText(policy, denial.role)}`,
    ...alternatives(denial),
    '.',
  ],
  'not-ended': () => ['This has not ended yet. Review it when it has ended.'],
  'already-reviewed': ({ change }) =>
    change?.review
      ? ['Already reviewed by ', { user: change.review.by }, ', ', { at: change.review.at }, '.']
      : ['This was already reviewed.'],
  restored: () => [
    'The database was restored from an older copy, so it is unknown what was sent since. ',
    'Check the current state of the target, then request it again.',
  ],
  'audit-mismatch': () => [
    'This change does not match the audit trail: the database was modified directly. ',
    'Nothing was sent. Report this to the Signalbox administrators.',
  ],
  'lookup-failed': () => [
    `Slack did not answer the membership lookup, so nothing was done. ${AGAIN}`,
  ],
  deactivated: () => ['This account is deactivated.'],
  guest: () => ['Guests cannot use Signalbox.'],
  bot: () => ['Apps and bots cannot use Signalbox.'],
  'other-workspace': () => ['Only members of this workspace can use Signalbox.'],
  'rate-limited': () => [
    'You sent too many requests in a short time, so this one was ignored. ',
    'Try again in a few minutes.',
  ],
  'no-rule': (denial, drawing) =>
    denial.rule === null
      ? [
          `No rule of the policy allows ${commandText(denial, drawing)}. `,
          'The owners of signalbox.yaml can add one.',
        ]
      : [
          `signalbox.yaml does not say enough about ${denial.target ?? 'the target'} to decide whether `,
          `rule ${denial.rule} applies, and later rules do not count. `,
          'The owners of signalbox.yaml can fix it.',
        ],
  'not-a-requester': notARequester,
  'not-an-approver': (denial, { policy }) => [
    `Only ${roleText(policy, denial.role)} can decide this`,
    denial.rule === null ? '' : ` (rule ${denial.rule})`,
    ...alternatives(denial),
    '.',
  ],
  frozen: ({ freeze, target }, drawing) => {
    const subject = target ?? 'The target';
    if (!freeze) return [`${subject} is frozen.`];
    const until: Line = [`${subject} is frozen until `, { at: freeze.until }];
    return [...until, ...freezeNote(freeze), unfreezeHint(freeze, drawing)];
  },
  never: (denial, drawing) => [
    `The policy never allows ${commandText(denial, drawing)}`,
    denial.never ? `: ${denial.never.reason}.` : '.',
    ' Break-glass does not override this.',
  ],
  'reason-required': ({ rule }, { policy }) => [
    `${ruleName(rule)} requires a reason${minimumLength(policy, rule)}. Add it at the end of the `,
    'command, for example “nightly maintenance”.',
  ],
};

export function refusalLine(denial: Denial, drawing: Drawing): Line {
  return SENTENCES[denial.refusal](denial, drawing);
}

export function refusalMessage(denial: Denial, drawing: Drawing): Message {
  return message(lines(refusalLine(denial, drawing)));
}

/** Why an approved change was not run, in words for everyone who reads its card. */
export function stoppedLine(change: Change, drawing: Drawing): Line {
  const { requires, plan, command, requester, frozenBy } = change;
  const { policy, prefix } = drawing;
  const { name } = plan.target;
  // Stored by us from the closed list of refusals, and read back as text.
  const refusal = change.stopReason as Refusal;
  if (refusal === 'no-rule') {
    return [`No rule of the current policy allows ${slashCommand(prefix, command)} on ${name}.`];
  }
  if (refusal === 'not-a-requester') {
    const roles = roleText(policy, requires.to);
    return ['The current policy does not let ', { user: requester }, ` request this (${roles}).`];
  }
  if (frozenBy) {
    const until: Line = [`${name} was frozen until `, { at: frozenBy.until }];
    return ['When it was due, ', ...until, ...freezeNote(frozenBy)];
  }
  if (refusal === 'reason-required') return ['The current rule requires a longer reason.'];
  const role = refusal === 'approvals-missing' ? requires.from : requires.breakGlass;
  const never = neverRuleFor(policy, { command, target: plan.target });
  return refusalLine(createDenial(refusal, { change, role: role ?? requires.to, never }), drawing);
}

function notARequester(denial: Denial, drawing: Drawing): Line {
  const { rule, role, who, command } = denial;
  const roles = roleText(drawing.policy, role);
  const reason = `You can’t use ${commandText(denial, drawing)}: rule ${rule ?? '?'} allows ${roles}. `;
  // A query answers only the user who sends it, so nobody can run it for another user.
  if (command && !drawing.commands.has(command)) return [reason, `Ask to join ${roles}.`];
  const others: Line = who && who.length > 0 ? peopleLine(who) : ['Nobody else'];
  return [reason, ...others, ' can request it for you.'];
}

/** `: Ben, Cleo or Gus`; empty when the lookup found nobody. */
function alternatives({ who }: Denial): Line {
  return who && who.length > 0 ? [': ', ...peopleLine(who)] : [];
}

const STATES: Readonly<Record<State, string>> = {
  draft: 'not requested yet',
  pending: 'waiting for approval',
  approved: 'approved',
  executing: 'running',
  succeeded: 'done',
  failed: 'rejected by the server',
  unknown: 'blocked: its outcome is unknown',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
  stale: 'out of date',
  denied: 'denied',
};

function stateSentence({ change }: Denial): Line {
  return change ? [`It is ${STATES[change.state]}`, ...decidedBy(change), '.'] : [];
}

// Names only the user who brought about this state: an approver did not cancel the change.
function decidedBy({ state, approvals, rejection, cancelledBy }: Change): Line {
  if (state === 'cancelled' && cancelledBy) return [' by ', { user: cancelledBy }];
  const verdict = state === 'rejected' ? rejection : state === 'approved' && approvals.at(-1);
  return verdict ? [' by ', { user: verdict.by }, ', ', { at: verdict.at }] : [];
}

/** ` (year end, by Gus).` */
export function freezeNote({ reason, by, made }: BlockingFreeze): Line {
  const author: Line = made ? [', by ', { user: made.by }] : by ? [`, by ${by}`] : [];
  return [` (${reason}`, ...author, ').'];
}

function unfreezeHint({ made }: Freeze, { prefix }: Drawing): string {
  return made
    ? ` ${slashCommand(prefix, `change unfreeze ${made.id}`)} ends it.`
    : ' It is set in signalbox.yaml.';
}

/** ` (rule 2, @db-leads)` */
function ruleNote({ rule, role }: Denial, { policy }: Drawing): Line {
  return rule === null ? [] : [` (rule ${rule}, ${roleText(policy, role)})`];
}

function ruleName(rule: number | null): string {
  return rule === null ? 'The rule of this change' : `Rule ${rule}`;
}

function minimumLength({ rules }: Policy, place: number | null): string {
  const minimum = rules.find((rule) => rule.place === place)?.reason.minimum ?? 1;
  return minimum > 1 ? ` of at least ${minimum} characters` : '';
}

/** `/service stop on analytics-prod` */
function commandText({ command, target }: Denial, { prefix }: Drawing): string {
  const line = command ? slashCommand(prefix, command) : 'this command';
  return target ? `${line} on ${target}` : line;
}
