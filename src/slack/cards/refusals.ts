import type { Change, FrozenBy, State } from '../../changes/change.ts';
import type { Refusal } from '../../changes/refusal.ts';
import type { Freeze, Policy } from '../../policy/policy-types.ts';
import type { Denial } from '../../workflow/denial.ts';
import type { Line } from '../blocks/rich-text.ts';
import { peopleLine, roleText } from './naming.ts';

type Sentence = (denial: Denial, policy: Policy, prefix: string) => Line;

const AGAIN = 'Try again in a minute.';

/** What a person reads for each named "no": what happened first, then what to do. */
const SENTENCES: Readonly<Record<Refusal, Sentence>> = {
  'not-found': () => ['This change is not in my records any more. Ask for it again.'],
  'not-draft': (denial) => ['This was sent off already. ', ...state(denial)],
  'not-pending': () => ['Its requester has not asked for approval yet.'],
  'not-approved': (denial) => ['This is not approved. ', ...state(denial)],
  'not-executing': (denial) => ['This is not running. ', ...state(denial)],
  'not-unknown': (denial) => ['It is known by now what happened. ', ...state(denial)],
  expired: () => ['The time to decide is over and nothing was changed. Ask for it again.'],
  'not-requester': ({ change }) =>
    change
      ? ['Only ', { user: change.requester }, ' can do that.']
      : ['Only its requester can do that.'],
  'self-approval': (denial, policy) => [
    `You ${denial.change?.brokenGlass ? 'broke the glass' : 'asked for this change'} yourself; `,
    ...someone(denial, 'another approver'),
    ` must ${denial.change?.brokenGlass ? 'look at it' : 'approve it'}`,
    ...grounds(denial, policy),
    '.',
  ],
  'already-approved': () => ['You have approved this already. It waits for others.'],
  'already-decided': (denial) => ['This is decided. ', ...state(denial)],
  'note-required': () => ['Please say what you saw: the next person relies on it.'],
  'too-early': () => [`This is still under way. ${AGAIN}`],
  'lost-race': () => ['This very click has arrived before; it counts once.'],
  'target-moved': ({ target }) => [
    `${name(target)} was changed since this was shown. Nothing was sent; ask again to see it anew.`,
  ],
  'approvals-missing': (denial, policy) => [
    'The approvals that it has are not enough for the policy of today',
    ...grounds(denial, policy),
    '. Nothing was sent.',
  ],
  'too-late': () => ['The hour that it was to begin at is over. Ask again with a later one.'],
  'no-break-glass': ({ rule }) => [
    `${ruleName(rule)} does not let its requester do this alone; it needs its approvals.`,
  ],
  'may-not-break-glass': (denial, policy) => [
    `${ruleName(denial.rule)} lets only ${roleText(policy, denial.role)} do this alone. `,
    ...someone(denial, 'One of them'),
    ' can.',
  ],
  'not-over': () => ['This is not over yet. Look at it when it has ended.'],
  'already-reviewed': () => [
    'Somebody has looked at this already and written down what they found.',
  ],
  restored: () => [
    'The database was restored from an older copy, so nobody can say what was sent since. ',
    'Look at what the target is now, then ask again.',
  ],
  'not-told': () => [
    'This is not what the audit trail tells of this change: somebody wrote into the database. ',
    'Nothing was sent. Tell whoever looks after Signalbox.',
  ],
  'lookup-failed': () => [`Slack did not tell who is who just now, so nothing was done. ${AGAIN}`],
  deactivated: () => ['This account is deactivated.'],
  guest: () => ['Guests cannot use Signalbox.'],
  bot: () => ['Apps and bots cannot use Signalbox.'],
  'other-workspace': () => ['Only members of this workspace can use Signalbox.'],
  'too-many': () => [
    'That was a lot in a short time, so this one was not taken. Try again in a few minutes.',
  ],
  'no-rule': ({ command, target, rule }, _policy, prefix) =>
    rule === null
      ? [
          `No rule of the policy allows ${quoted(command, prefix)}${target ? ` on ${target}` : ''}. `,
          'Whoever looks after signalbox.yaml can add one.',
        ]
      : [
          `signalbox.yaml does not say enough of ${name(target)} to tell whether rule ${rule} is about `,
          'it, and no rule behind that one counts. Whoever looks after that file can mend it.',
        ],
  'not-a-requester': notARequester,
  'not-an-approver': (denial, policy) => [
    `Only ${roleText(policy, denial.role)} can decide this (${ruleName(denial.rule, 'its rule')}). `,
    ...someone(denial, 'One of them'),
    ' can.',
  ],
  frozen: ({ freeze, target }, _policy, prefix) =>
    freeze
      ? [
          `${name(target)} is frozen until `,
          { at: freeze.until },
          ...freezeNote(freeze),
          lifting(freeze, prefix),
        ]
      : [`${name(target)} is frozen.`],
  never: ({ command, target, never }, _policy, prefix) => [
    `Nobody may use ${quoted(command, prefix)}${target ? ` on ${target}` : ''}`,
    ...(never ? [`: ${never.reason}`] : []),
    '. signalbox.yaml rules it out for everyone, emergencies included.',
  ],
  'reason-required': ({ rule }, policy) => [
    `${ruleName(rule, 'This')} asks for a reason${atLeast(policy, rule)}: write it at the end of the `,
    'command, for example “nightly maintenance”.',
  ],
};

export function refusalLine(denial: Denial, policy: Policy, prefix = ''): Line {
  return SENTENCES[denial.refusal](denial, policy, prefix);
}

function notARequester(denial: Denial, policy: Policy, prefix: string): Line {
  const { command, target, rule } = denial;
  const what = `${quoted(command, prefix)}${target ? ` on ${target}` : ''}`;
  return [
    `You may not use ${what}. Rule ${rule ?? '?'} lets ${roleText(policy, denial.role)} ask. `,
    ...someone(denial, 'Nobody else'),
    ' can ask for you.',
  ];
}

function someone({ who }: Denial, otherwise: string): Line {
  return who && who.length > 0 ? peopleLine(who) : [otherwise];
}

const STATES: Readonly<Record<State, string>> = {
  draft: 'not sent off yet',
  pending: 'waiting for approval',
  approved: 'approved',
  executing: 'running',
  succeeded: 'done',
  failed: 'not done',
  unknown: 'in doubt',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
  stale: 'out of date',
  denied: 'denied',
};

function state({ change }: Denial): Line {
  return change ? [`It is ${STATES[change.state]}`, ...decidedBy(change), '.'] : [];
}

// Whoever approved did not thereby cancel, expire or run it: only who brought this state about.
function decidedBy({ state, approvals, rejection, cancelledBy }: Change): Line {
  if (state === 'cancelled' && cancelledBy) return [' by ', { user: cancelledBy }];
  const verdict = state === 'rejected' ? rejection : state === 'approved' && approvals.at(-1);
  return verdict ? [' by ', { user: verdict.by }, ', ', { at: verdict.at }] : [];
}

/** ` (year end, by Gus).` */
export function freezeNote({ reason, by, made }: FrozenBy): Line {
  const whose: Line = made ? [', by ', { user: made.by }] : by ? [`, by ${by}`] : [];
  return [` (${reason}`, ...whose, ').'];
}

function lifting({ made }: Freeze, prefix: string): string {
  return made ? ` /${prefix}change unfreeze ${made.id} ends it.` : ' It is set in signalbox.yaml.';
}

/** ` (rule 2, @db-leads)`: why, for whoever wants to look it up. */
function grounds({ rule, role }: Denial, policy: Policy): Line {
  return rule === null ? [] : [` (rule ${rule}, ${roleText(policy, role)})`];
}

function ruleName(rule: number | null, otherwise = 'The rule of this change'): string {
  return rule === null ? otherwise : `${otherwise.startsWith('its') ? 'rule' : 'Rule'} ${rule}`;
}

function atLeast({ rules }: Policy, place: number | null): string {
  const minimum = rules.find((rule) => rule.place === place)?.reason.minimum ?? 1;
  return minimum > 1 ? ` of at least ${minimum} characters` : '';
}

function quoted(command: string | null, prefix: string): string {
  return command ? `/${prefix}${command}` : 'this command';
}

function name(target: string | null): string {
  return target ?? 'It';
}
