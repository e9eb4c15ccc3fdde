import { expect, test } from 'vitest';
import { markUnknown } from '../../src/changes/after-outcome.ts';
import type { BlockingFreeze, Change } from '../../src/changes/change.ts';
import {
  approve,
  confirm,
  expire,
  reject,
  returnPermit,
  start,
  stop,
} from '../../src/changes/lifecycle.ts';
import type { Transition } from '../../src/changes/outcome.ts';
import { actor, ana, ben, changeIn, cleo, minutes, NOON, REQUIRES } from './fixtures.ts';

const byBen = { by: ben.id, at: minutes(-5) };
const anaApproves = actor('U0ANA', 'operator', 'approver');
const free = { ...REQUIRES, from: null, count: 0 };
const selfServed = { ...REQUIRES, self: true };
const lease = { owner: 'replica-2', until: minutes(1) };

function moved(outcome: Transition): Change {
  if (!outcome.ok) throw new Error(outcome.refusal);
  return outcome.change;
}

test('a confirmed change waits for its approvers, from now on for the time of its rule', () => {
  const pending = moved(confirm(changeIn('draft'), ana, NOON));
  expect(pending).toMatchObject({ state: 'pending', version: 4, expiresAt: minutes(240) });
});

test('a confirmed change runs at once where its rule asks nobody', () => {
  const change = moved(confirm(changeIn('draft', { requires: free }), ana, NOON));
  expect(change).toMatchObject({ state: 'approved', notBefore: null, expiresAt: minutes(240) });
});

test('the last approval leaves the hour until which it may run as it was', () => {
  const change = changeIn('pending', { approvals: [byBen], expiresAt: minutes(100) });
  const approved = moved(approve(change, cleo, NOON));
  expect(approved).toMatchObject({ state: 'approved', expiresAt: minutes(100) });
});

test('what waits for others expires at its hour, not after it', () => {
  expect(moved(expire(changeIn('pending'), minutes(240))).state).toBe('expired');
});

test('a change is approved by the last of those it needs', () => {
  const once = moved(approve(changeIn('pending'), ben, NOON));
  expect(once).toMatchObject({ state: 'pending', approvals: [{ by: ben.id, at: NOON }] });
  const twice = moved(approve(once, cleo, minutes(1)));
  expect(twice.state).toBe('approved');
  expect(twice.approvals).toEqual([
    { by: ben.id, at: NOON },
    { by: cleo.id, at: minutes(1) },
  ]);
});

test('the requester approves too where the rule says so', () => {
  const change = changeIn('pending', { requires: selfServed });
  expect(moved(approve(change, anaApproves, NOON)).approvals).toEqual([{ by: ana.id, at: NOON }]);
});

test('one rejection ends the change, also after approvals', () => {
  const rejected = moved(reject(changeIn('pending', { approvals: [byBen] }), cleo, 'no', NOON));
  const rejection = { by: cleo.id, at: NOON, reason: 'no' };
  expect(rejected).toMatchObject({ state: 'rejected', rejection, approvals: [byBen] });
});

test('a change that was handed back runs again, with a lease of its own, when its time comes', () => {
  const back = moved(returnPermit(moved(start(changeIn('approved'), lease, NOON)), minutes(2)));
  expect(back).toMatchObject({ state: 'approved', lease: null, notBefore: minutes(2) });
  expect(moved(start(back, lease, minutes(2)))).toMatchObject({ state: 'executing', lease });
});

test('what stopped an approved change is kept by name', () => {
  const stopped = moved(stop(changeIn('approved'), 'denied', 'frozen'));
  expect(stopped).toMatchObject({ state: 'denied', stopReason: 'frozen' });
  expect(stopped).not.toHaveProperty('frozenBy');
});

test('the freeze that stopped an approved change is kept with it', () => {
  const frozenBy: BlockingFreeze = { until: minutes(60), reason: 'year end', by: 'Gus' };
  const stopped = moved(stop(changeIn('approved'), 'denied', 'frozen', frozenBy));
  expect(stopped).toMatchObject({ state: 'denied', stopReason: 'frozen', frozenBy });
});

test('a change whose sender died is unknown, never failed', () => {
  const left = moved(markUnknown(changeIn('executing', { lease }), lease.until));
  const text = 'Signalbox stopped while the request was under way.';
  expect(left).toMatchObject({ state: 'unknown', lease: null, outcome: { how: 'unknown', text } });
});
