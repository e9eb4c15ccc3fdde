import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Policy } from '../../src/domain/policy.ts';
import { decide, type PolicyQuestion, requirementFor } from '../../src/domain/policy.ts';
import {
  actor,
  ana,
  ben,
  dora,
  emil,
  impostor,
  NOON,
  policyOf,
  prod,
  staging,
} from './policy-fixtures.ts';

const STRICT = {
  ...{ allow: ['service stop', 'service scale'], on: { tags: ['prod'] }, to: 'operator' },
  ...{ approvals: { from: 'approver', count: 2 }, reason: 'required', expires: '4h' },
};
const CATCH_ALL = { allow: ['service *', 'alert edit'], to: 'operator' };
const READING = { allow: ['service list', 'service show', 'cost'], to: 'viewer' };
const policy = policyOf([READING, STRICT, CATCH_ALL]);

function ask(question: Partial<PolicyQuestion>, under: Policy = policy) {
  const stop = { command: 'service stop', kind: 'change', target: prod, actor: ana } as const;
  return decide(under, { ...stop, reason: 'maintenance', now: NOON, ...question });
}

function outcome(question: Partial<PolicyQuestion>, under: Policy = policy) {
  const decision = ask(question, under);
  const rule = decision.rule?.requires.rule ?? null;
  return decision.allow ? `allowed by ${rule}` : `${decision.refusal} by ${rule}`;
}

const COST = { command: 'cost', kind: 'query', target: null } as const;

test.for<[string, Partial<PolicyQuestion>, string]>([
  ['an operator asks to stop production', {}, 'allowed by 2'],
  ['an operator asks to stop staging', { target: staging, reason: null }, 'allowed by 3'],
  ['an operator edits an alert', { command: 'alert edit', target: null }, 'allowed by 3'],
  ['a viewer asks to stop production', { actor: dora }, 'not-a-requester by 2'],
  ['an approver asks to stop production', { actor: ben }, 'not-a-requester by 2'],
  ['a user without a role requests a change', { actor: emil }, 'not-a-requester by 2'],
  ['nobody wrote a rule for the command', { command: 'endpoint create' }, 'no-rule by null'],
  ['the command only begins like one', { command: 'service' }, 'no-rule by null'],
  ['no reason is given', { reason: null }, 'reason-required by 2'],
  ['the reason is blank', { reason: ' \n' }, 'reason-required by 2'],
  ['a viewer reads', { ...COST, actor: dora }, 'allowed by 1'],
  ['a user without a role sends a query', { ...COST, actor: emil }, 'not-a-requester by 1'],
])('when %s', ([, question, expected]) => {
  expect(outcome(question)).toBe(expected);
});

test('a command that no rule allows is refused without a rule', () => {
  const refused = { allow: false, refusal: 'no-rule', rule: null, freeze: null, never: null };
  expect(ask({ command: 'endpoint create' })).toEqual(refused);
});

test('an allowed change has the requirement of its rule', () => {
  const decision = ask({});
  expect(decision.allow && decision.requires).toEqual({
    ...{ rule: 2, to: 'operator', from: 'approver', count: 2, self: false, reason: true },
    ...{ expiresAfterMs: 4 * 3_600_000, channel: null, escalation: null, breakGlass: null },
  });
});

test('an allowed change has the escalation and the break-glass role of its rule', () => {
  const approvals = { from: 'approver', escalate: { to: 'viewer', after: '1h' } };
  const rule = { allow: ['service stop'], to: 'operator', approvals };
  const decision = ask({}, policyOf([{ ...rule, breakGlass: { to: 'approver' } }]));
  expect(decision.allow && decision.requires).toMatchObject({
    escalation: { to: 'viewer', afterMs: 3_600_000 },
    breakGlass: 'approver',
  });
});

test('a command under `never` is refused for every user', () => {
  const rules = [{ allow: ['*'], to: 'operator' }];
  const commands = ['service stop', 'service create'];
  const never = [{ commands, on: { tags: ['prod'] }, reason: 'it is the till' }];
  const forbidding = policyOf(rules, [], never);
  expect(ask({}, forbidding)).toMatchObject({ allow: false, refusal: 'never' });
  expect(ask({ command: 'service start' }, forbidding)).toMatchObject({ allow: true });
  expect(ask({ target: staging }, forbidding)).toMatchObject({ allow: true });
  expect(ask({ target: null }, forbidding)).toMatchObject({ allow: false, refusal: 'never' });
});

test('a query under a rule for changes needs no approval and no reason, also during a freeze', () => {
  const everything = { allow: ['service *'], to: 'operator', reason: 'required' };
  const guarded = policyOf(
    [{ ...everything, approvals: { from: 'approver', count: 2 } }],
    [{ from: '2026-01-01T00:00Z', until: '2027-01-01T00:00Z', reason: 'year end' }],
  );
  const decision = ask({ command: 'service show', kind: 'query', reason: null }, guarded);
  const requires = { from: null, count: 0, self: false, reason: false };
  expect(decision).toMatchObject({ allow: true, requires });
});

test('a user whom the first matching rule excludes cannot use a more permissive one', () => {
  const laxer = policyOf([{ ...CATCH_ALL, on: { tags: ['prod'] }, to: 'approver' }, CATCH_ALL]);
  expect(outcome({ actor: ana }, laxer)).toBe('not-a-requester by 1');
});

test('every key of a selector must match, by any entry of its list', () => {
  const on = { tags: ['prod', 'eu'], warehouses: ['main'], services: ['analytics-prod'] };
  const narrow = policyOf([{ ...STRICT, on }, CATCH_ALL]);
  expect(outcome({}, narrow)).toBe('allowed by 1');
  expect(outcome({ target: { ...prod, tags: ['eu'] } }, narrow)).toBe('allowed by 1');
  expect(outcome({ target: { ...prod, warehouse: null } }, narrow)).toBe('allowed by 2');
  expect(outcome({ target: { ...prod, tags: [] } }, narrow)).toBe('allowed by 2');
});

const ALERT_EDIT = { command: 'alert edit' };
const capitals = { ...prod, id: prod.id.toUpperCase() };
const ONLY_PROD = { on: { services: ['analytics-prod'] } };
const NAMED = { ...CATCH_ALL, ...ONLY_PROD, to: 'viewer' };
const ofImpostor = { target: impostor, actor: dora };
const ofProd = { command: 'alert edit', target: { ...prod, kind: 'alert' }, actor: dora } as const;

test.for<[string, readonly object[], Partial<PolicyQuestion>, string]>([
  ['a service with its name is another', [NAMED, CATCH_ALL], ofImpostor, 'not-a-requester by 2'],
  ['ids have no case', [{ ...STRICT, ...ONLY_PROD }], { target: capitals }, 'allowed by 1'],
  ['a star matches all', [{ allow: ['*'], to: 'operator' }], ALERT_EDIT, 'allowed by 1'],
  ['an alert with the id of a service is not that service', [NAMED], ofProd, 'no-rule by null'],
])('%s', ([, rules, question, expected]) => {
  expect(outcome(question, policyOf(rules))).toBe(expected);
});

test.for<[string, readonly object[]]>([
  ['the stricter rule comes first', [STRICT, CATCH_ALL]],
  ['the laxer rule comes first', [{ ...CATCH_ALL, on: { tags: ['eu'] } }, STRICT]],
  ['there is only the one rule', [STRICT]],
])('a change of an unknown target is refused with the uncertain rule: %s', ([, rules]) => {
  expect(ask({ target: null }, policyOf(rules))).toMatchObject({
    allow: false,
    refusal: 'no-rule',
    rule: { requires: { rule: 1 } },
  });
});

test('a query without a target is decided by the rule without a selector', () => {
  const some = { allow: ['cost'], on: { tags: ['prod'] }, to: 'approver' };
  const question = { ...COST, actor: dora };
  expect(outcome(question, policyOf([some, READING]))).toBe('allowed by 2');
  expect(outcome(question, policyOf([some]))).toBe('no-rule by null');
});

const LONG = { from: '2026-11-01T00:00Z', until: '2027-01-02T00:00Z', reason: 'audit' };
const OF_PROD = { ...LONG, on: { tags: ['prod'] } };

test.for<[string, object, Partial<PolicyQuestion>, string]>([
  ['it holds', LONG, {}, 'frozen by 2'],
  ['it begins at this moment', { ...LONG, from: '2026-11-20T12:00Z' }, {}, 'frozen by 2'],
  ['it begins later', { ...LONG, from: '2026-11-20T12:01Z' }, {}, 'allowed by 2'],
  ['it ends at this moment', { ...LONG, until: '2026-11-20T13:00+01:00' }, {}, 'allowed by 2'],
  ['it is about production', OF_PROD, {}, 'frozen by 2'],
  ['it is about production, the target is staging', OF_PROD, { target: staging }, 'allowed by 3'],
  ['of production, the target is unknown', OF_PROD, { ...ALERT_EDIT, target: null }, 'frozen by 3'],
  ['the asker may not ask anyway', LONG, { actor: dora }, 'not-a-requester by 2'],
  ['the command is a query', LONG, { command: 'cost', kind: 'query', actor: dora }, 'allowed by 1'],
])('under a freeze: %s', ([, freeze, question, expected]) => {
  expect(outcome(question, policyOf([READING, STRICT, CATCH_ALL], [freeze]))).toBe(expected);
});

test('of several active freezes the one with the latest end is returned', () => {
  const shorter = { ...LONG, until: '2026-11-21T00:00Z', reason: 'release' };
  const frozen = policyOf([STRICT], [shorter, LONG]);
  expect(ask({}, frozen)).toMatchObject({ freeze: { reason: 'audit' } });
});

test('a reason must be as long as the rule says', () => {
  const wordy = policyOf([{ ...STRICT, reason: { required: true, minimum: 20 } }]);
  expect(outcome({ reason: ' too short          ' }, wordy)).toBe('reason-required by 1');
  expect(outcome({ reason: 'nineteen characters' }, wordy)).toBe('reason-required by 1');
  expect(outcome({ reason: 'that makes 20 of it.' }, wordy)).toBe('allowed by 1');
});

test('a user who loses a role is never allowed more', () => {
  const held = fc.subarray(['viewer', 'operator', 'approver']);
  const command = fc.constantFrom('service stop', 'service show', 'cost', 'alert edit');
  const target = fc.constantFrom(prod, staging, null);
  fc.assert(
    fc.property(held, held, command, target, (some, others, words, about) => {
      const question = { command: words, target: about };
      const fewer = ask({ ...question, actor: actor('U0SOME001', ...some) });
      const more = ask({ ...question, actor: actor('U0SOME001', ...some, ...others) });
      expect(!fewer.allow || more.allow).toBe(true);
    }),
  );
});

test.for<[string, string, PolicyQuestion['target'], number | null]>([
  ['a strict rule decides', 'service stop', prod, 2],
  ['a general rule decides', 'service stop', staging, 3],
  ['the rule is one for queries', 'cost', null, 1],
  ['no rule has the command', 'backup show', null, null],
  ['it is not certain which rule decides', 'service stop', { ...prod, tags: null }, null],
])('the requirement for any requester, when %s', ([, command, target, rule]) => {
  expect(requirementFor(policy, { command, target })?.rule ?? null).toBe(rule);
});
