import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Actor } from '../../src/domain/change.ts';
import { type Change, isEnded, STATES, type State } from '../../src/domain/change.ts';
import { planDigest } from '../../src/domain/draft.ts';
import { notNarrower } from '../../src/domain/narrow.ts';
import {
  actor,
  ana,
  ben,
  changeIn,
  cleo,
  dora,
  FAILURE,
  minutes,
  NOON,
  PLAN,
  REQUIRES,
  SUCCESS,
  UNKNOWN,
} from './changes-fixtures.ts';
import {
  abandonRevert,
  approve,
  breakGlass,
  cancel,
  confirm,
  distrust,
  endRun,
  expire,
  finish,
  handBack,
  type Move,
  markUnknown,
  narrow,
  reject,
  resolve,
  review,
  revoke,
  settleByEvidence,
  start,
} from './gate-fixtures.ts';

type Verb = (change: Change, by: Actor, now: Date) => Move;

const VERBS = {
  confirm,
  approve,
  narrow,
  reject: (change, by, now) => reject(change, by, 'not today', now),
  cancel,
  expire: (change, _by, now) => expire(change, now),
  start: (change, _by, now) => start(change, { owner: 'replica-1', until: now, nonce: 'n' }, now),
  handBack: (change, _by, now) => handBack(change, now),
  finish: (change) => finish(change, SUCCESS),
  giveUp: (change, _by, now) => markUnknown(change, now),
  resolve: (change, by, now) =>
    resolve(change, by, { happened: true, note: 'I saw it', current: null }, now),
  breakGlass: (change, by, now) => breakGlass(change, by, 'the disk is full', now),
  review: (change, by, now) => review(change, by, 'I saw the same', now),
  settle: (change, _by, now) => settleByEvidence(change, EVIDENCE, now),
  distrust: (change) => distrust(change, 'restored'),
  keep: (change) => abandonRevert(change),
  revoke,
} satisfies Readonly<Record<string, Verb>>;

/** The verbs with an allowed actor and time, so that only the state can refuse. */
function atBest(verb: string, change: Change): Move {
  const by = ['confirm', 'cancel', 'breakGlass'].includes(verb) ? ana : ben;
  // The names come from the table itself.
  return VERBS[verb as keyof typeof VERBS](change, by, verb === 'expire' ? minutes(999) : NOON);
}

const EVIDENCE = { shown: 'stopped', shownAt: NOON, before: 'running', beforeAt: minutes(-1) };

/** What a verb needs besides a state. */
function withAll(verb: string): Partial<Change> {
  const requires = { ...REQUIRES, count: 1, breakGlass: 'operator' };
  const used = { by: ana.id, at: NOON, reason: 'the disk is full' };
  const allows = { commands: ['service stop'], scope: { tag: 'prod' }, uses: 1, forMs: 3_600_000 };
  const target = { ...PLAN.target, kind: 'standing approval' } as const;
  if (verb === 'revoke') return { requires, plan: { ...PLAN, target, body: allows } };
  return { requires, revertAt: minutes(1), breakGlass: verb === 'review' ? used : null };
}

function outcomes(verb: string): string {
  const results = STATES.map((state) => {
    const outcome = atBest(verb, changeIn(state, withAll(verb)));
    return { state, result: outcome.ok ? `→ ${outcome.change.state}` : outcome.refusal };
  });
  const groups = Object.entries(Object.groupBy(results, ({ result }) => result));
  const lines = groups.map(
    ([result, found = []]) => `  ${result}: ${found.map(({ state }) => state).join(' ')}`,
  );
  return [verb, ...lines].join('\n');
}

test('every verb in every state has the result of this table', () => {
  expect(Object.keys(VERBS).map(outcomes).join('\n')).toMatchInlineSnapshot(`
    "confirm
      → pending: draft
      not-draft: pending approved executing succeeded failed unknown rejected cancelled expired stale denied
    approve
      not-pending: draft
      → approved: pending
      already-decided: approved executing succeeded failed unknown rejected cancelled expired stale denied
    narrow
      not-pending: draft
      → approved: pending
      already-decided: approved executing succeeded failed unknown rejected cancelled expired stale denied
    reject
      not-pending: draft
      → rejected: pending
      already-decided: approved executing succeeded failed unknown rejected cancelled expired stale denied
    cancel
      → cancelled: draft pending approved
      already-decided: executing succeeded failed unknown rejected cancelled expired stale denied
    expire
      → expired: draft pending approved
      already-decided: executing succeeded failed unknown rejected cancelled expired stale denied
    start
      not-approved: draft pending executing succeeded failed unknown rejected cancelled expired stale denied
      → executing: approved
    handBack
      not-executing: draft pending approved succeeded failed unknown rejected cancelled expired stale denied
      → approved: executing
    finish
      not-executing: draft pending approved succeeded failed unknown rejected cancelled expired stale denied
      → succeeded: executing
    giveUp
      not-executing: draft pending approved succeeded failed unknown rejected cancelled expired stale denied
      → unknown: executing
    resolve
      not-unknown: draft pending approved executing succeeded failed rejected cancelled expired stale denied
      → succeeded: unknown
    breakGlass
      → approved: draft pending
      already-decided: approved executing succeeded failed unknown rejected cancelled expired stale denied
    review
      not-ended: draft pending approved executing unknown
      → succeeded: succeeded
      → failed: failed
      → rejected: rejected
      → cancelled: cancelled
      → expired: expired
      → stale: stale
      → denied: denied
    settle
      not-unknown: draft pending approved executing succeeded failed rejected cancelled expired stale denied
      → succeeded: unknown
    distrust
      → stale: draft pending approved
      → unknown: executing
      already-decided: succeeded failed unknown rejected cancelled expired stale denied
    keep
      already-decided: draft pending approved executing failed unknown rejected cancelled expired stale denied
      → succeeded: succeeded
    revoke
      standing-ended: draft pending approved executing failed unknown rejected cancelled expired stale denied
      → succeeded: succeeded"
  `);
});

// Ana is an approver as well, so that only the self-approval rule refuses her.
const PEOPLE = [actor('U0ANA', 'operator', 'approver'), ben, cleo, dora];

const ENDINGS = [FAILURE, UNKNOWN].map(
  (end): Verb =>
    (change) =>
      finish(change, end),
);
const denied: Verb = (change, _by, now) => endRun(change, now);

// Most steps move forward, so that enough walks reach a final state.
const { confirm: ask, approve: agree, start: send, ...rest } = VERBS;
const verbs = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Verb>(ask, agree, send, denied) },
  { weight: 1, arbitrary: fc.constantFrom<Verb>(...Object.values(rest), ...ENDINGS) },
);
const steps = fc.array(
  fc.record({
    verb: verbs,
    by: fc.constantFrom(...PEOPLE),
    // Sometimes so late that everything has expired.
    at: fc.oneof({ weight: 19, arbitrary: fc.nat(29) }, fc.constant(999)).map(minutes),
  }),
  { maxLength: 40, size: 'max' },
);
const requirements = fc
  .record({ count: fc.nat(3), self: fc.boolean() })
  .map(({ count, self }) => ({ ...REQUIRES, count, self, from: count > 0 ? 'approver' : null }));

/** Random moves of one change by users and by Signalbox. */
const walks = fc.record({ requires: requirements, steps }).map(({ requires, steps }) => {
  const visited = [changeIn('draft', { requires })];
  for (const { verb, by, at } of steps) {
    const before = visited[visited.length - 1] ?? changeIn('draft');
    const outcome = verb(before, by, at);
    if (outcome.ok) visited.push(outcome.change);
  }
  return visited;
});

test('of 1,000 random walks, each move keeps what a change may not lose', () => {
  const reached = new Set<State>(['draft']);
  let lowered = 0;
  const property = fc.property(walks, (visited) => {
    visited.slice(1).forEach((after, index) => {
      const before = visited[index];
      if (!before) return;
      reached.add(after.state);
      // A revert that was narrowed into a change can be kept from running after its end.
      if (isEnded(before)) expect(after.state).toBe(before.state);
      expectApprovals(before, after);
      if (expectSameRequest(before, after) === 'lowered') lowered += 1;
    });
  });
  fc.assert(property, { numRuns: 1_000 });
  expect(lowered).toBeGreaterThan(0);
  expect([...reached].toSorted()).toEqual([...STATES].toSorted());
});

/** Each move increases the version by one and keeps the request, or lowers it. */
function expectSameRequest(before: Change, after: Change): 'same' | 'lowered' {
  expect(after.version).toBe(before.version + 1);
  const { id, requester, plan, digest, requires, narrowings = [] } = before;
  expect(after).toMatchObject({ id, requester, requires });
  if ((after.narrowings ?? []).length === narrowings.length) {
    expect(after).toMatchObject({ plan, digest });
    return 'same';
  }
  expect(notNarrower(plan, after.plan, NOON)).toBeNull();
  expect(after.digest).toBe(planDigest(after));
  return 'lowered';
}

/** Approvals are only added, one at a time, and once per person; no change runs without them. */
function expectApprovals(before: Change, after: Change): void {
  expect(after.approvals.slice(0, before.approvals.length)).toEqual(before.approvals);
  expect(after.approvals.length - before.approvals.length).toBeLessThanOrEqual(1);
  const people = after.approvals.map(({ by }) => by);
  expect(new Set(people).size).toBe(people.length);
  if (!after.requires.self) expect(people).not.toContain(ana.id);
  if (after.state !== 'executing') return;
  expect(people.length).toBeGreaterThanOrEqual(after.requires.count);
}
