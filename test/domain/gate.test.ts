import { expect, test } from 'vitest';
import {
  type Actor,
  type Change,
  type ChangeId,
  REFUSALS,
  type Refusal,
  type Requirement,
  type UserId,
  type Verb,
} from '../../src/domain/change.ts';
import {
  type ClaimFacts,
  createDenial,
  gate,
  isPermitting,
  type OutlookFacts,
  type PressFacts,
  refusalOf,
} from '../../src/domain/gate.ts';
import type { Freeze, NeverRule, Policy } from '../../src/domain/policy.ts';
import {
  actor,
  ana,
  ben,
  changeIn,
  cleo,
  dora,
  LEASE,
  minutes,
  NOON,
  PLAN,
  REQUIRES,
  SUCCESS,
} from './changes-fixtures.ts';
import { claiming, policyThatRequires, pressed } from './gate-fixtures.ts';

const LAUNCH: Freeze = {
  ...{ from: minutes(-1), until: minutes(9), on: null, reason: 'launch', by: 'Gus' },
};
const TILL: NeverRule = { commands: ['*'], on: null, reason: 'it is the till' };
const requiring = (over: Partial<Requirement>) => policyThatRequires({ ...REQUIRES, ...over });
const FREE = requiring({ from: null, count: 0 });
const OTHERS = requiring({ from: 'viewer' });
const NO_ROLES = { ...FREE, roles: new Map() };
const FROZEN = { ...FREE, freezes: [LAUNCH] };
const FORBIDDEN = { ...FREE, never: [TILL] };
const STRICT = requiring({ count: 3 });
const NONE = policyThatRequires(null);
const STAGING = { ...PLAN.target, tags: ['dev'] };
const DISCOVERED = { ...PLAN.target, discovered: true } as const;
/** A service that only the server lists, and did not list now. */
const UNLISTED = { ...DISCOVERED, tags: null, warehouse: null } as const;
const SOME = 'K4N7RT' as ChangeId;

const LISTED_ONLY = inEachRule({ discovered: false });
/** Only for some targets, and not for services that only the server lists. */
const TAGGED = inEachRule({
  on: { services: null, tags: ['prod'], warehouses: null },
  discovered: false,
});
const GONE = { target: UNLISTED, policy: TAGGED };

function inEachRule(over: Partial<Policy['rules'][number]>): Policy {
  return { ...FREE, rules: FREE.rules.map((rule) => ({ ...rule, ...over })) };
}

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
const DORA = { identity: { ok: true, actor: dora } } as const;
const identities = (...people: Known[]) => ({ identities: new Map(people) });
const APPROVERS = [known(ben.id, 'approver'), known(cleo.id, 'approver')] as const;
/** What was gathered about whether the change could run, beside the facts of the press. */
const prospects = (over: Partial<OutlookFacts>): OutlookFacts => ({
  ...{ now: NOON, policy: FREE, target: PLAN.target, commands: ['service stop'] },
  ...{ requester: null, isOutdated: false, ...over },
});
const outlook = (over: Partial<OutlookFacts>) => ({ outlook: prospects(over) });
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
  ['another replica has a newer file', 'configuration-outdated', { mayExecute: false }, {}],
  ['a freeze that the log has lost waits for a person', 'freeze-lost', { isStopped: true }, {}],
  ['a press of it is not answered', 'press-unanswered', { isAnswered: false }, {}],
  ['its card does not stand in a channel', 'no-card', { hasCard: false }, {}],
  ['the requester was not looked up', 'lookup-failed', identities(), {}],
  [
    'the lookup of an approver failed',
    'lookup-failed',
    { ...identities(OPERATOR, APPROVERS[0], [cleo.id, unanswered]), policy: STRICT },
    {},
  ],
  [
    'the server did not list the service for less than two minutes',
    'not-verified',
    { ...GONE, now: new Date(minutes(-2).getTime() - 1) },
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
    expect(claim({ ...GONE, now: NOON }, change)).toEqual({ waits: 'not-verified' });
    expect(claim({ ...GONE, now: minutes(1) }, change)).toMatchObject({ refusal: 'not-verified' });
  },
);

const CLAIM_ENDS: readonly (readonly [string, Refusal, Partial<ClaimFacts>, Change?])[] = [
  ['its schedule is unknown', 'schedule-ended', { schedule: 'unknown' }],
  ['its schedule is paused', 'schedule-ended', { schedule: { ...IN_FORCE, isPaused: true } }],
  ['its schedule was removed', 'schedule-ended', { schedule: { ...IN_FORCE, isRemoved: true } }],
  ['its schedule ends now', 'schedule-ended', { schedule: { ...IN_FORCE, until: NOON } }],
  ['its requester is a guest', 'guest', identities([ana.id, guest])],
  ['its requester lost the role', 'not-a-requester', identities(known(ana.id), ...APPROVERS)],
  ['what it depends on differs', 'target-changed', { differs: true }],
  ['another change ran', 'target-changed', { lock: 'changed since the preview' }],
  ['no rule has its command', 'no-rule', { policy: NONE }],
  ['it may never run', 'never', { policy: FORBIDDEN }],
  ['a freeze holds', 'frozen', { policy: FROZEN }],
  ['its reason is missing', 'reason-required', {}, approved({ reason: null })],
  ['its service left the list', 'tags-changed', { policy: LISTED_ONLY, target: DISCOVERED }],
  [
    'its service was never listed',
    'not-listed',
    { policy: LISTED_ONLY, target: DISCOVERED },
    approved({ plan: { ...PLAN, target: DISCOVERED } }),
  ],
  ['the server lists its service no more', 'not-verified', GONE],
  ['the current rule needs more approvals', 'approvals-missing', { policy: STRICT }],
  [
    'the rule of the request needs more approvals',
    'approvals-missing',
    {},
    approved({ requires: { ...REQUIRES, count: 3 } }),
  ],
  ['an approver left', 'approvals-missing', identities(OPERATOR, APPROVERS[0], [cleo.id, guest])],
  ['other tags have a stricter rule', 'tags-changed', { policy: STRICT, target: STAGING }],
  ['a freeze covers its other tags', 'frozen', { policy: FROZEN, target: STAGING }],
  ['the current rule has no break-glass', 'no-break-glass', { policy: FREE }, broken('operator')],
  [
    'the rule of the request had no break-glass',
    'no-break-glass',
    { policy: requiring({ breakGlass: 'operator' }) },
    broken(null),
  ],
  [
    'its requester lost the break-glass role',
    'may-not-break-glass',
    { ...identities(OPERATOR), policy: requiring({ breakGlass: 'approver' }) },
    broken('operator'),
  ],
];

test.for(CLAIM_ENDS)('a change ends at its claim when %s', ([, refusal, facts, change]) => {
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
  const policy = requiring({ breakGlass: 'approver' });
  expect(claim({ policy }, broken('operator'))).toMatchObject({ type: 'claimed' });
});

test('a change that a freeze ends names the freeze; any other end names none', () => {
  const made = { id: SOME, by: ben.id };
  const policy = { ...FREE, freezes: [{ ...LAUNCH, made }] };
  const { until, reason, by } = LAUNCH;
  expect(claim({ policy })).toMatchObject({ ends: { frozenBy: { until, reason, by, made } } });
  expect(claim({ policy: FROZEN })).toMatchObject({ ends: { frozenBy: { until, reason, by } } });
  const other = claim({ policy, schedule: 'unknown' });
  expect('ends' in other && other.ends).not.toHaveProperty('frozenBy');
});

test.for<[string, Change, string]>([
  ['it is pending', changeIn('pending'), 'not-approved'],
  ['it has expired', approved({ expiresAt: NOON }), 'expired'],
])('a claim changes nothing when %s', ([, change, refusal]) => {
  expect(claim({}, change)).toEqual({ refusal, ends: null });
});

test.for<[string, Partial<OutlookFacts>, Refusal, 'stale' | 'denied']>([
  ['other tags have a stricter rule', { target: STAGING, policy: STRICT }, 'tags-changed', 'stale'],
  ['other tags have no rule', { target: STAGING, policy: NONE }, 'tags-changed', 'stale'],
  ['other tags have other approvers', { target: STAGING, policy: OTHERS }, 'tags-changed', 'stale'],
  ['its rule requires more', { policy: STRICT }, 'approvals-missing', 'denied'],
  ['its requester lost the role', { requester: known(ana.id)[1] }, 'not-a-requester', 'denied'],
  ['its requester was deactivated', { requester: guest }, 'guest', 'denied'],
  ['another change of its target ran', { isOutdated: true }, 'target-changed', 'stale'],
])('an approval ends a change when %s', ([, facts, why, type]) => {
  expect(approve(outlook(facts))).toMatchObject({ ends: { why, type } });
});

test.for<[string, Partial<PressFacts>]>([
  ['its rule is as at the request', outlook({})],
  ['other tags have no stricter rule', outlook({ target: STAGING })],
  ['Slack does not say who its requester is', outlook({ requester: unanswered })],
  ['the log was not read yet', { target: STAGING, policy: STRICT }],
  ['nobody approves any more', outlook({ policy: NO_ROLES, requester: OPERATOR[1] })],
])('an approval counts when %s', ([, facts]) => {
  expect(approve(facts)).toMatchObject({ type: 'approved', by: ben.id });
});

test.for(['executing', 'unknown', 'succeeded'] as const)(
  'the policy of now refuses nothing to a change that was sent: %s',
  (state) => {
    expect(gate(changeIn(state), 'outlook', prospects({ policy: NONE }))).toBe('open');
    expect(gate(pending, 'outlook', prospects({ policy: NONE }))).toMatchObject({
      refusal: 'no-rule',
    });
  },
);

test('break-glass does not end a change whose rule requires more approvals now', () => {
  const more = outlook({ policy: requiring({ count: 3, breakGlass: 'approver' }) });
  const answer = gate(urgent(), 'break-glass', pressed(urgent(), anaApproves, more));
  expect(answer).toMatchObject({ type: 'break-glass' });
});

test('a freeze that ends before a timed change starts does not end it', () => {
  const timing = { startAt: minutes(60).toISOString(), revert: null };
  const change = changeIn('pending', { plan: { ...PLAN, timing } });
  expect(approve({ target: STAGING, policy: FROZEN }, change)).toMatchObject({
    type: 'approved',
    by: ben.id,
  });
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

test.for([
  ...(['confirm', 'approve', 'reject', 'cancel', 'break-glass', 'review'] as const),
  ...(['happened', 'did-not-happen'] as const),
])('an unknown user cannot %s', (verb) => {
  const states = { confirm: 'draft', review: 'succeeded', 'did-not-happen': 'unknown' };
  const state = { ...states, happened: 'unknown' }[verb as string] ?? 'pending';
  const used = { breakGlass: verb === 'review' ? BROKEN : null };
  const requires = { ...REQUIRES, breakGlass: 'operator' };
  const change = changeIn(state as Change['state'], { requires, ...used });
  const by = ['confirm', 'cancel', 'break-glass'].includes(verb) ? ana : ben;
  const facts = pressed(change, by, { identity: unanswered });
  expect(gate(change, verb, facts)).toEqual({ refusal: 'lookup-failed', ends: null });
});

const PROPOSAL = { command: 'service stop', target: PLAN.target, reason: 'maintenance' };
const ASKING = { identity: { ok: true, actor: ana }, policy: FREE, now: NOON } as const;

test.for<[string, string | null, object, object]>([
  ['an operator asks', null, {}, {}],
  ['the user is a guest', 'guest', {}, { identity: guest }],
  ['a viewer asks', 'not-a-requester', {}, DORA],
  ['a freeze holds', 'frozen', {}, { policy: FROZEN }],
  ['it starts after the freeze', null, {}, { policy: FROZEN, now: minutes(9) }],
  ['the rule needs a reason', 'reason-required', { reason: null }, {}],
  ['it may never run', 'never', {}, { policy: FORBIDDEN }],
])('the answer to a request when %s', ([, refusal, about, facts]) => {
  const answer = gate({ ...PROPOSAL, ...about }, 'request', { ...ASKING, ...facts });
  expect('refusal' in answer ? answer.refusal : null).toBe(refusal);
});

test('a command that needs a reason needs it also where its rule does not', () => {
  const policy = requiring({ reason: false });
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
  const answer = gate({ ...PROPOSAL, reason: null }, 'query', { ...ASKING, policy: FROZEN });
  expect(answer).toMatchObject({ requires: { count: 0 } });
});

test.for<[string, string | null, object, object]>([
  ['a rule admits the user to its command', null, {}, {}],
  ['a rule admits the user to another of its commands', null, {}, { policy: TAGGED }],
  ['it has no command', null, { commands: [] }, { policy: NONE }],
  ['the user is a guest', 'guest', {}, { identity: guest }],
  ['no rule admits the user', 'not-a-requester', {}, DORA],
  ['no rule has its command', 'no-rule', {}, { policy: NONE }],
  ['no rule decides about its target', 'no-rule', { target: STAGING }, { policy: TAGGED, ...DORA }],
])('the answer to a form when %s', ([, refusal, about, facts]) => {
  const form = { commands: ['service stop'], target: null, ...about };
  const answer = gate(form, 'form', { identity: ASKING.identity, policy: FREE, ...facts });
  expect(answer === 'allowed' ? null : answer.refusal).toBe(refusal);
});

test('a form that no rule admits the user to names the rule that decides', () => {
  const form = { commands: ['service stop'], target: null };
  expect(gate(form, 'form', { ...DORA, policy: FREE })).toMatchObject({
    rule: { requires: { rule: 2, to: 'operator' } },
  });
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
  ['a freeze holds', { policy: FROZEN }, { skips: 'frozen', freeze: LAUNCH }],
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
  const facts = { nonce: 'n-2', why: 'The checks took too long.', notBefore: NOON };
  const event = { type: 'late-answer', as: 'not-sent', text: facts.why };
  expect(gate(LATE, 'return', facts)).toMatchObject(event);
});

test('an unknown outcome gets nothing of an earlier attempt, nothing twice and nothing that it says', () => {
  const refused = { refusal: 'not-executing' };
  const facts = { nonce: 'n-1', why: 'no card', notBefore: NOON };
  expect(gate(LATE, 'return', facts)).toMatchObject(refused);
  const known = { ...TIMED_OUT, how: 'unknown', text: 'The server did not answer.' } as const;
  const late = { nonce: 'n-2', outcome: known };
  expect(gate({ ...LATE, outcome: known }, 'finish', late)).toMatchObject(refused);
  expect(gate({ ...LATE, unanswered: undefined }, 'finish', late)).toMatchObject(refused);
});

const byBen = { by: ben.id, at: NOON };
const anaApproves = actor('U0ANA', 'operator', 'approver');
const nobodyApproves = { requires: { ...REQUIRES, from: null, count: 0 } };
const ownApproval = { requires: { ...REQUIRES, self: true } };
const mayBreak = { requires: { ...REQUIRES, breakGlass: 'approver' } };
const reviewed = (over: Partial<Change> = {}) =>
  changeIn('succeeded', { ...mayBreak, approvals: [], breakGlass: BROKEN, ...over });
const late = { expiresAt: NOON };
const pending = changeIn('pending');
const unknown = changeIn('unknown');
const urgent = (over: Partial<Change> = {}) => changeIn('pending', { ...mayBreak, ...over });
const begun = { plan: { ...PLAN, timing: { startAt: NOON.toISOString(), revert: null } } };
const blank = { text: ' \n' };

type PressedVerb = Extract<Verb, 'confirm' | 'approve' | 'reject' | 'cancel' | 'break-glass'>;
type Pressing = PressedVerb | 'review' | 'did-not-happen';

/** Refused for another reason than the state: matrix.test.ts has each verb in each state. */
const PRESSES: readonly (readonly [
  ...[name: string, refusal: Refusal, verb: Pressing, change: Change, by: Actor],
  facts?: Partial<PressFacts>,
])[] = [
  ['another user', 'not-requester', 'confirm', changeIn('draft'), ben],
  ['a draft that has expired', 'expired', 'confirm', changeIn('draft', late), ana],
  ['a draft whose start has passed', 'too-late', 'confirm', changeIn('draft', begun), ana],
  ['too late', 'expired', 'approve', changeIn('pending', late), ben],
  ['the requester alone', 'self-approval', 'approve', pending, anaApproves],
  ['twice', 'already-approved', 'approve', changeIn('pending', { approvals: [byBen] }), ben],
  ['a viewer', 'not-an-approver', 'approve', pending, dora],
  ['an operator', 'not-an-approver', 'approve', pending, actor('U0GUS', 'operator')],
  ['no approver', 'not-an-approver', 'approve', changeIn('pending', ownApproval), ana],
  ['no approval needed', 'not-an-approver', 'approve', changeIn('pending', nobodyApproves), ben],
  ['in a freeze', 'frozen', 'approve', pending, ben, outlook({ policy: FROZEN })],
  ['a service that is not listed now', 'not-verified', 'approve', pending, ben, outlook(GONE)],
  ['too late', 'expired', 'reject', changeIn('pending', late), ben],
  ['a viewer', 'not-an-approver', 'reject', pending, dora],
  ['without a reason', 'reason-required', 'reject', pending, ben, blank],
  ['an approver', 'not-requester', 'cancel', pending, ben],
  ['another user', 'not-requester', 'break-glass', urgent(), ben],
  ['too late', 'expired', 'break-glass', urgent(late), anaApproves],
  ['a rule without it', 'no-break-glass', 'break-glass', pending, anaApproves],
  ['without the role', 'may-not-break-glass', 'break-glass', urgent(), ana],
  ['no reason', 'reason-required', 'break-glass', urgent(), anaApproves, blank],
  ['in a freeze', 'frozen', 'break-glass', urgent(), anaApproves, outlook({ policy: FROZEN })],
  ['an ordinary change', 'no-break-glass', 'review', changeIn('succeeded'), ben],
  ['while it runs', 'not-ended', 'review', changeIn('executing', { breakGlass: BROKEN }), ben],
  ['twice', 'already-reviewed', 'review', reviewed({ review: { ...byBen, note: 'fine' } }), ben],
  ['the one who used it', 'self-approval', 'review', reviewed(), anaApproves],
  ['a viewer', 'not-an-approver', 'review', reviewed(), dora],
  ['without a note', 'note-required', 'review', reviewed(), ben, blank],
  ['a viewer', 'not-an-approver', 'did-not-happen', unknown, dora],
  ['the requester alone', 'not-an-approver', 'did-not-happen', unknown, anaApproves],
  ['no approvers', 'not-an-approver', 'did-not-happen', changeIn('unknown', nobodyApproves), dora],
  ['without a note', 'note-required', 'did-not-happen', unknown, ben, blank],
];

test.for(PRESSES)('refused, and nothing ends: %s, %s, %s', ([, refusal, ...press]) => {
  const [verb, change, by, facts] = press;
  expect(gate(change, verb, pressed(change, by, facts))).toEqual({ refusal, ends: null });
});

test('no change expires before its time, is lost during its lease, or is abandoned unclaimed', () => {
  const refused = (refusal: Refusal) => ({ refusal, ends: null });
  expect(gate(pending, 'expire', { now: minutes(239) })).toEqual(refused('too-early'));
  const sent = changeIn('executing', { lease: { ...LEASE, until: minutes(1) } });
  expect(gate(sent, 'lose', { now: NOON, isOver: false })).toEqual(refused('too-early'));
  expect(gate(approved(), 'lose', { now: NOON, isOver: true })).toEqual(refused('not-executing'));
});

test.for(['restored', 'card-deleted'] as const)('a change that waits is stale: %s', (why) => {
  const answer = gate(changeIn('pending'), 'distrust', { why, now: NOON });
  expect(answer).toEqual({ type: 'stale', why });
});

const withoutApprovers = { ...OTHERS, roles: new Map([...OTHERS.roles].slice(0, 1)) };

test.for<readonly [string, Change, Partial<OutlookFacts>, Refusal | 'open']>([
  ['as many as before', pending, { policy: requiring({}) }, 'open'],
  ['others, as many', pending, { policy: OTHERS }, 'open'],
  ['more than before', pending, { policy: STRICT }, 'approvals-missing'],
  ['by a role that is gone', pending, { policy: withoutApprovers }, 'approvals-missing'],
  ['others for new tags', pending, { policy: OTHERS, target: STAGING }, 'tags-changed'],
  ['others for new tags, once approved', approved(), { policy: OTHERS, target: STAGING }, 'open'],
])('what the rule requires now, of a waiting change: %s', ([, change, facts, expected]) => {
  const answer = gate(change, 'outlook', prospects(facts));
  expect(typeof answer === 'string' ? answer : 'refusal' in answer && answer.refusal).toBe(
    expected,
  );
});

test('a form is opened for a verb where its press would count', () => {
  expect(refusalOf(pending, 'narrow', pressed(pending, ana))).toBe('self-approval');
  expect(refusalOf(pending, 'narrow', pressed(pending, ben))).toBeNull();
  expect(refusalOf(pending, 'reject', pressed(pending, dora))).toBe('not-an-approver');
  const verbs = ['confirm', 'approve', 'narrow', 'break-glass', 'reject', 'cancel'] as const;
  expect(verbs.filter(isPermitting)).toEqual(verbs.slice(0, 4));
});

test('a denial names the command, the target and the rule of its change', () => {
  const about = { command: pending.command, target: PLAN.target.name, rule: REQUIRES.rule };
  expect(createDenial('expired', { change: pending })).toMatchObject(about);
  const nothing = { command: null, target: null, rule: null, change: null, press: null };
  expect(createDenial('expired')).toMatchObject(nothing);
});

/** Refusals with a case in another table: above, or in the file that is named. */
const ELSEWHERE: readonly Refusal[] = [
  ...(['too-early', 'restored', 'card-deleted', 'lookup-failed', 'not-in-time'] as const),
  // matrix.test.ts
  ...(['not-draft', 'not-pending', 'not-approved', 'not-executing', 'not-unknown'] as const),
  'already-decided',
  // narrow.test.ts
  ...(['wider', 'not-narrower'] as const),
  // standing.test.ts
  ...(['standing-ended', 'standing-used', 'not-covered'] as const),
  // agents.test.ts
  'agent-not-admitted',
  // Before a change is known, and about other things than a change.
  ...(['not-found', 'already-received', 'rate-limited', 'foreign-place', 'older-state'] as const),
  ...(['agent-limit', 'key-used'] as const),
  // Why `People` accepts nobody; the gate passes it on, as it does with a guest.
  ...(['deactivated', 'bot', 'other-workspace', 'unlisted-workspace'] as const),
];

test('each refusal has its case, or is decided elsewhere', () => {
  const known = [...[...CLAIM_ENDS, ...PRESSES].map(([, refusal]) => refusal), ...ELSEWHERE];
  expect([...new Set(known)].toSorted()).toEqual([...REFUSALS].toSorted());
});
