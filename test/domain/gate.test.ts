import { expect, test } from 'vitest';
import {
  type Change,
  type ChangeId,
  REFUSALS,
  type Refusal,
  type UserId,
} from '../../src/domain/change.ts';
import {
  type ClaimFacts,
  gate,
  type OutlookFacts,
  type PressFacts,
} from '../../src/domain/gate.ts';
import type { Freeze, NeverRule, Policy } from '../../src/domain/policy.ts';
import {
  actor,
  ana,
  ben,
  changeIn,
  cleo,
  dora,
  minutes,
  NOON,
  PLAN,
  REQUIRES,
  SUCCESS,
} from './changes-fixtures.ts';
import { claiming, policyThatRequires, pressed } from './gate-fixtures.ts';

const LAUNCH: Freeze = {
  from: minutes(-1),
  until: minutes(9),
  on: null,
  reason: 'launch',
  by: 'Gus',
};
const TILL: NeverRule = { commands: ['*'], on: null, reason: 'it is the till' };
const FREE = policyThatRequires({ ...REQUIRES, from: null, count: 0 });
const STRICT = policyThatRequires({ ...REQUIRES, count: 3 });
const NONE = policyThatRequires(null);
const STAGING = { ...PLAN.target, tags: ['dev'] };
/** A service that only the server lists, and did not list now. */
const UNLISTED = { ...PLAN.target, tags: null, warehouse: null, discovered: true } as const;
const TAGGED = policyFor({ tags: ['prod'] });
const SOME = 'K4N7RT' as ChangeId;

/** Only for some targets, and not for services that only the server lists. */
function policyFor(on: { tags: readonly string[] }): Policy {
  const selector = { services: null, tags: on.tags, warehouses: null };
  const rules = FREE.rules.map((rule) => ({ ...rule, on: selector, discovered: false }));
  return { ...FREE, rules };
}

const LISTED_ONLY: Policy = {
  ...FREE,
  rules: FREE.rules.map((rule) => ({ ...rule, discovered: false })),
};

const approved = (over: Partial<Change> = {}) => changeIn('approved', over);
const claim = (over: Partial<ClaimFacts> = {}, change = approved()) =>
  gate(change, 'claim', claiming(change, over));
const approve = (over: Partial<PressFacts> = {}, change = changeIn('pending'), by = ben) =>
  gate(change, 'approve', pressed(change, by, over));

const guest = { ok: false, refusal: 'guest' } as const;
const unanswered = { ok: false, refusal: 'lookup-failed' } as const;
type Known = readonly [UserId, PressFacts['identity'] & object];
const known = (by: UserId, ...roles: string[]): Known => [
  by,
  { ok: true, actor: { id: by, roles } },
];
const OPERATOR = known(ana.id, 'operator');
const APPROVERS = [known(ben.id, 'approver'), known(cleo.id, 'approver')] as const;
/** What was gathered about whether the change could run, beside the facts of the press. */
const outlook = (over: Partial<OutlookFacts>): Partial<PressFacts> => {
  const open = { now: NOON, policy: FREE, target: PLAN.target, commands: ['service stop'] };
  return { outlook: { ...open, requester: null, isOutdated: false, ...over } };
};
const IN_FORCE = { until: minutes(60), isPaused: false, isRemoved: false };
const BROKEN = { by: ana.id, at: NOON, reason: 'outage' };
const broken = (role: string | null) =>
  approved({ approvals: [], breakGlass: BROKEN, requires: { ...REQUIRES, breakGlass: role } });

test('a claim that every fact permits is claimed with its lease', () => {
  const lease = { by: 'replica-2', until: minutes(2), nonce: 'n1' };
  const stateCheck = { kind: 'unverified', why: 'no answer' } as const;
  const event = { type: 'claimed', ...lease, attempt: 1, stateCheck };
  const schedule = IN_FORCE;
  expect(claim({ claim: lease, stateCheck, schedule })).toEqual(event);
  expect(claim({ claim: lease, stateCheck })).toEqual(event);
});

test.for<[string, string, Partial<ClaimFacts>, Partial<Change>]>([
  ['the start has not come', 'too-early', {}, { notBefore: minutes(1) }],
  ['its facts are no longer valid', 'facts-too-old', { validUntil: NOON }, {}],
  [
    'another replica has a newer configuration',
    'configuration-outdated',
    { mayExecute: false },
    {},
  ],
  ['a freeze that the log has lost waits for a person', 'freeze-lost', { isStopped: true }, {}],
  ['a press of it is not answered', 'press-unanswered', { isAnswered: false }, {}],
  ['its card does not stand in a channel', 'no-card', { hasCard: false }, {}],
  ['the requester was not looked up', 'lookup-failed', { identities: new Map() }, {}],
  [
    'the lookup of an approver failed',
    'lookup-failed',
    { identities: new Map([OPERATOR, APPROVERS[0], [cleo.id, unanswered]]), policy: STRICT },
    {},
  ],
  [
    'the server did not list the service for less than two minutes',
    'not-verified',
    { target: UNLISTED, policy: TAGGED, now: new Date(minutes(-2).getTime() - 1) },
    {},
  ],
  ['the target has to be read again', 'not-read', { mustReadAgain: true }, {}],
  ['another change holds the target', 'locked', { lock: 'held by another' }, {}],
])('a claim waits when %s', ([, waits, facts, over]) => {
  expect(claim(facts, approved(over))).toEqual({ waits });
});

test.for(['confirmedAt', 'notBefore', 'createdAt', 'breakGlass'] as const)(
  'the two minutes for the list of services count from the latest start, here %s',
  (field) => {
    const long = { createdAt: minutes(-60), confirmedAt: minutes(-60), notBefore: minutes(-60) };
    const late = field === 'breakGlass' ? { ...BROKEN, at: minutes(-1) } : minutes(-1);
    const change = approved({ ...long, approvals: [], [field]: late });
    const facts = { target: UNLISTED, policy: TAGGED };
    expect(claim({ ...facts, now: NOON }, change)).toEqual({ waits: 'not-verified' });
    expect(claim({ ...facts, now: minutes(1) }, change)).toMatchObject({ refusal: 'not-verified' });
  },
);

test.for<[string, Refusal, Partial<ClaimFacts>, Change]>([
  ['its schedule is unknown', 'schedule-ended', { schedule: 'unknown' }, approved()],
  [
    'its schedule is paused',
    'schedule-ended',
    { schedule: { ...IN_FORCE, isPaused: true } },
    approved(),
  ],
  [
    'its schedule was removed',
    'schedule-ended',
    { schedule: { ...IN_FORCE, isRemoved: true } },
    approved(),
  ],
  [
    'its schedule ends now',
    'schedule-ended',
    { schedule: { ...IN_FORCE, until: NOON } },
    approved(),
  ],
  ['its requester is a guest', 'guest', { identities: new Map([[ana.id, guest]]) }, approved()],
  [
    'its requester lost the role',
    'not-a-requester',
    { identities: new Map([known(ana.id), ...APPROVERS]) },
    approved(),
  ],
  ['what it depends on differs', 'target-changed', { differs: true }, approved()],
  [
    'another change ran since the preview',
    'target-changed',
    { lock: 'changed since the preview' },
    approved(),
  ],
  ['no rule has its command', 'no-rule', { policy: NONE }, approved()],
  ['it may never run', 'never', { policy: { ...FREE, never: [TILL] } }, approved()],
  ['a freeze holds', 'frozen', { policy: { ...FREE, freezes: [LAUNCH] } }, approved()],
  ['its reason is missing', 'reason-required', {}, approved({ reason: null })],
  [
    'its service is not listed any more',
    'tags-changed',
    { policy: LISTED_ONLY, target: { ...PLAN.target, discovered: true } },
    approved(),
  ],
  [
    'its service was never listed',
    'not-listed',
    { policy: LISTED_ONLY, target: { ...PLAN.target, discovered: true } },
    approved({ plan: { ...PLAN, target: { ...PLAN.target, discovered: true } } }),
  ],
  [
    'the server lists its service no more',
    'not-verified',
    { target: UNLISTED, policy: TAGGED },
    approved(),
  ],
  ['the current rule needs more approvals', 'approvals-missing', { policy: STRICT }, approved()],
  [
    'the rule of the request needs more approvals',
    'approvals-missing',
    {},
    approved({ requires: { ...REQUIRES, count: 3 } }),
  ],
  [
    'an approver left',
    'approvals-missing',
    { identities: new Map([OPERATOR, APPROVERS[0], [cleo.id, guest]]) },
    approved(),
  ],
  [
    'other tags have a stricter rule',
    'tags-changed',
    { policy: STRICT, target: STAGING },
    approved(),
  ],
  [
    'a freeze covers its other tags',
    'frozen',
    { policy: { ...FREE, freezes: [LAUNCH] }, target: STAGING },
    approved(),
  ],
  ['the current rule has no break-glass', 'no-break-glass', { policy: FREE }, broken('operator')],
  [
    'the rule of the request had no break-glass',
    'no-break-glass',
    { policy: policyThatRequires({ ...REQUIRES, breakGlass: 'operator' }) },
    broken(null),
  ],
  [
    'its requester lost the break-glass role',
    'may-not-break-glass',
    {
      identities: new Map([OPERATOR]),
      policy: policyThatRequires({ ...REQUIRES, breakGlass: 'approver' }),
    },
    broken('operator'),
  ],
])('a change ends at its claim when %s', ([, refusal, facts, change]) => {
  const stale = ['target-changed', 'tags-changed', 'not-verified'].includes(refusal);
  expect(claim(facts, change)).toMatchObject({
    refusal,
    ends: { type: stale ? 'stale' : 'denied', why: refusal },
  });
});

test('a claim needs each rule of the commands that were approved together', () => {
  const [rule] = FREE.rules;
  const policy = { ...FREE, rules: rule ? [{ ...rule, commands: ['service stop'] }] : [] };
  expect(claim({ policy })).toMatchObject({ type: 'claimed' });
  const commands = ['service stop', 'service schedule'];
  expect(claim({ policy, commands })).toMatchObject({ refusal: 'no-rule' });
});

test('a break-glass change whose requester has both roles is claimed', () => {
  const policy = policyThatRequires({ ...REQUIRES, breakGlass: 'approver' });
  expect(claim({ policy }, broken('operator'))).toMatchObject({ type: 'claimed' });
});

test('a change that a freeze ends names the freeze; any other end names none', () => {
  const made = { id: SOME, by: ben.id };
  const policy = { ...FREE, freezes: [{ ...LAUNCH, made }] };
  const { until, reason, by } = LAUNCH;
  expect(claim({ policy })).toMatchObject({ ends: { frozenBy: { until, reason, by, made } } });
  expect(claim({ policy: { ...FREE, freezes: [LAUNCH] } })).toMatchObject({
    ends: { frozenBy: { until, reason, by } },
  });
  const other = claim({ policy, schedule: 'unknown' });
  expect('ends' in other && other.ends).not.toHaveProperty('frozenBy');
});

test.for<[string, Change, string]>([
  ['it is pending', changeIn('pending'), 'not-approved'],
  ['it has expired', approved({ expiresAt: NOON }), 'expired'],
])('a claim changes nothing when %s', ([, change, refusal]) => {
  expect(claim({}, change)).toEqual({ refusal, ends: null });
});

test.for<[string, Partial<OutlookFacts>, object]>([
  [
    'other tags have a stricter rule',
    { target: STAGING, policy: STRICT },
    { why: 'tags-changed', type: 'stale' },
  ],
  [
    'other tags have no rule',
    { target: STAGING, policy: NONE },
    { why: 'tags-changed', type: 'stale' },
  ],
  ['its rule requires more', { policy: STRICT }, { why: 'approvals-missing', type: 'denied' }],
  ['its requester lost the role', { requester: known(ana.id)[1] }, { why: 'not-a-requester' }],
  ['its requester was deactivated', { requester: guest }, { why: 'guest', type: 'denied' }],
  [
    'another change of its target ran',
    { isOutdated: true },
    { why: 'target-changed', type: 'stale' },
  ],
])('an approval ends a change when %s', ([, facts, ends]) => {
  expect(approve(outlook(facts))).toMatchObject({ ends });
});

test.for<[string, Partial<PressFacts>]>([
  ['its rule is as at the request', outlook({})],
  ['other tags have no stricter rule', outlook({ target: STAGING })],
  ['Slack does not say who its requester is', outlook({ requester: unanswered })],
  ['the log was not read yet', { target: STAGING, policy: STRICT }],
])('an approval counts when %s', ([, facts]) => {
  expect(approve(facts)).toMatchObject({ type: 'approved', by: ben.id });
});

test('an approval in a freeze is refused, and the change waits', () => {
  const frozen = outlook({ policy: { ...FREE, freezes: [LAUNCH] } });
  expect(approve(frozen)).toEqual({ refusal: 'frozen', ends: null });
});

test('break-glass in a freeze is refused as well', () => {
  const change = changeIn('pending', { requires: { ...REQUIRES, breakGlass: 'operator' } });
  const frozen = outlook({ policy: { ...FREE, freezes: [LAUNCH] } });
  const facts = { ...pressed(change, ana), ...frozen };
  expect(gate(change, 'break-glass', facts)).toEqual({ refusal: 'frozen', ends: null });
});

test('an approval of a service that the server does not list now changes nothing', () => {
  const facts = outlook({ target: UNLISTED, policy: TAGGED });
  expect(approve(facts)).toEqual({ refusal: 'not-verified', ends: null });
});

test('a freeze that ends before a timed change starts does not end it', () => {
  const timing = { startAt: minutes(60).toISOString(), revert: null };
  const change = changeIn('pending', { plan: { ...PLAN, timing } });
  const facts = { target: STAGING, policy: { ...FREE, freezes: [LAUNCH] } };
  expect(approve(facts, change)).toMatchObject({ type: 'approved', by: ben.id });
});

test('a draft that ends is stale, because nobody else has seen it', () => {
  const draft = changeIn('draft');
  const facts = outlook({ target: STAGING, policy: STRICT });
  expect(gate(draft, 'confirm', pressed(draft, ana, facts))).toMatchObject({
    ends: { type: 'stale' },
  });
});

test.for(['reject', 'cancel'] as const)('%s does not need the current tags', (verb) => {
  const change = changeIn('pending');
  const facts = { target: STAGING, policy: STRICT };
  const by = verb === 'cancel' ? ana : ben;
  expect(gate(change, verb, pressed(change, by, facts))).not.toHaveProperty('refusal');
});

test('before the lookup a user is taken to have every role', () => {
  expect(approve({ identity: null }, changeIn('pending'), dora)).toMatchObject({
    type: 'approved',
  });
  const free = changeIn('pending', { requires: { ...REQUIRES, from: null } });
  expect(approve({ identity: null }, free)).toMatchObject({ refusal: 'not-an-approver' });
});

test('before the lookup nobody reviews a change whose rule names no role', () => {
  const requires = { ...REQUIRES, from: null, breakGlass: null };
  const change = changeIn('succeeded', { requires, breakGlass: BROKEN });
  const facts = pressed(change, ben, { identity: null });
  expect(gate(change, 'review', facts)).toMatchObject({ refusal: 'not-an-approver' });
});

test('the checks of an approval follow each other: state, expiry, self, duplicate, identity', () => {
  const twice = [{ by: ana.id, at: NOON }];
  const self = { ...REQUIRES, self: true };
  const over = { approvals: twice, expiresAt: NOON };
  const told = [
    changeIn('approved', over),
    changeIn('pending', over),
    changeIn('pending', { approvals: twice }),
    changeIn('pending', { approvals: twice, requires: self }),
    changeIn('pending', { requires: self }),
  ].map((change) => approve({ identity: guest }, change, ana));
  expect(told.map((answer) => 'refusal' in answer && answer.refusal)).toEqual([
    ...['already-decided', 'expired', 'self-approval', 'already-approved', 'guest'],
  ]);
});

test.for(['confirm', 'approve', 'reject', 'cancel', 'break-glass', 'review'] as const)(
  'an unknown user cannot %s',
  (verb) => {
    const requires = { ...REQUIRES, breakGlass: 'operator' };
    const state = { confirm: 'draft', review: 'succeeded' }[verb as string] ?? 'pending';
    const used = verb === 'review' ? { breakGlass: BROKEN } : {};
    const change = changeIn(state as Change['state'], { requires, ...used });
    const by = ['approve', 'reject', 'review'].includes(verb) ? ben : ana;
    const facts = pressed(change, by, { identity: unanswered });
    expect(gate(change, verb, facts)).toEqual({ refusal: 'lookup-failed', ends: null });
  },
);

test.for(['happened', 'did-not-happen'] as const)('an unknown user does not press %s', (verb) => {
  const change = changeIn('unknown');
  const facts = pressed(change, ben, { identity: unanswered });
  expect(gate(change, verb, facts)).toEqual({ refusal: 'lookup-failed', ends: null });
});

const PROPOSAL = { command: 'service stop', target: PLAN.target, reason: 'maintenance' };
const ASKING = { identity: { ok: true, actor: ana }, policy: FREE, now: NOON } as const;

test.for<[string, string | null, object, object]>([
  ['an operator asks', null, {}, {}],
  ['the user is a guest', 'guest', {}, { identity: guest }],
  ['a viewer asks', 'not-a-requester', {}, { identity: { ok: true, actor: dora } }],
  ['a freeze holds', 'frozen', {}, { policy: { ...FREE, freezes: [LAUNCH] } }],
  [
    'it starts after the freeze',
    null,
    {},
    { policy: { ...FREE, freezes: [LAUNCH] }, now: minutes(9) },
  ],
  ['the rule needs a reason', 'reason-required', { reason: null }, {}],
  ['it may never run', 'never', {}, { policy: { ...FREE, never: [TILL] } }],
])('the answer to a request when %s', ([, refusal, about, facts]) => {
  const answer = gate({ ...PROPOSAL, ...about }, 'request', { ...ASKING, ...facts });
  expect('refusal' in answer ? answer.refusal : null).toBe(refusal);
});

test('a command that needs a reason needs it also where its rule does not', () => {
  const policy = policyThatRequires({ ...REQUIRES, reason: false });
  const ask = (reason: string | null, needsReason: boolean) =>
    gate({ ...PROPOSAL, reason, needsReason }, 'request', { ...ASKING, policy });
  expect(ask(null, true)).toMatchObject({
    refusal: 'reason-required',
    rule: { requires: { rule: 2 } },
  });
  expect(ask(null, false)).toMatchObject({ requires: { rule: 2 }, roles: ['operator'] });
  expect(ask('maintenance', true)).toMatchObject({ requires: { rule: 2 } });
});

test('a query needs neither a reason nor the end of a freeze', () => {
  const policy = { ...FREE, freezes: [LAUNCH] };
  const query = { ...PROPOSAL, reason: null };
  expect(gate(query, 'query', { ...ASKING, policy })).toMatchObject({ requires: { count: 0 } });
});

test.for<[string, string | null, object, object]>([
  ['a rule admits the user to its command', null, {}, {}],
  ['a rule admits the user to another of its commands', null, {}, { policy: TAGGED }],
  ['it has no command', null, { commands: [] }, { policy: NONE }],
  ['the user is a guest', 'guest', {}, { identity: guest }],
  ['no rule admits the user', 'not-a-requester', {}, { identity: { ok: true, actor: dora } }],
  ['no rule has its command', 'no-rule', {}, { policy: NONE }],
  [
    'no rule decides about its target',
    'no-rule',
    { target: STAGING },
    { policy: TAGGED, identity: { ok: true, actor: dora } },
  ],
])('the answer to a form when %s', ([, refusal, about, facts]) => {
  const form = { commands: ['service stop'], target: null, ...about };
  const answer = gate(form, 'form', { identity: ASKING.identity, policy: FREE, ...facts });
  expect(answer === 'allowed' ? null : answer.refusal).toBe(refusal);
});

test('a form that no rule admits the user to names the rule that decides', () => {
  const form = { commands: ['service stop'], target: null };
  const identity = { ok: true, actor: dora } as const;
  const answer = gate(form, 'form', { identity, policy: FREE });
  expect(answer).toMatchObject({ rule: { requires: { rule: 2, to: 'operator' } } });
});

test('only its requester edits a draft, as an active member', () => {
  const draft = changeIn('draft');
  const ask = (by: typeof ana, identity: PressFacts['identity']) =>
    gate(draft, 'own', { by: by.id, identity });
  expect(ask(ana, { ok: true, actor: ana })).toBe('allowed');
  expect(ask(ana, guest)).toEqual({ refusal: 'guest', ends: null });
  expect(ask(ben, { ok: true, actor: ben })).toEqual({ refusal: 'not-requester', ends: null });
});

const RUN = {
  ...{ now: NOON, at: NOON, policy: FREE, target: PLAN.target },
  ...{ unknown: null, changedBy: null, changedElsewhere: null },
};

test.for<[string, object, object]>([
  ['it is more than an hour late', { at: new Date(minutes(-60).getTime() - 1) }, { skips: 'late' }],
  [
    'a freeze holds',
    { policy: { ...FREE, freezes: [LAUNCH] } },
    { skips: 'frozen', freeze: LAUNCH },
  ],
  ['an outcome is unknown', { unknown: SOME }, { skips: 'outcome-unknown', change: SOME }],
  ['a person changed the service', { changedBy: SOME }, { skips: 'changed', change: SOME }],
  ['it was changed elsewhere', { changedElsewhere: true }, { skips: 'changed-elsewhere' }],
])('the run of a schedule is skipped when %s', ([, facts, skipped]) => {
  expect(gate(null, 'run', { ...RUN, ...facts })).toEqual(skipped);
});

test('the run of a schedule takes place when nothing speaks against it', () => {
  expect(gate(null, 'run', RUN)).toBe('allowed');
  expect(gate(null, 'run', { ...RUN, changedElsewhere: false })).toBe('allowed');
  expect(gate(null, 'run', { ...RUN, at: minutes(-60) })).toBe('allowed');
});

const DUE = changeIn('succeeded', { revertAt: NOON });
const REVERT = { now: NOON, isUnchanged: null };

test.for<[string, Change, object, string | null]>([
  ['it has no revert', changeIn('succeeded'), {}, null],
  ['its revert exists', { ...DUE, child: { id: SOME, state: 'approved' } }, {}, null],
  ['it is more than a day late', DUE, { now: new Date(minutes(1440).getTime() + 1) }, 'late'],
  ['its target changed since', DUE, { isUnchanged: false }, 'moved'],
])('a change is not reverted when %s', ([, change, facts, keeps]) => {
  expect(gate(change, 'revert', { ...REVERT, ...facts })).toEqual({ keeps });
});

test('a change is reverted up to a day late', () => {
  const facts = { ...REVERT, now: minutes(1440), isUnchanged: true };
  expect(gate(DUE, 'revert', facts)).toBe('allowed');
  expect(gate(DUE, 'revert', REVERT)).toBe('allowed');
});

test('a revert that exists is not abandoned', () => {
  const change: Change = { ...DUE, child: { id: SOME, state: 'approved' } };
  expect(gate(change, 'keep', { why: 'moved' })).toMatchObject({ refusal: 'already-decided' });
});

const LATE = changeIn('unknown', { unanswered: 'n-2' });
const TIMED_OUT = { at: NOON, tookMs: 9, requestId: null, status: null } as const;

test.for<[string, object, object]>([
  ['the answer of its attempt', { nonce: 'n-2', outcome: SUCCESS }, { as: 'succeeded' }],
  [
    'the reason of its attempt',
    { nonce: 'n-2', outcome: { ...TIMED_OUT, how: 'unknown', text: 'late' } },
    { as: 'unknown', text: 'late' },
  ],
])('an unknown outcome gets %s as evidence', ([, facts, event]) => {
  expect(gate(LATE, 'finish', facts as never)).toMatchObject({ type: 'late-answer', ...event });
});

test('an attempt that knows that it sent nothing says so late', () => {
  const facts = { nonce: 'n-2', why: 'The claim was too old.', notBefore: NOON };
  const event = { type: 'late-answer', as: 'not-sent', text: facts.why };
  expect(gate(LATE, 'return', facts)).toMatchObject(event);
});

test('an unknown outcome gets nothing of an earlier attempt, nothing twice and nothing that it says', () => {
  const refused = { refusal: 'not-executing' };
  const facts = { nonce: 'n-1', why: 'no card', notBefore: NOON };
  expect(gate(LATE, 'return', facts)).toMatchObject(refused);
  const known = {
    ...TIMED_OUT,
    how: 'unknown',
    text: 'The server did not answer in time.',
  } as const;
  const late = { nonce: 'n-2', outcome: known };
  expect(gate({ ...LATE, outcome: known }, 'finish', late)).toMatchObject(refused);
  expect(gate({ ...LATE, unanswered: undefined }, 'finish', late)).toMatchObject(refused);
});

/** What is refused elsewhere: before a change is known, and about other things than a change. */
const ELSEWHERE: readonly Refusal[] = [
  ...(['not-found', 'already-received', 'rate-limited', 'foreign-place', 'older-state'] as const),
  ...(['agent-limit', 'key-used'] as const),
  // standing.test.ts has their cases.
  ...(['standing-ended', 'standing-used', 'not-covered'] as const),
];
/** Why `People` accepts nobody; the gate passes it on, as it does with a guest. */
const IDENTITY: readonly Refusal[] = [
  'deactivated',
  'bot',
  'other-workspace',
  'unlisted-workspace',
];

/** One case for each refusal of the gate. The tables above and beside have the others. */
const CASES: Partial<Record<Refusal, () => object>> = {
  'not-draft': () => press('confirm', 'pending', ana),
  'not-pending': () => press('approve', 'draft', ben),
  'not-approved': () => claim({}, changeIn('pending')),
  'not-executing': () => gate(changeIn('pending'), 'finish', { nonce: '-', outcome: SUCCESS }),
  'not-unknown': () => press('happened', 'failed', ben),
  expired: () => press('approve', 'pending', ben, { now: minutes(240) }),
  'not-requester': () => press('cancel', 'pending', ben),
  'self-approval': () => press('approve', 'pending', actor('U0ANA', 'approver')),
  'already-approved': () =>
    approve({}, changeIn('pending', { approvals: [{ by: ben.id, at: NOON }] })),
  'already-decided': () => press('cancel', 'executing', ana),
  wider: () => press('narrow', 'pending', ben, { narrower: { ...PLAN, sends: 'DELETE' } }),
  'not-narrower': () => press('narrow', 'pending', ben, { narrower: PLAN }),
  'note-required': () => press('happened', 'unknown', ben, { text: ' ' }),
  restored: () => ends('restored'),
  'card-deleted': () => ends('card-deleted'),
  'too-early': () => gate(changeIn('pending'), 'expire', { now: NOON }),
  'target-changed': () => claim({ differs: true }),
  'tags-changed': () => approve(outlook({ target: STAGING, policy: STRICT })),
  'approvals-missing': () => claim({ policy: STRICT }),
  'schedule-ended': () => claim({ schedule: { ...IN_FORCE, isPaused: true } }),
  'too-late': () => {
    const timing = { startAt: NOON.toISOString(), revert: null };
    const draft = changeIn('draft', { plan: { ...PLAN, timing } });
    return gate(draft, 'confirm', pressed(draft, ana));
  },
  'no-break-glass': () => press('break-glass', 'pending', ana),
  'may-not-break-glass': () => {
    const change = changeIn('pending', { requires: { ...REQUIRES, breakGlass: 'approver' } });
    return gate(change, 'break-glass', pressed(change, ana));
  },
  'not-ended': () => {
    const change = changeIn('executing', { breakGlass: BROKEN });
    return gate(change, 'review', pressed(change, ben));
  },
  'already-reviewed': () => {
    const review = { by: ben.id, at: NOON, note: 'fine' };
    const change = changeIn('succeeded', { breakGlass: BROKEN, review });
    return gate(change, 'review', pressed(change, ben));
  },
  'lookup-failed': () => approve({ identity: unanswered }),
  guest: () => approve({ identity: guest }),
  'no-rule': () => claim({ policy: NONE }),
  'not-a-requester': () => claim({ identities: new Map([known(ana.id)]) }),
  'not-an-approver': () => press('approve', 'pending', dora),
  frozen: () => claim({ policy: { ...FREE, freezes: [LAUNCH] } }),
  never: () => claim({ policy: { ...FREE, never: [TILL] } }),
  'reason-required': () => press('reject', 'pending', ben, { text: ' ' }),
  'not-listed': () => {
    const target = { ...PLAN.target, discovered: true } as const;
    const change = approved({ plan: { ...PLAN, target } });
    return claim({ policy: LISTED_ONLY, target }, change);
  },
  'not-verified': () => approve(outlook({ target: UNLISTED, policy: TAGGED })),
  'agent-not-admitted': () => {
    const via = { agent: 'copilot', subject: 's', for: 'person' } as const;
    return claim({ policy: FREE }, approved({ via }));
  },
};

/** What the event that ends a pending change says. */
function ends(why: 'restored' | 'card-deleted') {
  const answer = gate(changeIn('pending'), 'distrust', { why, now: NOON });
  return 'why' in answer ? { refusal: answer.why } : answer;
}

function press(
  verb: 'confirm' | 'approve' | 'narrow' | 'reject' | 'cancel' | 'break-glass' | 'happened',
  state: Change['state'],
  by: typeof ana,
  over: Partial<PressFacts> = {},
) {
  const change = changeIn(state);
  return gate(change, verb, pressed(change, by, over));
}

test.for(Object.entries(CASES))('the gate refuses: %s', ([refusal, ask]) => {
  expect(ask()).toMatchObject({ refusal });
});

test('each refusal has its case, or is decided elsewhere', () => {
  const known = [...Object.keys(CASES), ...ELSEWHERE, ...IDENTITY];
  expect(known.toSorted()).toEqual([...REFUSALS].toSorted());
});
