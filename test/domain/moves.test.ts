import { expect, test } from 'vitest';
import type {
  Actor,
  BlockingFreeze,
  Change,
  ChangeId,
  Requirement,
} from '../../src/domain/change.ts';
import type { ChangeEvent } from '../../src/domain/change-events.ts';
import { draftChange } from '../../src/domain/draft.ts';
import { actor, ana, ben, changeIn, cleo, minutes, NOON, REQUIRES } from './changes-fixtures.ts';
import {
  after,
  approve,
  breakGlass,
  confirm,
  distrust,
  expire,
  handBack,
  type Move,
  markAbandoned,
  markUnknown,
  reject,
  resolve,
  review,
  start,
} from './gate-fixtures.ts';

const byBen = { by: ben.id, at: minutes(-5) };
const anaApproves = actor('U0ANA', 'operator', 'approver');
const free = { ...REQUIRES, from: null, count: 0 };
const selfServed = { ...REQUIRES, self: true };
const renamed = { ...REQUIRES, from: 'lead' };
const lead = actor('U0LEAD', 'lead');
const finn = actor('U0FINN', 'operator');
const anaLeads = actor('U0ANA', 'operator', 'lead');
const lease = { owner: 'replica-2', until: minutes(1), nonce: 'n' };

function moved(outcome: Move): Change {
  if (!outcome.ok) throw new Error(outcome.refusal);
  return outcome.change;
}

test('a confirmed change waits for approvals until the expiry of its rule', () => {
  const pending = moved(confirm(changeIn('draft'), ana, NOON));
  expect(pending).toMatchObject({ state: 'pending', version: 4, expiresAt: minutes(240) });
});

test('a confirmed change is approved at once if its rule needs no approval', () => {
  const change = moved(confirm(changeIn('draft', { requires: free }), ana, NOON));
  expect(change).toMatchObject({ state: 'approved', notBefore: null, expiresAt: minutes(240) });
});

test('the last approval does not change the expiry', () => {
  const change = changeIn('pending', { approvals: [byBen], expiresAt: minutes(100) });
  const approved = moved(approve(change, cleo, NOON));
  expect(approved).toMatchObject({ state: 'approved', expiresAt: minutes(100) });
});

test('a pending change expires at its expiry time, not after it', () => {
  expect(moved(expire(changeIn('pending'), minutes(240))).state).toBe('expired');
});

test('the last required approval approves a change', () => {
  const once = moved(approve(changeIn('pending'), ben, NOON));
  expect(once).toMatchObject({ state: 'pending', approvals: [{ by: ben.id, at: NOON }] });
  const twice = moved(approve(once, cleo, minutes(1)));
  expect(twice.state).toBe('approved');
  expect(twice.approvals).toEqual([
    { by: ben.id, at: NOON },
    { by: cleo.id, at: minutes(1) },
  ]);
});

test('the requester may approve where the rule allows self-approval', () => {
  const change = changeIn('pending', { requires: selfServed });
  expect(moved(approve(change, anaApproves, NOON)).approvals).toEqual([{ by: ana.id, at: NOON }]);
});

test('one rejection ends the change, also after approvals', () => {
  const rejected = moved(reject(changeIn('pending', { approvals: [byBen] }), cleo, 'no', NOON));
  const rejection = { by: cleo.id, at: NOON, reason: 'no' };
  expect(rejected).toMatchObject({ state: 'rejected', rejection, approvals: [byBen] });
});

test('a change whose permit was handed back is claimed again later, with a new lease', () => {
  const back = moved(handBack(moved(start(changeIn('approved'), lease, NOON)), minutes(2)));
  expect(back).toMatchObject({ state: 'approved', lease: null, notBefore: minutes(2) });
  expect(moved(start(back, lease, minutes(2)))).toMatchObject({ state: 'executing', lease });
});

test('a stopped change stores the refusal', () => {
  const stopped = after(changeIn('approved'), { type: 'denied', why: 'no-rule' }, NOON);
  expect(stopped).toMatchObject({ state: 'denied', stopReason: 'no-rule' });
  expect(stopped).not.toHaveProperty('frozenBy');
});

test('a change that a freeze stopped stores the freeze', () => {
  const frozenBy: BlockingFreeze = { until: minutes(60), reason: 'year end', by: 'Gus' };
  const event = { type: 'denied', why: 'frozen', frozenBy } as const;
  const stopped = after(changeIn('approved'), event, NOON);
  expect(stopped).toMatchObject({ state: 'denied', stopReason: 'frozen', frozenBy });
});

test('a change whose sender crashed has an unknown outcome, never failed', () => {
  const left = moved(markUnknown(changeIn('executing', { lease }), lease.until));
  const text = 'No answer was recorded in time.';
  expect(left).toMatchObject({ state: 'unknown', lease: null, outcome: { how: 'unknown', text } });
  expect(moved(markAbandoned(changeIn('executing', { lease }), lease.until))).toEqual(left);
});

test('a draft waits for its requester for 30 minutes and has no approvals', () => {
  const { organization, command, requester, reason, plan, requires } = changeIn('pending');
  const fields = { organization, command, requester, reason, plan, requires };
  const drafted = { ...fields, type: 'drafted', inherits: null, expiresAt: minutes(30) };
  expect(draftChange(fields, NOON)).toMatchObject(drafted);
  expect(draftChange(fields, NOON)).not.toHaveProperty('standing');
  const own = { standing: 'S7ANDN' as ChangeId, requestKey: 'r', words: 'x' };
  const first = { ...own, state: 'draft', shownBy: ['h2'], marks: ['h2'], approvals: [] };
  const event = draftChange({ ...fields, ...own }, NOON);
  expect(after(changeIn('pending'), event, NOON)).toMatchObject(first);
});

const AT = { channel: 'C1', ts: '1.2' };
const UNSEEN = { shownBy: ['h1', 'h2'], marks: ['h1', 'h2'] };
const ANSWER = { as: 'failed', answeredAt: NOON, status: 500, text: 'no' };
const stateCheck = { kind: 'unverified', why: 'no answer' };

test.for<[string, object, object]>([
  ['card-posted', AT, { card: AT, ...UNSEEN }],
  ['card-lost', {}, { card: null, states: [], shownBy: ['h2'] }],
  ['state-posted', AT, { states: [AT], ...UNSEEN }],
  ['copy-posted', { to: ben.id, ...AT }, { copies: [{ to: ben.id, ...AT }], ...UNSEEN }],
  ['restored', { foreign: [{ hash: 'x' }] }, { marks: ['h1', 'h2', 'x'], state: 'executing' }],
  ['stale', { why: 'restored', stateCheck }, { stateCheck, state: 'stale', lease: null }],
  ['late-answer', ANSWER, { lateAnswer: ANSWER, unanswered: undefined }],
  ['revealed', { shown: true }, { passwordShown: true }],
  ['revoked', { by: ben.id }, { revoked: { by: ben.id, at: NOON } }],
  ['used', { by: ben.id, change: 'A' }, { uses: [{ by: ben.id, change: 'A', hash: 'h2' }] }],
  ['revert-planned', { child: 'R' }, { child: { id: 'R', state: 'approved' } }],
])('the event %s, which says %j, is a part of the change', ([type, facts, expected]) => {
  const event = { type, ...facts } as ChangeEvent;
  expect(after(changeIn('executing'), event, NOON)).toMatchObject(expected);
});

test('a password that was opened was not shown yet', () => {
  const opened = after(changeIn('succeeded'), { type: 'revealed', by: ana.id, shown: null }, NOON);
  expect(opened).not.toHaveProperty('passwordShown');
});

test('who resolves an unknown outcome says whether the change happened', () => {
  const seen = { happened: true, note: 'it is stopped in the console' };
  const resolution = { by: ben.id, at: NOON, ...seen };
  const change = changeIn('unknown');
  const succeeded = { state: 'succeeded', resolution };
  expect(moved(resolve(change, ben, { ...seen, current: null }, NOON))).toMatchObject(succeeded);
  const failed = { happened: false, note: 'it still runs', current: null };
  expect(moved(resolve(change, ben, failed, NOON)).state).toBe('failed');
});

test.for<[string, Actor, Requirement, Requirement | null, boolean]>([
  ['the requester, where the rule allows self-approval', anaApproves, selfServed, null, true],
  ['the requester, where the rule needs no approval', ana, free, null, true],
  ['an approver of the current rule', lead, REQUIRES, renamed, true],
  ['an approver of the rule at the time of the request', ben, REQUIRES, renamed, true],
  ['a requester of a current rule without approvers', ana, REQUIRES, free, false],
  ['another user whom a current rule without approvers names', finn, REQUIRES, free, true],
  ['the requester who approves by the current rule', anaLeads, REQUIRES, renamed, false],
  ['a user of a role that no rule names', lead, REQUIRES, null, false],
])('whether %s may resolve an unknown outcome', ([, by, requires, current, may]) => {
  const answer = { happened: false, note: 'I saw it', current };
  expect(resolve(changeIn('unknown', { requires }), by, answer, NOON).ok).toBe(may);
});

test('after a restore a change that waits is stale, and the outcome of one that runs is unknown', () => {
  const stale = { state: 'stale', stopReason: 'restored', lease: null };
  expect(moved(distrust(changeIn('approved'), 'restored'))).toMatchObject(stale);
  const unknown = { state: 'unknown', stopReason: null, lease: null };
  expect(moved(distrust(changeIn('executing'), 'restored'))).toMatchObject(unknown);
});

test('break-glass runs a change without approvals, and keeps the time of its confirmation', () => {
  const requires = { ...REQUIRES, breakGlass: 'approver' };
  const alone = (state: 'draft' | 'pending') =>
    moved(breakGlass(changeIn(state, { requires }), anaApproves, 'the disk is full', NOON));
  const used = { by: ana.id, at: NOON, reason: 'the disk is full' };
  const running = { state: 'approved', approvals: [], breakGlass: used, version: 4 };
  expect(alone('pending')).toMatchObject({ ...running, confirmedAt: minutes(-9) });
  expect(alone('draft')).toMatchObject({ ...running, confirmedAt: NOON });
});

test('approvers and users with break-glass review it, each without the other role', () => {
  const gus = actor('U0GUS', 'oncall');
  const breakGlass = { by: ana.id, at: minutes(1), reason: 'the disk is full' };
  const requires = { ...REQUIRES, breakGlass: 'oncall' };
  const change = changeIn('succeeded', { requires, approvals: [], breakGlass });
  const reviewed = { by: ben.id, at: NOON, note: 'I saw the same' };
  const byBoth = { state: 'succeeded', review: reviewed };
  expect(moved(review(change, ben, 'I saw the same', NOON))).toMatchObject(byBoth);
  expect(review(change, gus, 'fine', NOON)).toMatchObject({ ok: true });
});
