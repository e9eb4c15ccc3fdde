import type { Change, State } from '../changes/change.ts';
import type { Refusal } from '../changes/refusal.ts';
import type { Policy } from '../policy/policy.ts';
import type { Denial } from '../workflow/denial.ts';
import { peopleLine, roleText } from './naming.ts';
import type { Line } from './rich.ts';

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
  'self-approval': (denial) => [
    'You asked for this change yourself; ',
    ...someone(denial, 'another approver'),
    ' must approve it.',
  ],
  'already-approved': () => ['You have approved this already. It waits for others.'],
  'already-decided': (denial) => ['This is decided. ', ...state(denial)],
  'note-required': () => ['Please say what you saw: the next person relies on it.'],
  'too-early': () => [`This is still under way. ${AGAIN}`],
  'lost-race': () => ['This very click has arrived before; it counts once.'],
  'target-moved': ({ target }) => [
    `${name(target)} was changed since this was shown. Nothing was sent; ask again to see it anew.`,
  ],
  'approvals-missing': () => [
    'Not enough of those who approved may still approve today. Nothing was sent.',
  ],
  'too-late': () => ['The hour that it was to begin at is over. Ask again with a later one.'],
  'no-break-glass': () => ['The rule of this change knows no emergency; it needs its approvals.'],
  'may-not-break-glass': (denial, policy) => [
    `Only ${roleText(policy, denial.role)} may do this alone. `,
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
  'lookup-failed': () => [`Slack did not tell who is who just now, so nothing was done. ${AGAIN}`],
  deactivated: () => ['This account is deactivated.'],
  guest: () => ['Guests cannot use Signalbox.'],
  bot: () => ['Apps and bots cannot use Signalbox.'],
  'other-workspace': () => ['Only members of this workspace can use Signalbox.'],
  'no-rule': ({ command, target, rule }, _policy, prefix) =>
    rule === null
      ? [
          `No rule of the policy allows ${quoted(command, prefix)}${target ? ` on ${target}` : ''}. `,
          'Whoever looks after signalbox.yaml can add one.',
        ]
      : [
          `${name(target)} is not listed in signalbox.yaml, so nobody can say whether rule ${rule} `,
          'is about it. Whoever looks after that file can list it.',
        ],
  'not-a-requester': notARequester,
  'not-an-approver': (denial, policy) => [
    `Only ${roleText(policy, denial.role)} can decide this. `,
    ...someone(denial, 'One of them'),
    ' can.',
  ],
  frozen: ({ freeze, target }) =>
    freeze
      ? [`${name(target)} is frozen until `, { at: freeze.until }, ` (${freezeNote(freeze)}).`]
      : [`${name(target)} is frozen.`],
  never: ({ command, target }, _policy, prefix) => [
    `Nobody may use ${quoted(command, prefix)}${target ? ` on ${target}` : ''}: `,
    'signalbox.yaml rules it out for everyone.',
  ],
  'reason-required': () => [
    'This needs a reason: write it at the end of the command, for example “nightly maintenance”.',
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

function freezeNote({ reason, by }: { reason: string; by: string | null }): string {
  return by ? `${reason}, by ${by}` : reason;
}

function quoted(command: string | null, prefix: string): string {
  return command ? `/${prefix}${command}` : 'this command';
}

function name(target: string | null): string {
  return target ?? 'It';
}
