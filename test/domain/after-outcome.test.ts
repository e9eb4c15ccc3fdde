import { expect, test } from 'vitest';
import { resolvingRoles } from '../../src/domain/approvals.ts';
import type { Actor, Evidence, Refusal, Requirement } from '../../src/domain/change.ts';
import { type Change, STATES } from '../../src/domain/change.ts';
import {
  actor,
  ana,
  ben,
  changeIn,
  dora,
  minutes,
  NOON,
  PLAN,
  REQUIRES,
} from './changes-fixtures.ts';
import { settleByEvidence, snooze } from './gate-fixtures.ts';

const anaApproves = actor('U0ANA', 'operator', 'approver');
const lead = actor('U0LEAD', 'lead');
const selfServed = { ...REQUIRES, self: true };
const renamed = { ...REQUIRES, from: 'lead' };

test.for<[string, Change, Actor, Requirement | null]>([
  ['an approver of a pending change', changeIn('pending'), ben, null],
  ['the requester, where the rule allows self-approval', waiting(selfServed), anaApproves, null],
  ['an approver of an unknown outcome', changeIn('unknown'), ben, null],
  ['an approver by the current rule', changeIn('unknown'), lead, renamed],
  [
    'an approver of an unknown outcome after the change would have expired',
    changeIn('unknown', { expiresAt: NOON }),
    ben,
    null,
  ],
])('%s delays the reminders, and changes nothing else', ([, change, by, current]) => {
  expect(snooze(change, by, current, NOON)).toEqual({
    ok: true,
    change: { ...change, version: change.version + 1, hash: 'h2', snoozedUntil: minutes(60) },
  });
});

function waiting(requires: Requirement): Change {
  return changeIn('pending', { requires });
}

test.for<[string, Change, Actor, Requirement | null, Refusal]>([
  ['the change expires now', changeIn('pending', { expiresAt: NOON }), ben, null, 'expired'],
  ['a viewer does it', changeIn('pending'), dora, null, 'not-an-approver'],
  ['the requester is an approver', changeIn('pending'), anaApproves, null, 'not-an-approver'],
  [
    'the requester of a self-approved change is no approver',
    waiting(selfServed),
    ana,
    null,
    'not-an-approver',
  ],
  [
    'an approver by the current rule alone does it while the change is pending',
    changeIn('pending'),
    lead,
    renamed,
    'not-an-approver',
  ],
  [
    'a viewer does it while the outcome is unknown',
    changeIn('unknown'),
    dora,
    null,
    'not-an-approver',
  ],
])('delaying the reminders is refused when %s', ([, change, by, current, refusal]) => {
  expect(snooze(change, by, current, NOON)).toEqual({ ok: false, refusal });
});

test('reminders are delayed only while a change waits for approvers', () => {
  const refused = STATES.filter((state) => {
    const outcome = snooze(changeIn(state), ben, null, NOON);
    return !outcome.ok && outcome.refusal === 'already-decided';
  });
  expect(STATES.filter((state) => !refused.includes(state))).toEqual(['pending', 'unknown']);
});

test('the roles that resolve an unknown outcome are those of both rules, each once', () => {
  const free = { ...REQUIRES, from: null, count: 0 };
  expect(resolvingRoles({ requires: REQUIRES }, null)).toEqual(['approver']);
  expect(resolvingRoles({ requires: REQUIRES }, REQUIRES)).toEqual(['approver']);
  expect(resolvingRoles({ requires: REQUIRES }, renamed)).toEqual(['approver', 'lead']);
  expect(resolvingRoles({ requires: free }, renamed)).toEqual(['operator', 'lead']);
});

const EVIDENCE: Evidence = {
  shown: 'stopped',
  shownAt: minutes(5),
  before: 'running',
  beforeAt: minutes(1),
};

test('a reading of the target settles an unknown outcome as succeeded', () => {
  const revert = { afterMs: 3_600_000, label: 'Start it again', line: 'service start' };
  const change = changeIn('unknown', { plan: { ...PLAN, timing: { startAt: null, revert } } });
  expect(settleByEvidence(change, EVIDENCE, minutes(6))).toEqual({
    ok: true,
    change: {
      ...change,
      version: change.version + 1,
      hash: 'h2',
      state: 'succeeded',
      revertAt: minutes(62),
      resolution: {
        by: 'signalbox',
        at: minutes(6),
        happened: true,
        note: 'The target shows what was requested, and did not before.',
        evidence: EVIDENCE,
      },
    },
  });
});

test.for(STATES.filter((state) => state !== 'unknown'))(
  'a reading of the target settles nothing when the change is %s',
  (state) => {
    expect(settleByEvidence(changeIn(state), EVIDENCE, NOON)).toEqual({
      ok: false,
      refusal: 'not-unknown',
    });
  },
);
