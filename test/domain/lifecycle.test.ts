import { expect, test } from 'vitest';
import type { Actor, Change, Refusal, Requirement } from '../../src/domain/change.ts';
import { draftChange } from '../../src/domain/draft.ts';
import {
  actor,
  ana,
  ben,
  changeIn,
  cleo,
  dora,
  minutes,
  NOON,
  REQUIRES,
  SUCCESS,
} from './changes-fixtures.ts';
import {
  approve,
  cancel,
  confirm,
  expire,
  finish,
  handBack,
  type Move,
  markAbandoned,
  markUnknown,
  reject,
  resolve,
  start,
} from './gate-fixtures.ts';

const byBen = { by: ben.id, at: minutes(-5) };
const anaApproves = actor('U0ANA', 'operator', 'approver');
const free = { ...REQUIRES, from: null, count: 0 };
const selfServed = { ...REQUIRES, self: true };
const lease = { owner: 'replica-2', until: minutes(1), nonce: 'n' };
const seen = { happened: true, note: 'it is stopped in the console' };

function moved(outcome: Move): Change {
  if (!outcome.ok) throw new Error(outcome.refusal);
  return outcome.change;
}

test('a draft waits for its requester for 30 minutes and has no approvals', () => {
  const { organization, command, requester, reason, plan, requires } = changeIn('pending');
  const fields = { organization, command, requester, reason, plan, requires };
  expect(draftChange(fields, NOON)).toMatchObject({
    ...fields,
    type: 'drafted',
    inherits: null,
    expiresAt: minutes(30),
  });
});

test.for<[string, Change, Actor, Refusal]>([
  ['another user presses it', changeIn('draft'), ben, 'not-requester'],
  ['the requester presses it twice', changeIn('pending'), ana, 'not-draft'],
  ['the draft has expired', changeIn('draft', { expiresAt: NOON }), ana, 'expired'],
])('a confirmation is refused when %s', ([, change, by, refusal]) => {
  expect(confirm(change, by, NOON)).toEqual({ ok: false, refusal });
});

test.for<[string, Change, Actor, Refusal]>([
  ['the requester has not confirmed yet', changeIn('draft'), ben, 'not-pending'],
  ['enough others were faster', changeIn('approved'), ben, 'already-decided'],
  ['another user rejected it', changeIn('rejected'), cleo, 'already-decided'],
  ['the hours have passed', changeIn('pending', { expiresAt: NOON }), ben, 'expired'],
  ['the requester approves alone', changeIn('pending'), anaApproves, 'self-approval'],
  [
    'the same approver presses twice',
    changeIn('pending', { approvals: [byBen] }),
    ben,
    'already-approved',
  ],
  ['a viewer presses the button', changeIn('pending'), dora, 'not-an-approver'],
  [
    'an operator presses the button',
    changeIn('pending'),
    actor('U0GUS', 'operator'),
    'not-an-approver',
  ],
  [
    'the requester may approve, but is no approver',
    changeIn('pending', { requires: selfServed }),
    ana,
    'not-an-approver',
  ],
  ['the rule needs no approval', changeIn('pending', { requires: free }), ben, 'not-an-approver'],
])('approval is refused when %s', ([, change, by, refusal]) => {
  expect(approve(change, by, NOON)).toEqual({ ok: false, refusal });
});

test('the first of several reasons against an approval is returned', () => {
  const nobody = actor('U0ANA');
  const wrong = changeIn('approved', { expiresAt: NOON, approvals: [{ by: ana.id, at: NOON }] });
  const pending: Change = { ...wrong, state: 'pending' };
  const timely: Change = { ...pending, expiresAt: minutes(1) };
  const selfMade: Change = { ...timely, requires: selfServed };
  const first: Change = { ...selfMade, approvals: [] };
  const told = [wrong, pending, timely, selfMade, first].map((change) =>
    approve(change, nobody, NOON),
  );
  expect(told.map((outcome) => !outcome.ok && outcome.refusal)).toEqual([
    'already-decided',
    'expired',
    'self-approval',
    'already-approved',
    'not-an-approver',
  ]);
});

test.for<[string, Change, Actor, string, Refusal]>([
  ['the requester has not confirmed yet', changeIn('draft'), ben, 'no', 'not-pending'],
  ['it is approved', changeIn('approved'), ben, 'no', 'already-decided'],
  ['it has expired', changeIn('pending', { expiresAt: NOON }), ben, 'no', 'expired'],
  ['a viewer presses the button', changeIn('pending'), dora, 'no', 'not-an-approver'],
  ['the reason is empty', changeIn('pending'), ben, ' \n', 'reason-required'],
])('a rejection is refused when %s', ([, change, by, reason, refusal]) => {
  expect(reject(change, by, reason, NOON)).toEqual({ ok: false, refusal });
});

test.for<[string, Change, Actor, Refusal]>([
  ['an approver presses it', changeIn('pending'), ben, 'not-requester'],
  ['the request is being sent', changeIn('executing'), ana, 'already-decided'],
  ['its outcome is unknown', changeIn('unknown'), ana, 'already-decided'],
  ['it is cancelled', changeIn('cancelled'), ana, 'already-decided'],
])('a cancellation is refused when %s', ([, change, by, refusal]) => {
  expect(cancel(change, by)).toEqual({ ok: false, refusal });
});

test.for<[string, Move, Refusal]>([
  ['expires before its time', expire(changeIn('pending'), minutes(239)), 'too-early'],
  ['expires while it runs', expire(changeIn('executing'), minutes(999)), 'already-decided'],
  ['runs unapproved', start(changeIn('pending'), lease, NOON), 'not-approved'],
  ['runs too late', start(changeIn('approved', { expiresAt: NOON }), lease, NOON), 'expired'],
  [
    'runs before its retry time',
    start(changeIn('approved', { notBefore: minutes(1) }), lease, NOON),
    'too-early',
  ],
  ['runs twice', start(changeIn('executing'), lease, NOON), 'not-approved'],
  ['is handed back before the claim', handBack(changeIn('approved'), NOON), 'not-executing'],
  ['ends before the claim', finish(changeIn('approved'), SUCCESS), 'not-executing'],
  ['ends twice', finish(changeIn('unknown'), SUCCESS), 'not-executing'],
  ['is marked unknown before the claim', markUnknown(changeIn('approved'), NOON), 'not-executing'],
  [
    'is marked unknown during its lease',
    markUnknown(changeIn('executing', { lease }), NOON),
    'too-early',
  ],
  ['is abandoned before the claim', markAbandoned(changeIn('approved'), NOON), 'not-executing'],
])('a move is refused when a change %s', ([, outcome, refusal]) => {
  expect(outcome).toEqual({ ok: false, refusal });
});

test.for<[string, Change, Actor, string, Refusal]>([
  ['it is running', changeIn('executing'), ben, 'I saw it', 'not-unknown'],
  ['the outcome is known', changeIn('failed'), ben, 'I saw it', 'not-unknown'],
  ['a viewer resolves', changeIn('unknown'), dora, 'I saw it', 'not-an-approver'],
  ['the requester resolves alone', changeIn('unknown'), anaApproves, 'I saw it', 'not-an-approver'],
  [
    'a viewer resolves where the rule has no approvers',
    changeIn('unknown', { requires: free }),
    dora,
    'I saw it',
    'not-an-approver',
  ],
  ['the note is empty', changeIn('unknown'), ben, '\t', 'note-required'],
])('resolving an unknown outcome is refused when %s', ([, change, by, note, refusal]) => {
  expect(resolve(change, by, { happened: false, note, current: null }, NOON)).toEqual({
    ok: false,
    refusal,
  });
});

test.for<[string, Change, Actor]>([
  ['an approver', changeIn('unknown'), ben],
  [
    'the requester, where the rule allows self-approval',
    changeIn('unknown', { requires: selfServed }),
    anaApproves,
  ],
  ['the requester, where the rule needs no approval', changeIn('unknown', { requires: free }), ana],
])('%s may resolve an unknown outcome', ([, change, by]) => {
  const resolution = { by: by.id, at: NOON, ...seen };
  expect(moved(resolve(change, by, { ...seen, current: null }, NOON))).toMatchObject({
    state: 'succeeded',
    resolution,
  });
  const answer = { happened: false, note: 'it still runs', current: null };
  expect(moved(resolve(change, by, answer, NOON)).state).toBe('failed');
});

const renamed = { ...REQUIRES, from: 'lead' };
const lead = actor('U0LEAD', 'lead');
const anaLeads = actor('U0ANA', 'operator', 'lead');

test.for<[string, Change, Actor, Requirement | null, boolean]>([
  ['an approver of the current rule', changeIn('unknown'), lead, renamed, true],
  ['an approver of the rule at the time of the request', changeIn('unknown'), ben, renamed, true],
  ['a requester of a current rule without approvers', changeIn('unknown'), ana, free, false],
  [
    'another user whom a current rule without approvers names',
    changeIn('unknown'),
    actor('U0FINN', 'operator'),
    free,
    true,
  ],
  ['the requester who approves by the current rule', changeIn('unknown'), anaLeads, renamed, false],
  ['a user of a role that no rule names', changeIn('unknown'), lead, null, false],
])('whether %s may resolve an unknown outcome', ([, change, by, current, may]) => {
  expect(resolve(change, by, { ...seen, current }, NOON).ok).toBe(may);
});
