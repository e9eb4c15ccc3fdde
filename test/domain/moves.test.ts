import { expect, test } from 'vitest';
import type { BlockingFreeze, Change } from '../../src/domain/change.ts';
import { actor, ana, ben, changeIn, cleo, minutes, NOON, REQUIRES } from './changes-fixtures.ts';
import {
  after,
  approve,
  confirm,
  expire,
  handBack,
  type Move,
  markAbandoned,
  markUnknown,
  reject,
  start,
} from './gate-fixtures.ts';

const byBen = { by: ben.id, at: minutes(-5) };
const anaApproves = actor('U0ANA', 'operator', 'approver');
const free = { ...REQUIRES, from: null, count: 0 };
const selfServed = { ...REQUIRES, self: true };
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
