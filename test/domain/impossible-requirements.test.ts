import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Policy } from '../../src/domain/policy.ts';
import { impossibleRequirements, membersNeeded } from '../../src/domain/policy-schema.ts';
import { policyOf, user } from './policy-fixtures.ts';

const STOP = { allow: ['service stop'], to: 'operator' };
const BY_ONE = { ...STOP, approvals: { from: 'approver', count: 1 } };
const BY_TWO = { ...STOP, approvals: { from: 'approver', count: 2 } };
const BY_THREE = { ...STOP, approvals: { from: 'approver', count: 3 } };
const ALONE = { ...STOP, approvals: { from: 'approver', count: 1, self: 'allowed' } };

function problems(policy: Policy, operators: readonly string[], approvers: readonly string[]) {
  const people = (names: readonly string[]) => new Set(names.map(user));
  const members = new Map([
    ['operator', people(operators)],
    ['approver', people(approvers)],
  ]);
  return impossibleRequirements(policy, members).map(
    ({ where, problem }) => `${where}: ${problem}`,
  );
}

const NO_OPERATOR = 'policy[0].to: rule 1 lets only operator request, but operator has no members';
const tooFew = (needed: string, members: string) =>
  `policy[0].approvals: rule 1 needs ${needed} from approver, which has ${members}`;
const NO_APPROVER = tooFew('1 approval', 'no members');
const GLASS = { ...STOP, breakGlass: { to: 'approver' } };
const NO_GLASS =
  'policy[0].breakGlass.to: rule 1 lets only approver use break-glass, but approver has no members';
const alone = (needed: string) =>
  `policy[0].approvals: rule 1 needs ${needed} from people other than the requester, but without the requester, approver is too small for every member of operator`;

test.for<[string, object, readonly string[], readonly string[], readonly string[]]>([
  ['one user requests and another approves', BY_ONE, ['ana'], ['ben'], []],
  ['each user can approve for the other', BY_ONE, ['ana', 'ben'], ['ana', 'ben'], []],
  ['one of the requesters has enough others', BY_TWO, ['ana', 'ben'], ['ben', 'cleo'], []],
  ['the only requester may approve as well', ALONE, ['ana'], ['ana'], []],
  ['the rule needs no approval', STOP, ['ana'], [], []],
  ['the requester role is empty', STOP, [], ['ben'], [NO_OPERATOR]],
  ['only the requester role is empty', BY_ONE, [], ['ben'], [NO_OPERATOR]],
  ['the approver role is empty', BY_ONE, ['ana'], [], [NO_APPROVER]],
  ['one approver is missing', BY_TWO, ['ana'], ['ben'], [tooFew('2 approvals', '1 member')]],
  ['one of three is', BY_THREE, ['ana'], ['ben', 'cleo'], [tooFew('3 approvals', '2 members')]],
  ['the only approver is the only requester', BY_ONE, ['ana'], ['ana'], [alone('1 approval')]],
  [
    'every requester has to approve',
    BY_TWO,
    ['ben', 'cleo'],
    ['ben', 'cleo'],
    [alone('2 approvals')],
  ],
  ['the break-glass role is empty', GLASS, ['ana'], [], [NO_GLASS]],
  ['both roles are empty', BY_ONE, [], [], [NO_OPERATOR, NO_APPROVER]],
])('when %s', ([, rule, operators, approvers, expected]) => {
  expect(problems(policyOf([rule]), operators, approvers)).toEqual(expected);
});

test('a role without known members counts as empty', () => {
  expect(impossibleRequirements(policyOf([STOP]), new Map()).map(({ hint }) => hint)).toEqual([
    'check the groups and users of roles.operator',
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
      problem: 'rule 1 lets only viewer decide after the escalation, but viewer has no members',
      hint: 'check the groups and users of roles.viewer',
    },
  ]);
});

test.for<[string, readonly string[], string]>([
  ['the approvers are too few', [], 'add people to approver'],
  ['only the requester could approve', ['ana'], 'add a person to approver, or to operator'],
])('the hint names the role to extend when %s', ([, approvers, hint]) => {
  const members = new Map([
    ['operator', new Set([user('ana')])],
    ['approver', new Set(approvers.map(user))],
  ]);
  const [problem] = impossibleRequirements(policyOf([BY_ONE]), members);
  expect(problem?.hint).toBe(hint);
});

test('the needed members are one more than the highest count of approvals', () => {
  expect(
    [[STOP], [BY_ONE], [{ ...STOP, allow: ['service start'] }, BY_TWO]].map((rules) =>
      membersNeeded(policyOf(rules)),
    ),
  ).toEqual([2, 2, 3]);
});

test('the needed members of each role give the same problems as all members', () => {
  const someone = fc.constantFrom('ana', 'ben', 'cleo', 'dora', 'emil', 'finn', 'gus');
  const people = fc.uniqueArray(someone);
  const policies = [STOP, BY_ONE, BY_TWO, ALONE].map((rule) => policyOf([rule]));
  fc.assert(
    fc.property(fc.constantFrom(...policies), people, people, (asked, operators, approvers) => {
      const enough = membersNeeded(asked);
      const few = problems(asked, operators.slice(0, enough), approvers.slice(0, enough));
      expect(few).toEqual(problems(asked, operators, approvers));
    }),
  );
});
