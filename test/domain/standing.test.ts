import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/base/text.ts';
import { DAY_MS, HOUR_MS } from '../../src/base/time.ts';
import {
  agentId,
  type Change,
  type ChangeId,
  type Requirement,
  STATES,
  type UserId,
} from '../../src/domain/change.ts';
import { planDigest } from '../../src/domain/draft.ts';
import { type ClaimFacts, gate, type PressFacts } from '../../src/domain/gate.ts';
import type { Policy } from '../../src/domain/policy.ts';
import {
  allowedPairs,
  allowedTarget,
  type StandingFacts,
  standingOf,
} from '../../src/domain/standing.ts';
import type { Service } from '../../src/domain/targets.ts';
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
import { after, claiming, policyThatRequires, pressed } from './gate-fixtures.ts';

const { target } = PLAN;
const SERVICE = { service: { id: target.id, name: target.name } };
const SCALE = { commands: ['service scale'], scope: SERVICE, uses: 2, forMs: 7 * DAY_MS };
const LIMITED = { ...SCALE, maxReplicaMemoryGb: 128, numReplicas: 4 };

/** A standing approval that Ana requested, and that Ben and Cleo approved. */
function standing(body: JsonObject = LIMITED, over: Partial<Change> = {}): Change {
  const own = { kind: 'standing approval', id: `service:${target.id} scale` } as const;
  const plan = { ...PLAN, target: { ...target, ...own }, body, before: null, rows: [] };
  const outcome = { ...SUCCESS, at: minutes(-1), reported: [] };
  return changeIn('succeeded', { command: 'change allow', plan, outcome, ...over });
}

const use = (change: string): NonNullable<Change['uses']>[number] => {
  return { change: change as ChangeId, by: ana.id, at: NOON, version: 4, hash: change };
};

const SIZE = { maxReplicaMemoryGb: 64, numReplicas: 2 };

/** Ana asks for a scale, and its preview names the standing approval. */
function scale(body: JsonObject = SIZE, over: Partial<Change> = {}): Change {
  const plan = { ...PLAN, body, sends: 'PATCH replicaScaling' };
  const own = { command: 'service scale', plan, standing: 'S7ANDN' as ChangeId };
  return changeIn('draft', { ...own, ...over });
}

type Identity = NonNullable<PressFacts['identity']>;
const requiring = (over: Partial<Requirement>) => policyThatRequires({ ...REQUIRES, ...over });
const POLICY = requiring({});
const known = (...people: readonly (typeof ana)[]): Map<UserId, Identity> =>
  new Map(people.map((each) => [each.id, { ok: true, actor: each }]));
const EVERYONE = known(ana, ben, cleo);
const UNANSWERED = { ok: false, refusal: 'lookup-failed' } as const;

function facts(over: Partial<StandingFacts> = {}): StandingFacts {
  const own = { standing: standing(), target, commands: ['service scale'] };
  return { now: NOON, policy: POLICY, identities: EVERYONE, ...own, ...over };
}

const answer = (change: Change, over: Partial<StandingFacts> = {}) => {
  const found = gate(change, 'use', facts(over));
  return 'refusal' in found ? found.refusal : found.approvals.map(({ by }) => by);
};

test('a use within command, target, values, time and number has the approvals of the standing approval', () => {
  expect(answer(scale())).toEqual([ben.id, cleo.id]);
  const largest = { minReplicaMemoryGb: 8, maxReplicaMemoryGb: 128 };
  expect(answer(scale(largest))).toEqual([ben.id, cleo.id]);
});

const TAG = { commands: ['service stop', 'service start'], scope: { tag: 'prod' }, uses: 2 };
const TAGGED = standing({ ...TAG, forMs: 7 * DAY_MS });
const stop = (over: Partial<Change> = {}) =>
  scale({ command: 'stop' }, { command: 'service stop', ...over });
const revertIn = (afterMs: number) => ({
  ...{ startAt: null, revert: { afterMs, label: 'Start', line: 'service start x' } },
});

test('a tag covers each service of the file that has it now, and both commands', () => {
  const over = { standing: TAGGED, commands: ['service stop', 'service start'] };
  expect(answer(stop(), over)).toEqual([ben.id, cleo.id]);
  const services = ['one', 'other'].map(
    (id): Service => ({
      ...{ id, name: id, aliases: [], tags: [id === 'one' ? 'prod' : 'dev'], warehouse: null },
      ...{ organizationId: 'o1', team: null, pipes: [], source: 'file', lastSeen: null },
    }),
  );
  const pairs = allowedPairs(TAGGED.plan.body, services);
  expect(pairs.map(({ command, target: { id } }) => `${command} ${id}`)).toEqual([
    'service stop one',
    'service start one',
  ]);
  const id = 'tag:prod service stop service start';
  const own = { kind: 'standing approval', id, name: 'stop and start of everything tagged prod' };
  expect(allowedTarget(TAGGED.plan.body, services)).toMatchObject(own);
});

const later = (ms: number) => new Date(NOON.getTime() + ms);
const ofTag = (over: Partial<typeof target>) => ({
  ...{ standing: TAGGED, commands: ['service stop'], target: { ...target, ...over } },
});
const startsLater = { startAt: later(8 * DAY_MS).toISOString(), revert: null };
const startsTooLate = scale(SIZE, { plan: { ...scale().plan, timing: startsLater } });
const ofThree = scale(SIZE, { requires: { ...REQUIRES, count: 3 } });
const REVOKED = { revoked: { by: ben.id, at: NOON } };
const anaIsBen = new Map([...EVERYONE, ...known({ ...ana, ids: [ana.id, ben.id] })]);
const benIsUnknown = new Map([...EVERYONE, [ben.id, UNANSWERED]]);
const usedUp = standing(LIMITED, { uses: [use('A'), use('B')] });

test.for<[string, string, Partial<StandingFacts>, Change?]>([
  ['another command', 'not-covered', { commands: ['service stop'] }, stop()],
  ['a command that runs with it', 'not-covered', { commands: ['service scale', 'x'] }],
  ['another target', 'not-covered', { target: { ...target, id: 'other' } }],
  ['a tag that the target lost', 'not-covered', ofTag({ tags: ['dev'] }), stop()],
  ['tags that are unknown', 'not-covered', ofTag({ tags: null }), stop()],
  ['a service that only the server lists', 'not-covered', ofTag({ discovered: true }), stop()],
  ['more memory', 'not-covered', {}, scale({ maxReplicaMemoryGb: 132 })],
  ['a larger minimum', 'not-covered', {}, scale({ minReplicaMemoryGb: 132 })],
  ['more replicas', 'not-covered', {}, scale({ numReplicas: 5 })],
  ['a value without a limit', 'not-covered', { standing: standing(SCALE) }],
  ['a field that has no limit', 'not-covered', {}, scale({ idleScaling: false })],
  ['a start after its end', 'not-covered', {}, startsTooLate],
  ['no use left', 'standing-used', { standing: usedUp }],
  ['its end', 'standing-ended', { now: later(7 * DAY_MS) }],
  ['a revocation', 'standing-ended', { standing: standing(LIMITED, REVOKED) }],
  ['a standing approval that is gone', 'standing-ended', { standing: null }],
  ['another change in its place', 'standing-ended', { standing: changeIn('succeeded') }],
  ['a role lost', 'approvals-missing', { identities: known(ana, actor(ben.id), cleo) }],
  ['an approver who is not known', 'approvals-missing', { identities: known(ana, ben) }],
  ['a lookup that failed', 'lookup-failed', { identities: benIsUnknown }],
  ['a rule that requires more', 'approvals-missing', { policy: requiring({ count: 3 }) }],
  ['a rule with other approvers', 'approvals-missing', { policy: requiring({ from: 'lead' }) }],
  ['no approval any more', 'approvals-missing', { policy: requiring({ from: null, count: 0 }) }],
  ['no rule any more', 'approvals-missing', { policy: policyThatRequires(null) }],
  ['a request with more approvals', 'approvals-missing', {}, ofThree],
  ['its own approver as requester', 'self-approval', {}, scale(SIZE, { requester: ben.id })],
  ['its approver by another id', 'self-approval', { identities: anaIsBen }],
])('not covered: %s', ([_, refusal, over, change = scale()]) => {
  expect(answer(change, over)).toBe(refusal);
});

test('where people may approve their own changes, the approval of the requester does not count', () => {
  const self = { ...REQUIRES, self: true, count: 1 };
  const change = scale(SIZE, { requester: ben.id, requires: self });
  expect(answer(change, { policy: policyThatRequires(self) })).toEqual([cleo.id]);
  const policy = policyThatRequires({ ...self, count: 2 });
  expect(answer(change, { policy })).toBe('approvals-missing');
});

test('a use that is counted stays one, also the last; each use counts', () => {
  const both = standing(LIMITED, { uses: [use('A'), use('K3M9QD')] });
  expect(answer(scale(), { standing: both })).toEqual([ben.id, cleo.id]);
  expect(standingOf(both)).toMatchObject({ left: 0, until: minutes(7 * 24 * 60 - 1) });
  const used = { type: 'used', by: ana.id, change: 'A' as ChangeId } as const;
  expect(standingOf(after(standing(), used, NOON))?.left).toBe(1);
});

const CI = agentId('ci');
const asCi = { requester: CI, via: { agent: 'ci', subject: 's', for: 'itself' } } as const;
const agents = new Map([['ci', ['operator']]]);
const admitting = (agentsStanding: boolean): Policy => {
  const rules = POLICY.rules.map(
    (rule) => ({ ...rule, agents: 'allowed', agentsStanding }) as const,
  );
  return { ...POLICY, agents, rules };
};

test('an agent uses one only where each rule says so', () => {
  const change = scale(SIZE, asCi);
  expect(answer(change, { policy: admitting(true) })).toEqual([ben.id, cleo.id]);
  expect(answer(change, { policy: admitting(false) })).toBe('agent-not-admitted');
  expect(answer(change, { policy: POLICY })).toBe('agent-not-admitted');
});

const confirm = (over: Partial<StandingFacts> | null, change = scale()) =>
  gate(change, 'confirm', pressed(change, ana, { standing: over && facts(over) }));

test('a confirmation by a standing approval approves; one without its facts asks for approvals', () => {
  const event = confirm({});
  expect(event).toMatchObject({ type: 'confirmed', approvals: [{ by: ben.id }, { by: cleo.id }] });
  const change = after(scale(), event as never, NOON);
  expect(change).toMatchObject({ state: 'approved', confirmedAt: NOON });
  expect(change.approvals).toHaveLength(2);
  const asked = confirm(null);
  expect(asked).toEqual({ type: 'confirmed', by: ana.id });
  expect(after(scale(), asked as never, NOON).state).toBe('pending');
});

test('a draft whose standing approval does not cover it any more ends; a failed lookup ends nothing', () => {
  const ended = { refusal: 'standing-ended', ends: { type: 'stale' } };
  expect(confirm({ standing: null })).toMatchObject(ended);
  const failed = { refusal: 'lookup-failed', ends: null };
  expect(confirm({ identities: benIsUnknown })).toEqual(failed);
});

test('an agent for itself submits by a standing approval', () => {
  const change = scale(SIZE, asCi);
  const identity = { ok: true, actor: { id: CI, roles: ['operator'], agent: 'ci' } } as const;
  const submit = (policy: Policy) =>
    gate(change, 'submit', { by: CI, identity, standing: facts({ policy }) });
  const approvals = [{ by: ben.id }, { by: cleo.id }];
  expect(submit(admitting(true))).toMatchObject({ type: 'confirmed', approvals });
  expect(submit(POLICY)).toMatchObject({ refusal: 'agent-not-admitted' });
});

const approved = () => {
  const { approvals } = standing();
  const when = { confirmedAt: NOON, expiresAt: minutes(240) };
  return scale(SIZE, { state: 'approved', approvals, ...when });
};
const COUNTED = standing(LIMITED, { uses: [use('K3M9QD')] });

const claim = (over: Partial<ClaimFacts> = {}) => {
  const own = claiming(approved(), { standing: COUNTED, policy: POLICY, ...over });
  const found = gate(approved(), 'claim', own);
  if ('waits' in found) return found.waits;
  return 'refusal' in found ? found.refusal : found.type;
};
const lacking = ({ id }: typeof ana, now: Identity = { ok: true, actor: actor(id) }) => ({
  identities: new Map([...claiming(approved()).identities, [id, now]]),
});
const OF_AN_HOUR = standing({ ...LIMITED, forMs: HOUR_MS }, { uses: COUNTED.uses ?? [] });
const FREEZE = { from: minutes(-1), until: minutes(9), on: null, reason: 'launch', by: 'Gus' };

test.for<[string, string, Partial<ClaimFacts>]>([
  ['nothing changed', 'claimed', {}],
  ['it was revoked', 'standing-ended', { standing: { ...COUNTED, ...REVOKED } }],
  ['it has expired', 'standing-ended', { now: minutes(200), standing: OF_AN_HOUR }],
  ['the log has lost the use', 'standing-ended', { standing: standing() }],
  ['the log has lost the standing approval', 'standing-ended', { standing: null }],
  ['the requester lost the role', 'not-a-requester', lacking(ana)],
  ['an approver lost the role', 'approvals-missing', lacking(cleo)],
  ['a lookup failed', 'lookup-failed', lacking(ben, UNANSWERED)],
  ['a freeze began', 'frozen', { policy: { ...POLICY, freezes: [FREEZE] } }],
  ['the target has changed', 'target-changed', { differs: true }],
])('before the request is sent: %s', ([_, result, over]) => {
  expect(claim(over)).toBe(result);
});

test('the policy decides about each command on each target that a standing approval allows', () => {
  const change = changeIn('approved', { plan: standing().plan, command: 'change allow' });
  const allowed = [{ command: 'service scale', target }];
  const decided = (policy: Policy) => gate(change, 'claim', claiming(change, { policy, allowed }));
  expect(decided(POLICY)).toMatchObject({ type: 'claimed' });
  const never = [{ commands: ['service scale'], on: null, reason: 'the shop reads from it' }];
  expect(decided({ ...POLICY, never })).toMatchObject({ refusal: 'never' });
  expect(decided({ ...POLICY, freezes: [FREEZE] })).toMatchObject({ refusal: 'frozen' });
  expect(decided(requiring({ count: 3 }))).toMatchObject({ refusal: 'approvals-missing' });
});

test('its requester, and who may approve it, revoke it once, while it is in force', () => {
  const revoke = (who: typeof ana, change = standing(), now = NOON) => {
    const found = gate(change, 'revoke', pressed(change, who, { now }));
    return 'refusal' in found ? found.refusal : found;
  };
  expect(revoke(ana)).toEqual({ type: 'revoked', by: ana.id });
  expect(revoke(ben)).toEqual({ type: 'revoked', by: ben.id });
  expect(revoke(dora)).toBe('not-an-approver');
  const unknown = pressed(standing(), ana, { identity: UNANSWERED });
  expect(gate(standing(), 'revoke', unknown)).toMatchObject({ refusal: 'lookup-failed' });
  const ended = after(standing(), { type: 'revoked', by: ben.id }, NOON);
  expect(revoke(cleo, ended)).toBe('standing-ended');
  expect(revoke(cleo, standing(), later(7 * DAY_MS))).toBe('standing-ended');
});

test('only a standing approval that is in force is used or revoked, in no other state', () => {
  const found = STATES.map((state) => {
    const own = standing(LIMITED, { ...changeIn(state), ...standing(), state });
    const revoked = gate(own, 'revoke', pressed(own, ben));
    const used = answer(scale(), { standing: own });
    return [state, used, 'refusal' in revoked ? revoked.refusal : 'revoked'];
  });
  const ended = STATES.filter((state) => state !== 'succeeded');
  expect(found.filter(([state]) => state === 'succeeded')).toEqual([
    ['succeeded', [ben.id, cleo.id], 'revoked'],
  ]);
  expect(found.filter(([state]) => state !== 'succeeded')).toEqual(
    ended.map((state) => [state, 'standing-ended', 'standing-ended']),
  );
});

test('what lost events in the log, or its card, is revoked; a change of another kind is not', () => {
  const distrust = (change: Change) => gate(change, 'distrust', { now: NOON, why: 'restored' });
  expect(distrust(standing())).toEqual({ type: 'revoked', by: 'signalbox' });
  expect(distrust(changeIn('succeeded'))).toMatchObject({ refusal: 'already-decided' });
});

test('the digest of a change covers the standing approval that its preview named', () => {
  const { standing: _, ...without } = scale();
  expect(planDigest(scale())).not.toBe(planDigest(without));
});

test('a change with a revert is covered where its revert is', () => {
  const change = stop({ plan: { ...stop().plan, timing: revertIn(HOUR_MS) } });
  const commands = ['service stop', 'service start'];
  const only = standing({ ...TAG, commands: ['service stop'], forMs: DAY_MS });
  expect(answer(change, { standing: TAGGED, commands })).toEqual([ben.id, cleo.id]);
  expect(answer(change, { standing: only, commands })).toBe('not-covered');
});

test.for<[string, JsonObject | null, string | readonly UserId[]]>([
  ['up to the largest ones', { maxReplicaMemoryGb: 128, numReplicas: 4 }, [ben.id, cleo.id]],
  ['of more memory', { maxReplicaMemoryGb: 132, numReplicas: 4 }, 'not-covered'],
  ['of more replicas', { maxReplicaMemoryGb: 128, numReplicas: 5 }, 'not-covered'],
  ['that are unknown', null, 'not-covered'],
])('a scale that reverts to values %s', ([_, fields, result]) => {
  const before = fields && { fields, seenAt: NOON, source: 'a reply' };
  const plan = { ...scale().plan, before, timing: revertIn(HOUR_MS) };
  expect(answer(scale(SIZE, { plan }))).toEqual(result);
});

test('what people approve, and an emergency, needs no standing approval any more', () => {
  const asked = after(scale(), { type: 'confirmed', by: ana.id }, NOON);
  const used = { type: 'break-glass', by: ana.id, reason: 'the disk is full' } as const;
  for (const change of [asked, after(scale(), used, NOON)]) {
    expect(change.standing).toBeUndefined();
  }
  const requires = { ...REQUIRES, breakGlass: 'lead' };
  const change = after(scale(SIZE, { requires }), used, NOON);
  const policy = policyThatRequires(requires);
  expect(gate(change, 'claim', claiming(change, { policy }))).toMatchObject({ type: 'claimed' });
});
