import fc from 'fast-check';
import { expect, test } from 'vitest';
import { impossibleRequirements, membersNeeded } from '../../src/policy/satisfiable.ts';
import { policyOf, user } from './fixtures.ts';

const STOP = { allow: ['service stop'], to: 'operator' };
const BY_ONE = { ...STOP, approvals: { from: 'approver', count: 1 } };
const BY_TWO = { ...STOP, approvals: { from: 'approver', count: 2 } };
const BY_THREE = { ...STOP, approvals: { from: 'approver', count: 3 } };
const ALONE = { ...STOP, approvals: { from: 'approver', count: 1, self: 'allowed' } };

function problems(rule: object, operators: readonly string[], approvers: readonly string[]) {
  const people = (names: readonly string[]) => new Set(names.map(user));
  const members = new Map([
    ['operator', people(operators)],
    ['approver', people(approvers)],
  ]);
  return impossibleRequirements(policyOf([rule]), members).map(
    ({ where, problem }) => `${where}: ${problem}`,
  );
}

test.for<[string, object, readonly string[], readonly string[], readonly string[]]>([
  ['one asks and another approves', BY_ONE, ['ana'], ['ben'], []],
  ['each can ask the other', BY_ONE, ['ana', 'ben'], ['ana', 'ben'], []],
  ['one of the askers has enough others', BY_TWO, ['ana', 'ben'], ['ben', 'cleo'], []],
  ['who asks alone may approve it, too', ALONE, ['ana'], ['ana'], []],
  ['nothing is to be approved', STOP, ['ana'], [], []],
  [
    'nobody may ask',
    STOP,
    [],
    ['ben'],
    ['policy[0].to: rule 1 lets only operator ask, and operator has no members'],
  ],
  [
    'nobody may ask for what others would approve',
    BY_ONE,
    [],
    ['ben'],
    ['policy[0].to: rule 1 lets only operator ask, and operator has no members'],
  ],
  [
    'nobody may approve',
    BY_ONE,
    ['ana'],
    [],
    ['policy[0].approvals: rule 1 needs 1 approval from approver, which has no members'],
  ],
  [
    'too few may approve',
    BY_TWO,
    ['ana'],
    ['ben'],
    ['policy[0].approvals: rule 1 needs 2 approvals from approver, which has 1 member'],
  ],
  [
    'too few of several may approve',
    BY_THREE,
    ['ana'],
    ['ben', 'cleo'],
    ['policy[0].approvals: rule 1 needs 3 approvals from approver, which has 2 members'],
  ],
  [
    'the only approver is the only requester',
    BY_ONE,
    ['ana'],
    ['ana'],
    [
      'policy[0].approvals: rule 1 needs 1 approval from others than the requester, but whoever of operator asks, too few of approver are left',
    ],
  ],
  [
    'each asker is missing among the approvers',
    BY_TWO,
    ['ben', 'cleo'],
    ['ben', 'cleo'],
    [
      'policy[0].approvals: rule 1 needs 2 approvals from others than the requester, but whoever of operator asks, too few of approver are left',
    ],
  ],
  [
    'nobody may break the glass',
    { ...STOP, breakGlass: { to: 'approver' } },
    ['ana'],
    [],
    [
      'policy[0].breakGlass.to: rule 1 lets only approver break the glass, and approver has no members',
    ],
  ],
  [
    'nobody may ask and nobody may approve',
    BY_ONE,
    [],
    [],
    [
      'policy[0].to: rule 1 lets only operator ask, and operator has no members',
      'policy[0].approvals: rule 1 needs 1 approval from approver, which has no members',
    ],
  ],
])('when %s', ([, rule, operators, approvers, expected]) => {
  expect(problems(rule, operators, approvers)).toEqual(expected);
});

test('a role of which nothing is known has nobody', () => {
  expect(impossibleRequirements(policyOf([STOP]), new Map()).map(({ hint }) => hint)).toEqual([
    'look at the groups and users of roles.operator',
  ]);
});

test('an escalation role without members is reported before it is needed', () => {
  const approvals = { from: 'approver', escalate: { to: 'viewer', after: '1h' } };
  const members = new Map([
    ['operator', new Set([user('ana')])],
    ['approver', new Set([user('ben')])],
  ]);
  expect(impossibleRequirements(policyOf([{ ...STOP, approvals }]), members)).toEqual([
    {
      where: 'policy[0].approvals.escalate.to',
      problem: 'rule 1 lets only viewer decide later, and viewer has no members',
      hint: 'look at the groups and users of roles.viewer',
    },
  ]);
});

test.for<[string, readonly string[], string]>([
  ['too few approve', [], 'add people to approver'],
  ['the requester alone could', ['ana'], 'add somebody to approver, or to operator'],
])('whom to add is said where %s', ([, approvers, hint]) => {
  const members = new Map([
    ['operator', new Set([user('ana')])],
    ['approver', new Set(approvers.map(user))],
  ]);
  const [problem] = impossibleRequirements(policyOf([BY_ONE]), members);
  expect(problem?.hint).toBe(hint);
});

test('one more than any rule asks for is enough to know of', () => {
  expect(
    [[STOP], [BY_ONE], [{ ...STOP, allow: ['service start'] }, BY_TWO]].map((rules) =>
      membersNeeded(policyOf(rules)),
    ),
  ).toEqual([2, 2, 3]);
});

test('the first few of each role tell the same as all of them', () => {
  const someone = fc.constantFrom('ana', 'ben', 'cleo', 'dora', 'emil', 'finn', 'gus');
  const people = fc.uniqueArray(someone);
  const rule = fc.constantFrom(STOP, BY_ONE, BY_TWO, ALONE);
  fc.assert(
    fc.property(rule, people, people, (asked, operators, approvers) => {
      const enough = membersNeeded(policyOf([asked]));
      const few = problems(asked, operators.slice(0, enough), approvers.slice(0, enough));
      expect(few).toEqual(problems(asked, operators, approvers));
    }),
  );
});
