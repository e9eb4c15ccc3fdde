import { slashCommand } from '../domain/answer.ts';
import type { BlockingFreeze, Change, Refusal, State, Verb } from '../domain/change.ts';
import { createDenial, type Denial } from '../domain/gate.ts';
import { type Freeze, neverRuleFor, type Policy } from '../domain/policy.ts';
import { standingOf } from '../domain/standing.ts';
import { STATE_WORDS, staleText } from '../domain/words.ts';
import { lines, type Message, message } from './blocks.ts';
import { cardLink } from './links.ts';
import { type DrawContext, neededText, peopleLine, roleText } from './naming.ts';
import type { Line } from './rich-text.ts';

const AGAIN_IF_NEEDED = 'Request it again if it is still needed.';
const FOLLOW = 'Updates appear in the thread of its card.';

/** What is true of a change in this state, and what a user can do next about it. */
const STATES: Readonly<Record<State, readonly [is: string, next: string]>> = {
  draft: ['it is not requested yet', 'Its requester must request approval first.'],
  pending: ['it is waiting for approval', 'An approver can decide on its card.'],
  approved: ['it was approved', FOLLOW],
  executing: ['it is running', FOLLOW],
  succeeded: ['it was accepted', 'Its card shows the response.'],
  failed: ['it failed', AGAIN_IF_NEEDED],
  unknown: ['its outcome is unknown', 'Record the outcome on its card.'],
  rejected: ['it was rejected', AGAIN_IF_NEEDED],
  cancelled: ['it was cancelled', AGAIN_IF_NEEDED],
  expired: ['it has expired', AGAIN_IF_NEEDED],
  stale: ['it was not run', AGAIN_IF_NEEDED],
  denied: ['the policy refuses it', AGAIN_IF_NEEDED],
};

/** What the press did, where its verb does not say it. */
const LATE: Readonly<Partial<Record<Verb, string>>> = {
  narrow: 'approve',
  'break-glass': 'use break-glass',
  happened: 'record the outcome',
  'did-not-happen': 'record the outcome',
};

/** `Too late to cancel` */
function tooLate({ press }: Denial): string {
  return press ? `Too late to ${LATE[press.verb] ?? press.verb}` : 'Too late';
}

/** `: it was approved by Ben, 14:01. Updates appear in the thread of its card.` */
function stateClause({ change }: Denial): Line {
  if (!change) return ['.'];
  const [is, next] = STATES[change.state];
  return [
    `: ${change.state === 'stale' ? staleText(change.stopReason) : is}`,
    ...decidedBy(change),
    `. ${standingOf(change) && !change.revoked ? 'Revoke it on its card.' : next}`,
  ];
}

/** In plain text, for a field of a form: `Too late: it has expired. Request it again …` */
export const lateSentence = (state: State): string => `Too late: ${STATES[state].join('. ')}`;

/** Names only the user who brought about this state: an approver did not cancel the change. */
function decidedBy({ state, approvals, rejection, cancelledBy }: Change): Line {
  if (state === 'cancelled' && cancelledBy) return [' by ', { user: cancelledBy }];
  const verdict = state === 'rejected' ? rejection : state === 'approved' && approvals.at(-1);
  return verdict ? [' by ', { user: verdict.by }, ', ', { at: verdict.at }] : [];
}

/** ` (year end, by Gus).` */
export function freezeNote({ reason, by, made }: BlockingFreeze): Line {
  const author: Line = made?.by ? [', by ', { user: made.by }] : by ? [`, by ${by}`] : [];
  return [` (${reason}`, ...author, ').'];
}

function unfreezeHint({ made }: Freeze, { prefix }: DrawContext): string {
  return made
    ? ` ${slashCommand(prefix, `change unfreeze ${made.id}`)} ends it.`
    : ' It is set in signalbox.yaml.';
}

/** ` of at least 20 characters`, where the rule requires a reason of that length. */
function minimumLength({ rules }: Policy, place: number | null): string {
  const minimum = rules.find(({ requires }) => requires.rule === place)?.leastReason ?? 1;
  return minimum > 1 ? ` of at least ${minimum} characters` : '';
}

/** `stop analytics-prod`; what is not a change of a service is named by its command. */
function refusedAction(denial: Denial, drawing: DrawContext): string {
  const { command, target } = denial;
  const [noun, verb] = (command ?? '').split(' ');
  const isChange = command !== null && drawing.commands.has(command);
  return noun === 'service' && isChange && target
    ? `${verb} ${target}`
    : `use ${refusedCommand(denial, drawing)}`;
}

/** `/service stop on analytics-prod`. */
function refusedCommand({ command, target }: Denial, { prefix }: DrawContext): string {
  const words = command ? slashCommand(prefix, command) : 'this command';
  return target ? `${words} on ${target}` : words;
}

/** For a user whom no rule names, in place of a list of commands. */
export const NO_COMMAND = 'No rule of the policy allows you a command.';

type Sentence = (denial: Denial, drawing: DrawContext) => string | Line;

const AGAIN = 'Try again in a minute.';
const DOCTOR = 'If it fails again, an operator of Signalbox can run the doctor.';

/** The answer for each refusal: what happened, why, and what to do next. */
const SENTENCES: Readonly<Record<Refusal, string | Sentence>> = {
  'not-found': 'This change no longer exists. Request it again.',
  'not-draft': (denial) => ['This was already requested', ...stateClause(denial)],
  'not-pending':
    'The requester has not requested approval yet. Decide on the card once it is posted.',
  'not-approved': (denial) => ['This is not approved', ...stateClause(denial)],
  'not-executing': (denial) => ['This is not running', ...stateClause(denial)],
  'not-unknown': (denial) => ['The outcome is already known', ...stateClause(denial)],
  expired: (denial) => [
    `${tooLate(denial)}: it has expired. Nothing was changed. Request it again.`,
  ],
  'not-requester': ({ change }) => [
    'Only the requester',
    ...(change ? [', ', { user: change.requester }, ','] : []),
    ' can do this. Ask them to do it.',
  ],
  'self-approval': (denial, drawing) => {
    const [action, duty] = denial.change?.breakGlass
      ? ['used break-glass', 'review']
      : ['requested this change', 'approve'];
    const others = alternatives(denial, drawing);
    const reason = `You ${action}, so someone else must ${duty} it`;
    const group = denial.role === null ? [] : [`: ${roleText(drawing.policy, denial.role)}`];
    return [reason, ...(others.length > 0 ? others : group), '.'];
  },
  'already-approved': ({ change, press }, drawing) => {
    const own = change?.approvals.find(({ by }) => by === press?.by);
    const when: Line = own ? [', ', { at: own.at }] : [];
    const needed = change ? ` ${neededText(change, drawing)}` : '';
    return ['Already approved by you', ...when, `.${needed}`];
  },
  wider:
    'These values are not within the request as it is now, so nothing was approved. ' +
    'Its card shows what is requested: choose “Approve with less…” again.',
  'not-narrower': 'Nothing is less than requested. Press Approve on the card, or lower a value.',
  'already-decided': (denial, drawing) => {
    const { change } = denial;
    // It ended before the press, for a reason that its card names.
    if (change?.stopReason && change.stopReason !== denial.refusal) {
      return [`${tooLate(denial)}. `, ...stoppedLine(change, drawing)];
    }
    const verdict = change ? decidedBy(change) : [];
    return change && verdict.length > 0
      ? [`Already ${STATE_WORDS[change.state]}`, ...verdict, `. ${STATES[change.state][1]}`]
      : [tooLate(denial), ...stateClause(denial)];
  },
  'note-required': 'Describe what you found: the next person relies on it.',
  'too-early': `This is still running. ${AGAIN}`,
  'already-received': 'This press was already received. It counts once.',
  'not-in-time':
    'Signalbox could not handle this press within 15 minutes, so nothing was done. Press again.',
  'target-changed': ({ target }) =>
    `${target ?? 'The target'} changed after the preview. Nothing was sent. ` +
    'Request it again with the current values.',
  'tags-changed': ({ target }) =>
    `The tags or the warehouse of ${target ?? 'the target'} changed or are unknown now, ` +
    'so other rules apply. Nothing was sent. Request it again.',
  'approvals-missing': ({ role }, { policy }) =>
    'The current policy requires more approvals than this change has' +
    `${role === null ? '' : ` (${roleText(policy, role)})`}. Nothing was sent. Request it again.`,
  'schedule-ended':
    'Its schedule was paused, removed or replaced, or has expired. Nothing was sent.',
  'standing-ended': (denial) =>
    denial.press?.verb === 'revoke'
      ? 'This standing approval has ended: nothing runs by it any more.'
      : 'The standing approval has ended: it expired, was revoked or lost its card. Nothing was sent. Request it again.',
  'standing-used':
    'The standing approval has no use left. Nothing was sent. Request it again for approval.',
  'not-covered':
    'The standing approval does not cover this: its command, target, values or time differ. Nothing was sent. ' +
    'Request it again for approval.',
  'too-late': 'The scheduled time has passed. Request it again with a later time.',
  'no-break-glass': 'The policy does not allow break-glass here. The change needs its approvals.',
  'may-not-break-glass': (denial, drawing) => [
    `Only ${roleText(drawing.policy, denial.role)} may use break-glass here`,
    ...alternatives(denial, drawing),
    '.',
  ],
  'not-ended': 'This has not ended yet. Review it when it has ended.',
  'already-reviewed': ({ change }) =>
    change?.review
      ? ['Already reviewed by ', { user: change.review.by }, ', ', { at: change.review.at }, '.']
      : ['This was already reviewed.'],
  restored:
    'The database lost events that people saw, for example after a restore, so it is unknown what was sent. ' +
    'Check the current state of the target, then request it again.',
  'card-deleted':
    'The card of this change was deleted, so nobody can see what was agreed to. Nothing was sent. ' +
    'Request it again.',
  'foreign-place':
    'This button is not where Signalbox put it, so the press does not count. The operators were notified. ' +
    'Press the button on the card of the change, or request it again.',
  'older-state': ({ change }, { linkOf }) => {
    const card = change?.states?.at(-1) ?? null;
    const newest = cardLink({ card }, 'the newest reply', linkOf);
    return ['This message shows an older state. Press the button on ', newest, ' in its thread.'];
  },
  'lookup-failed': (_denial, { isLost, lookupRefusal }) => {
    if (isLost())
      return 'Signalbox is no longer installed in this workspace, so nothing was done. Ask its operators.';
    const word = lookupRefusal();
    return word === null
      ? `Slack did not answer the membership lookup, so nothing was done. ${AGAIN}`
      : `Slack refused the membership lookup (${word}), so nothing was done. ${AGAIN} ${DOCTOR}`;
  },
  deactivated: 'This account is deactivated. An administrator of the workspace can activate it.',
  guest: 'Guests cannot use Signalbox. Ask a full member of the workspace to request it.',
  bot: 'Apps and bots cannot use Signalbox. A user must request it.',
  'other-workspace':
    'Only members of this workspace can use Signalbox. Ask one of them to request it.',
  'unlisted-workspace':
    'Signalbox does not serve this workspace of the organization. Its operators can list it in signalbox.yaml.',
  'rate-limited': ({ until }) => [
    'You sent too many requests in a short time, so this one was ignored. ',
    ...(until ? ['You can request again at ', { at: until }, '.'] : [AGAIN]),
  ],
  'no-rule': (denial, drawing) =>
    denial.rule === null
      ? `No rule of the policy allows ${refusedCommand(denial, drawing)}. ` +
        'The owners of signalbox.yaml can add one.'
      : `signalbox.yaml has no tags or no warehouse for ${denial.target ?? 'the target'}, ` +
        'so its rules do not apply. The owners of signalbox.yaml can add them.',
  'not-a-requester': notARequester,
  'not-an-approver': (denial, { policy }) => {
    const roles = roleText(policy, denial.role);
    const { who } = denial;
    const asked: Line = who?.users.length ? peopleLine(who) : [`a member of ${roles}`];
    return [`Only ${roles} can decide this. Ask `, ...asked, '.'];
  },
  frozen: ({ freeze, target }, drawing) => {
    const subject = target ?? 'The target';
    if (!freeze) {
      return [
        `${subject} is frozen. ${slashCommand(drawing.prefix, 'change freezes')} shows until when.`,
      ];
    }
    const until: Line = [`${subject} is frozen until `, { at: freeze.until }];
    return [...until, ...freezeNote(freeze), unfreezeHint(freeze, drawing)];
  },
  never: (denial, drawing) => {
    const why = denial.never ? `: ${denial.never.reason}` : '';
    const rest = 'Break-glass does not override this. The owners of signalbox.yaml can change it.';
    return `The policy never allows ${refusedCommand(denial, drawing)}${why}. ${rest}`;
  },
  'reason-required': ({ rule }, { policy }) =>
    `The policy requires a reason${minimumLength(policy, rule)}. Add it at the end of the ` +
    'command, for example “nightly maintenance”.',
  'not-listed': ({ target }) =>
    `${target === null ? 'The target' : `“${target}”`} is not in signalbox.yaml, ` +
    'and the policy does not allow this for discovered services.',
  'not-verified': ({ target }) => [
    `Signalbox could not verify ${target === null ? 'the target' : `“${target}”`}: the server did not `,
    'return its current tags and warehouse. Nothing was sent. ',
    `The service is not in signalbox.yaml, so the policy needs them. ${AGAIN} ${DOCTOR}`,
  ],
  'agent-not-admitted': ({ change }, { policy }) => {
    const agent = change?.via ? `the agent ${change.via.agent}` : 'this agent';
    return [
      policy.agents?.has(change?.via?.agent ?? '') === false
        ? `signalbox.yaml does not name ${agent} any more. `
        : `No rule of the policy admits ${agent} here. `,
      'A person can request it, and the owners of signalbox.yaml can change the rule.',
    ];
  },
  'agent-limit': ({ until }) => [
    'This agent has as many requests as it may have. ',
    ...(until
      ? ['It can request again at ', { at: until }, '.']
      : ['Wait for one, or cancel one.']),
  ],
  'key-used': 'This request key was used for another request in the last 7 days. Use another key.',
};

export function refusalLine(denial: Denial, drawing: DrawContext): Line {
  const known = SENTENCES[denial.refusal];
  const sentence = typeof known === 'string' ? known : known(denial, drawing);
  return typeof sentence === 'string' ? [sentence] : sentence;
}

export function refusalMessage(denial: Denial, drawing: DrawContext): Message {
  return message(lines(refusalLine(denial, drawing)));
}

/** Why an approved change was not run, in words for everyone who reads its card. */
export function stoppedLine(change: Change, drawing: DrawContext): Line {
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

function notARequester(denial: Denial, drawing: DrawContext): Line {
  const { role, who, command } = denial;
  const roles = roleText(drawing.policy, role);
  const reason = `You can't ${refusedAction(denial, drawing)}: only ${roles} may. `;
  // A query answers only the user who sends it, so nobody can run it for another user.
  if (command && !drawing.commands.has(command)) return [reason, `Ask to join ${roles}.`];
  if (!who || (who.users.length === 0 && who.more)) return [reason, `Ask a member of ${roles}.`];
  const others: Line = who.users.length > 0 ? peopleLine(who) : ['Nobody else'];
  return [reason, ...others, ' can request it for you.'];
}

/** `: Ben, Cleo or Gus`; empty when the lookup found nobody. */
function alternatives({ who, role, change }: Denial, { policy }: DrawContext): Line {
  if (!who || who.users.length === 0) return [];
  // After an escalation the others may be members of another group.
  const isOneGroup = role !== null && !change?.requires.escalation;
  return [': ', ...peopleLine(who, isOneGroup ? ` from ${roleText(policy, role)}` : '')];
}
