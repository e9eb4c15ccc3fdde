import { expect, test } from 'vitest';
import { decidingRoles } from '../../src/domain/approvals.ts';
import type { Change, Timing } from '../../src/domain/change.ts';
import { planDigest } from '../../src/domain/draft.ts';
import {
  actor,
  ana,
  ben,
  changeIn,
  cleo,
  FAILURE,
  minutes,
  NOON,
  PLAN,
  REQUIRES,
  SUCCESS,
  UNKNOWN,
} from './changes-fixtures.ts';
import { abandonRevert, approve, confirm, finish, resolve } from './gate-fixtures.ts';

const back = { afterMs: 4 * 3_600_000, label: 'Start it again', line: 'service start staging' };
const timed = (timing: Timing, state: Change['state'] = 'draft', over: Partial<Change> = {}) =>
  changeIn(state, { plan: { ...PLAN, timing }, ...over });
const at = (startAt: Date | null): Timing => ({
  startAt: startAt?.toISOString() ?? null,
  revert: null,
});
const free = { requires: { ...REQUIRES, count: 0 } };

test.for<[string, Change, object]>([
  [
    'waits for approvals as long as its rule says',
    timed(at(minutes(24 * 60))),
    { state: 'pending', expiresAt: minutes(240), notBefore: null },
  ],
  [
    'waits for approvals until its scheduled time at most',
    timed(at(minutes(60))),
    { state: 'pending', expiresAt: minutes(60) },
  ],
  [
    'that needs no approval waits at most 1 h after its scheduled time',
    timed(at(minutes(600)), 'draft', free),
    { state: 'approved', notBefore: minutes(600), expiresAt: minutes(660) },
  ],
])('a timed change %s', ([, draft, expected]) => {
  expect(confirm(draft, ana, NOON)).toMatchObject({ ok: true, change: expected });
});

test('after its last approval a timed change waits for its start', () => {
  const approvals = [{ by: cleo.id, at: NOON }];
  const change = timed(at(minutes(90)), 'pending', { approvals, expiresAt: minutes(90) });
  const expected = { state: 'approved', notBefore: minutes(90), expiresAt: minutes(150) };
  expect(approve(change, ben, NOON)).toMatchObject({ ok: true, change: expected });
});

test('a change for four hours is reverted four hours after it succeeded', () => {
  const change = timed({ startAt: null, revert: back }, 'executing');
  expect(finish(change, SUCCESS)).toMatchObject({ change: { revertAt: minutes(242) } });
  expect(finish(change, { ...FAILURE, how: 'failed' })).toMatchObject({
    change: { revertAt: null },
  });
  expect(finish(change, UNKNOWN)).toMatchObject({ change: { revertAt: null } });
});

test('a resolved unknown outcome counts from the time of the request', () => {
  const change = timed({ startAt: null, revert: back }, 'unknown');
  const settle = (happened: boolean) =>
    resolve(change, ben, { happened, note: 'the console says so', current: null }, minutes(100));
  expect(settle(true)).toMatchObject({ change: { revertAt: minutes(242) } });
  expect(settle(false)).toMatchObject({ change: { revertAt: null } });
});

test('a revert that cannot be planned is abandoned once', () => {
  const change = timed({ startAt: null, revert: back }, 'succeeded', { revertAt: minutes(242) });
  const kept = { state: 'succeeded', revertAt: null, version: 4 };
  expect(abandonRevert(change)).toMatchObject({ ok: true, change: kept });
  const no = { ok: false, refusal: 'already-decided' };
  expect(abandonRevert({ ...change, revertAt: null })).toEqual(no);
});

test('the plan digest covers the timing', () => {
  const digests = [undefined, at(null), at(NOON), { startAt: null, revert: back }].map((timing) =>
    planDigest(changeIn('draft', { plan: timing ? { ...PLAN, timing } : PLAN })),
  );
  expect(new Set(digests).size).toBe(4);
});

const escalating = { ...REQUIRES, escalation: { to: 'chief', afterMs: 3_600_000 } };
const gus = actor('U0GUS', 'chief');

test('the escalation role decides only after the wait', () => {
  const change = changeIn('pending', { requires: escalating, confirmedAt: NOON });
  expect(decidingRoles(change, minutes(59))).toEqual(['approver']);
  expect(decidingRoles(change, minutes(60))).toEqual(['approver', 'chief']);
  expect(approve(change, gus, minutes(59))).toEqual({ ok: false, refusal: 'not-an-approver' });
  expect(approve(change, gus, minutes(60))).toMatchObject({ ok: true });
});

test('a rule without approvals has no escalation', () => {
  const change = changeIn('pending', { requires: { ...escalating, from: null } });
  expect(decidingRoles(change, minutes(999))).toEqual([]);
});
