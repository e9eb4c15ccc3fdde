import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { HOUR_MS } from '../../src/base/time.ts';
import type { Actor, Change, Plan, UserId } from '../../src/domain/change.ts';
import { planDigest } from '../../src/domain/draft.ts';
import { gate } from '../../src/domain/gate.ts';
import { parseEvent } from '../../src/domain/log-events.ts';
import {
  boundsOf,
  delayed,
  dimensionsOf,
  lessParts,
  notNarrower,
} from '../../src/domain/narrow.ts';
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
} from './changes-fixtures.ts';
import { after, approve, pressed } from './gate-fixtures.ts';

const HOURS = (count: number) => minutes(60 * count).toISOString();
const revertAfter = (hours: number, until?: string) => ({
  ...{
    afterMs: hours * HOUR_MS,
    label: 'Restore the previous size',
    line: 'service scale x max=8',
  },
  ...(until !== undefined && { until }),
});

interface Sizes {
  readonly max?: number;
  readonly replicas?: number;
  readonly startAt?: string | null;
  readonly revert?: ReturnType<typeof revertAfter> | null;
}

/** A scale of a service that has at most 32 GB and two replicas now. */
function scale({ max = 64, replicas = 4, startAt = null, revert = null }: Sizes = {}): Plan {
  const body = { minReplicaMemoryGb: 8, maxReplicaMemoryGb: max, numReplicas: replicas };
  const before = { minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32, numReplicas: 2 };
  const { cost: _, ...plan } = PLAN;
  return {
    ...plan,
    args: { service: 'x', maxReplicaMemoryGb: String(max), numReplicas: String(replicas) },
    sends: 'PATCH replicaScaling',
    body,
    before: { fields: before, seenAt: NOON, source: 'a read', wasRead: true },
    rows: Object.entries(before).flatMap(([field, now]) => {
      const value = (body as JsonObject)[field] ?? null;
      return value === now ? [] : [{ field, label: field.slice(3), before: now, after: value }];
    }),
    warnings: [],
    ...((startAt || revert) && { timing: { startAt, revert } }),
  };
}

const start = fc.option(fc.integer({ min: -2, max: 12 }).map(HOURS));
const revert = fc.option(
  fc.oneof(
    fc.integer({ min: 1, max: 12 }).map((hours) => revertAfter(hours)),
    fc.integer({ min: 1, max: 20 }).map((hours) => revertAfter(hours, HOURS(hours))),
  ),
);
const sizes = fc.record({
  max: fc.integer({ min: 2, max: 20 }).map((steps) => steps * 4),
  replicas: fc.integer({ min: -1, max: 6 }),
  startAt: start,
  revert,
});
const plans = sizes.map(scale);

/** Another request: each of these changes something that no approver may change. */
const OTHERS: readonly ((plan: Plan) => Plan)[] = [
  (plan) => ({ ...plan, target: { ...plan.target, id: 'another' } }),
  (plan) => ({ ...plan, target: { ...plan.target, tags: [] } }),
  (plan) => ({ ...plan, sends: 'DELETE service' }),
  (plan) => ({ ...plan, args: { ...plan.args, service: 'y' } }),
  (plan) => ({ ...plan, args: { ...plan.args, idleScaling: 'off' } }),
  (plan) => ({ ...plan, body: { ...plan.body, minReplicaMemoryGb: 4 } }),
  (plan) => ({ ...plan, body: { ...plan.body, idleScaling: false } }),
  (plan) => ({ ...plan, body: { minReplicaMemoryGb: 8, maxReplicaMemoryGb: 32 } }),
  (plan) => ({ ...plan, before: plan.before && { ...plan.before, fields: {} } }),
  (plan) => ({ ...plan, rows: [...plan.rows, ...PLAN.rows] }),
  (plan) => ({ ...plan, unchangedFields: ['Name'] }),
  (plan) => ({ ...plan, gaps: ['nothing was read'] }),
];

const others = fc.option(fc.constantFrom(...OTHERS), { freq: 2 });

/** When a plan that is approved at `approved` applies, in milliseconds. */
function window({ timing }: Plan, approved: number) {
  const from = timing?.startAt ? Date.parse(timing.startAt) : approved;
  const { revert: end = null } = timing ?? {};
  if (end === null) return { from, until: Number.POSITIVE_INFINITY };
  return { from, until: end.until === undefined ? from + end.afterMs : Date.parse(end.until) };
}

/** Whether less of the same is asked for, whenever it is approved. */
function isLess(wider: Plan, plan: Plan): boolean {
  const within = ['maxReplicaMemoryGb', 'numReplicas'].every((field) => {
    const [had, has] = [Number(wider.body[field]), Number(plan.body[field])];
    const now = Number(wider.before?.fields[field]);
    return has === had || (has <= had && has > 0 && !(had >= now && has < now));
  });
  const times = [0, 1, 5, 30].map((hours) => NOON.getTime() + hours * HOUR_MS);
  const isInside = times.every((approved) => {
    const has = window(plan, approved);
    // What starts at a fixed time now could have started at once.
    const had = window(wider, plan.timing?.startAt ? NOON.getTime() : approved);
    return has.from >= had.from && has.until <= had.until;
  });
  return within && isInside;
}

test('of 2,500 pairs of plans, only less of the same is narrower', () => {
  const found = { narrower: 0, wider: 0, 'not-narrower': 0 };
  fc.assert(
    fc.property(plans, fc.option(plans), others, (wider, lower, other) => {
      const same = lower ?? wider;
      const plan = other ? other(same) : same;
      const answer = notNarrower(wider, plan, NOON);
      found[answer?.refusal ?? 'narrower'] += 1;
      if (answer === null) {
        expect(other).toBeNull();
        expect(isLess(wider, plan)).toBe(true);
        expect(JSON.stringify(plan)).not.toBe(JSON.stringify(wider));
        // Nothing that is narrower can be made wider again.
        expect(notNarrower(plan, wider, NOON)).toMatchObject({ refusal: 'wider' });
      } else {
        expect(['wider', 'not-narrower']).toContain(answer.refusal);
      }
    }),
    { numRuns: 2_500 },
  );
  expect(Math.min(...Object.values(found))).toBeGreaterThan(0);
});

test('of 2,500 plans with less of one thing, each is narrower, and a chain of them is', () => {
  const lower = fc.constantFrom<(plan: Plan) => Plan>(
    (plan) => withBody(plan, 'maxReplicaMemoryGb', -4),
    (plan) => withBody(plan, 'numReplicas', -1),
    (plan) => withTiming(plan, HOURS(3), plan.timing?.revert ?? null),
    (plan) => withTiming(plan, plan.timing?.startAt ?? null, revertAfter(1)),
    (plan) => withTiming(plan, plan.timing?.startAt ?? null, revertAfter(2, HOURS(2))),
  );
  const chains = { none: 0, some: 0 };
  fc.assert(
    fc.property(plans, fc.array(lower, { minLength: 1, maxLength: 4 }), (first, steps) => {
      let [last, count] = [first, 0];
      for (const step of steps) {
        const next = step(last);
        if (notNarrower(last, next, NOON) !== null) continue;
        [last, count] = [next, count + 1];
        expect(notNarrower(first, last, NOON)).toBeNull();
      }
      chains[count > 1 ? 'some' : 'none'] += 1;
    }),
    { numRuns: 2_500 },
  );
  expect(chains.some).toBeGreaterThan(250);
});

type EndOf = NonNullable<Plan['timing']>['revert'];

function withBody(plan: Plan, field: string, by: number): Plan {
  const value = Number(plan.body[field]) + by;
  const rows = plan.rows
    .map((row) => (row.field === field ? { ...row, after: value } : row))
    .filter((row) => row.after !== row.before);
  return { ...plan, body: { ...plan.body, [field]: value }, rows };
}

function withTiming(plan: Plan, startAt: string | null, end: EndOf): Plan {
  return { ...plan, timing: { startAt, revert: end } };
}

/** A scale that starts at this hour and is reverted after some hours, or at the hour `until`. */
const timed = (start: number | null, hours?: number, until?: number): Sizes => ({
  startAt: start === null ? null : HOURS(start),
  revert:
    hours === undefined ? null : revertAfter(hours, until === undefined ? until : HOURS(until)),
});

test.for<[string, Sizes, Sizes, string | null]>([
  ['a lower maximum', {}, { max: 48 }, null],
  ['a higher maximum', {}, { max: 68 }, 'wider maxReplicaMemoryGb'],
  ['a maximum below the current one', {}, { max: 28 }, 'wider maxReplicaMemoryGb'],
  ['the current maximum', {}, { max: 32 }, null],
  ['a lower maximum of what shrinks already', { max: 28 }, { max: 20 }, null],
  ['fewer replicas', {}, { replicas: 3 }, null],
  ['fewer replicas and a higher maximum', {}, { replicas: 3, max: 68 }, 'wider maxReplicaMemoryGb'],
  ['no replicas', { replicas: 1 }, { replicas: 0 }, 'wider numReplicas'],
  ['a negative number', { replicas: 1 }, { replicas: -1 }, 'wider numReplicas'],
  ['a part of a replica', {}, { replicas: 2.5 }, 'wider numReplicas'],
  ['the same', {}, {}, 'not-narrower '],
  ['an end, where there was none', {}, timed(null, 300), null],
  ['no end, where there was one', timed(null, 300), {}, 'wider for'],
  ['a shorter time', timed(null, 4), timed(null, 3), null],
  ['a longer time', timed(null, 4), timed(null, 5), 'wider for'],
  ['no time', timed(null, 4), timed(null, 0), 'wider for'],
  ['a later start', timed(1), timed(2), null],
  ['an earlier start', timed(2), timed(1), 'wider at'],
  ['no start', timed(2), {}, 'wider at'],
  ['a start now', {}, timed(0), 'wider at'],
  ['a later start and a longer time', timed(1, 4), timed(2, 5), 'wider for'],
  ['no end, where there was a moment', timed(null, 4, 4), {}, 'wider until'],
  ['an end at the start', timed(3, 4, 7), timed(3, 1, 3), 'wider until'],
  ['a start in the past', {}, timed(-1), 'wider at'],
  ['a later start with the same duration', timed(1, 4), timed(2, 4), 'wider at'],
  ['a later start with the same end', timed(1, 4), timed(2, 3), null],
  ['a later start of what could run at once', timed(null, 4), timed(2, 4), 'wider at'],
  ['an earlier moment of the end', timed(null, 4, 4), timed(null, 3, 3), null],
  ['a duration instead of the moment', timed(null, 4, 4), timed(null, 1), 'wider until'],
  ['an end before the start', timed(3, 4, 7), timed(3, 1, 2), 'wider until'],
])('%s', ([, had, has, expected]) => {
  const answer = notNarrower(scale(had), scale(has), NOON);
  expect(answer && `${answer.refusal} ${answer.field ?? ''}`).toBe(expected);
});

test('another way back is wider, also with a shorter time', () => {
  const other = { ...revertAfter(1), line: 'service stop x' };
  const answer = notNarrower(scale({ revert: revertAfter(4) }), scale({ revert: other }), NOON);
  expect(answer).toEqual({ refusal: 'wider', field: 'for' });
});

test('less of another request is wider', () => {
  const answers = OTHERS.map((other) => notNarrower(scale(), other(scale({ max: 48 })), NOON));
  expect(answers.map((answer) => answer?.refusal)).toEqual(OTHERS.map(() => 'wider'));
});

test('a later start keeps the end', () => {
  const later = { startAt: HOURS(1), revert: revertAfter(3) };
  expect(delayed({ startAt: null, revert: revertAfter(4) }, minutes(60), NOON)).toEqual(later);
  expect(delayed(later, minutes(120), NOON)).toMatchObject({ revert: revertAfter(2) });
  expect(delayed(undefined, minutes(60), NOON)).toEqual({ startAt: HOURS(1), revert: null });
});

test('only what a change has or may get can be lowered', () => {
  expect(dimensionsOf(PLAN, 'start and revert')).toEqual(['at', 'for']);
  expect(dimensionsOf(PLAN, undefined)).toEqual([]);
  expect(dimensionsOf(scale(), 'start')).toEqual(['maxReplicaMemoryGb', 'numReplicas', 'at']);
  const until = scale({ revert: revertAfter(4, HOURS(4)) });
  expect(dimensionsOf(until, 'start and revert')).toContain('until');
  const timing = { startAt: null, revert: null, schedule: changeIn('draft').id };
  expect(dimensionsOf({ ...PLAN, timing }, 'start and revert')).toEqual([]);
  expect(boundsOf(scale(), 'maxReplicaMemoryGb')).toEqual({ least: 32, most: 64 });
  expect(boundsOf({ ...scale(), before: null }, 'numReplicas')).toEqual({ least: 1, most: 4 });
});

test('people read what is less', () => {
  const lower = scale({ max: 48, startAt: HOURS(1), revert: revertAfter(2) });
  expect(lessParts(scale(), lower)).toEqual([
    ...['ReplicaMemoryGb 64 → 48', ', ', 'runs ', 'once approved', ' → ', { at: minutes(60) }],
    ...[', ', 'reverts ', 'never', ' → ', '2 h later'],
  ]);
  const until = scale({ revert: revertAfter(1, HOURS(1)) });
  expect(lessParts(scale({ revert: revertAfter(4) }), until)).toEqual([
    ...['reverts ', '4 h later', ' → ', { at: minutes(60) }],
  ]);
});

// The gate, and what becomes of the change.

const pending = (over: Partial<Change> = {}) =>
  changeIn('pending', { plan: scale({ startAt: HOURS(1) }), ...over });
const byBen = { by: ben.id, at: NOON };
const LOWER = scale({ max: 48, startAt: HOURS(2) });

function narrow(change: Change, by: Actor, narrower: Plan | null, now = NOON) {
  const answer = gate(change, 'narrow', pressed(change, by, { narrower, now }));
  return 'refusal' in answer ? answer.refusal : after(change, answer, now);
}

function lowered(change: Change, by: Actor, narrower: Plan): Change {
  const result = narrow(change, by, narrower);
  if (typeof result === 'string') throw new Error(result);
  return result;
}

test('less is an approval of a new plan, to which the digest is bound', () => {
  const change = pending();
  const less = lowered(change, ben, LOWER);
  expect(less).toMatchObject({ state: 'pending', plan: LOWER });
  expect(less.digest).toBe(planDigest({ ...change, plan: LOWER }));
  expect(less.approvals).toEqual([{ by: ben.id, at: NOON }]);
  const { plan, digest } = change;
  const [only] = less.narrowings ?? [];
  expect(only).toEqual({ by: ben.id, at: NOON, version: 4, wider: { plan, digest } });
});

test('the last approval with less makes the change ready, at its later time', () => {
  const change = pending({ approvals: [{ by: cleo.id, at: NOON }] });
  const less = lowered(change, ben, LOWER);
  expect(less).toMatchObject({ state: 'approved', notBefore: minutes(120) });
  expect(less.approvals.map(({ by }) => by)).toEqual([cleo.id, ben.id]);
});

test('what ends earlier has to be decided earlier', () => {
  const until = scale({ revert: revertAfter(1, HOURS(1)) });
  const less = lowered(pending({ plan: scale() }), ben, until);
  expect(less.expiresAt).toEqual(minutes(60));
});

test('approvals of each plan of a chain count for the last one, and no others do', () => {
  const first = pending({ requires: { ...REQUIRES, count: 4 } });
  const second = lowered(first, ben, LOWER);
  const third = lowered(second, cleo, scale({ max: 40, startAt: HOURS(2) }));
  const gus = 'U0GUS' as UserId;
  const digests = [first.digest, second.digest, third.digest, 'sha of another plan'];
  const approvals = digests.map(
    (digest) => after(third, { type: 'approved', by: gus, digest }, NOON).approvals.length,
  );
  expect(approvals).toEqual([3, 3, 3, 2]);
});

test('who pressed Approve on the wider card approved what that card showed', () => {
  const change = pending();
  const less = lowered(change, ben, LOWER);
  const press = (seen: number | null) => gate(less, 'approve', pressed(less, cleo, { seen }));
  expect(press(3)).toMatchObject({ type: 'approved', digest: change.digest });
  expect(press(4)).toMatchObject({ type: 'approved', digest: less.digest });
  expect(press(null)).toMatchObject({ type: 'approved', digest: less.digest });
});

test.for<[string, Change, Actor, string]>([
  ['its requester', pending(), actor('U0ANA', 'operator', 'approver'), 'self-approval'],
  ['a person without the role', pending(), dora, 'not-an-approver'],
  ['the agent that asked', pending(), actor('agent:ci', 'approver'), 'bot'],
  ['one who has approved', pending({ approvals: [byBen] }), ben, 'already-approved'],
  ['one who comes too late', pending({ expiresAt: minutes(-1) }), ben, 'expired'],
])('the gate asks the same of less as of Approve: %s', ([, change, by, refusal]) => {
  expect(narrow(change, by, LOWER)).toBe(refusal);
});

test('the gate refuses more, the same and nothing', () => {
  expect(narrow(pending(), ben, scale({ max: 128, startAt: HOURS(2) }))).toBe('wider');
  expect(narrow(pending(), ben, pending().plan)).toBe('not-narrower');
  expect(narrow(pending(), ben, null)).toBe('not-narrower');
});

test('two people who lower at once: the second one is refused where it would raise', () => {
  const first = lowered(pending(), ben, LOWER);
  expect(narrow(first, cleo, scale({ max: 56, startAt: HOURS(2) }))).toBe('wider');
  expect(approve(first, ana, NOON)).toMatchObject({ ok: false, refusal: 'self-approval' });
});

test('the event reads as it was written', () => {
  const event = { type: 'narrowed', by: ben.id, plan: LOWER, digest: 'd2', wider: 'd1' };
  const stored = JSON.parse(JSON.stringify(event));
  expect(parseEvent('change/K3M9QD', stored)).toEqual(event);
});
