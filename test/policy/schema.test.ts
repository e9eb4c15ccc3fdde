import { expect, test } from 'vitest';
import { parseConfig } from '../../src/policy/problem.ts';
import { Duration } from '../../src/policy/time.ts';
import { policyOf, problemsOf } from './fixtures.ts';

const LAX = { allow: ['service stop'], to: 'operator' };

test.for<[string, object, string]>([
  [
    'a role is misspelt',
    { policy: [{ allow: ['cost'], to: 'operater' }] },
    'policy[0].to: names no role: “operater” (did you mean “operator”?)',
  ],
  [
    'an approver role does not exist',
    { policy: [{ ...LAX, approvals: { from: 'boss' } }] },
    'policy[0].approvals.from: names no role: “boss” (known: viewer, operator, approver)',
  ],
  [
    'those who break the glass do not exist',
    { policy: [{ ...LAX, breakGlass: { to: 'aprover' } }] },
    'policy[0].breakGlass.to: names no role: “aprover” (did you mean “approver”?)',
  ],
  [
    'a command is misspelt',
    { policy: [{ allow: ['service stpo'], to: 'operator' }] },
    'policy[0].allow[0]: matches no command: “service stpo” (did you mean “service stop”?)',
  ],
  [
    'a pattern matches no command',
    { policy: [{ allow: ['servce *'], to: 'operator' }] },
    'policy[0].allow[0]: matches no command: “servce *” (known: service list, service show, cost, alert list, service start, service stop, service scale, service create, alert edit)',
  ],
  [
    'a star stands within a word',
    { policy: [{ allow: ['service st*'], to: 'operator' }] },
    'policy[0].allow[0]: must be a command (such as: service stop · service * · *)',
  ],
  [
    'a rule allows nothing',
    { policy: [{ allow: [], to: 'operator' }] },
    'policy[0].allow: must not be empty',
  ],
  [
    'one command stands where a list belongs',
    { policy: [{ allow: 'cost', to: 'viewer' }] },
    'policy[0].allow: must be a list, not text',
  ],
  ['there is no rule at all', { policy: [] }, 'policy: must not be empty'],
  [
    'a tag is on no service',
    { policy: [{ ...LAX, on: { tags: ['prdo'] } }] },
    'policy[0].on.tags[0]: names no tag of a service: “prdo” (did you mean “prod”?)',
  ],
  [
    'a service is not in the file',
    { policy: [{ ...LAX, on: { services: ['stagin'] } }] },
    'policy[0].on.services[0]: names no service: “stagin” (did you mean “staging”?)',
  ],
  [
    'a warehouse has no service',
    { policy: [{ ...LAX, on: { warehouses: ['second'] } }] },
    'policy[0].on.warehouses[0]: names no warehouse: “second” (known: main)',
  ],
  [
    'a selector is empty',
    { policy: [{ ...LAX, on: {} }] },
    'policy[0].on: selects nothing (give it services, tags or warehouses, or leave it out)',
  ],
  [
    'a list of a selector is empty',
    { policy: [{ ...LAX, on: { tags: [] } }] },
    'policy[0].on.tags: must not be empty',
  ],
  ['a selector was left blank', { policy: [{ ...LAX, on: null }] }, 'policy[0].on: is empty'],
  [
    'the quorum is nobody',
    { policy: [{ ...LAX, approvals: { from: 'approver', count: 0 } }] },
    'policy[0].approvals.count: must be at least 1',
  ],
  [
    'the quorum is a part of a person',
    { policy: [{ ...LAX, approvals: { from: 'approver', count: 1.5 } }] },
    'policy[0].approvals.count: must be a whole number',
  ],
  [
    'self-approval is neither refused nor allowed',
    { policy: [{ ...LAX, approvals: { from: 'approver', self: true } }] },
    'policy[0].approvals.self: cannot be “true” (one of: refused, allowed)',
  ],
  [
    'a reason is wanted in a word of its own',
    { policy: [{ ...LAX, reason: 'please' }] },
    'policy[0].reason: must be required, optional, or { required: true, minimum: 20 }',
  ],
  [
    'a duration has no unit',
    { policy: [{ ...LAX, expires: '30' }] },
    'policy[0].expires: must be a duration (such as 30m, 4h or 2d, at most 365d)',
  ],
  [
    'a channel has no sign',
    { policy: [{ ...LAX, channel: 'db-approvals' }] },
    "policy[0].channel: must be a channel (its name in quotes, '#db-approvals', or its id, C…)",
  ],
  [
    'a channel has no quotes, so that its # begins a comment',
    { policy: [{ ...LAX, channel: null }] },
    "policy[0].channel: is empty (a name with # needs quotes: '#db')",
  ],
  [
    'a key of a rule is misspelt',
    { policy: [{ ...LAX, aprovals: { from: 'approver' } }] },
    'policy[0].aprovals: is not a known key (did you mean “approvals”?)',
  ],
  [
    'what is never done is no command',
    { policy: [LAX], never: [{ commands: ['service stopp'], reason: 'it hurts' }] },
    'never[0].commands[0]: matches no command: “service stopp” (did you mean “service stop”?)',
  ],
  [
    'what is never done only looks',
    { policy: [LAX], never: [{ commands: ['service list'], reason: 'it hurts' }] },
    'never[0].commands[0]: matches no command: “service list” (did you mean “service start”?)',
  ],
  [
    'what is never done says no why',
    { policy: [LAX], never: [{ commands: ['service stop'], reason: '  ' }] },
    'never[0].reason: must not be empty',
  ],
  [
    'what is never done is about a tag that no service has',
    {
      policy: [LAX],
      never: [{ commands: ['service *'], on: { tags: ['prdo'] }, reason: 'it hurts' }],
    },
    'never[0].on.tags[0]: names no tag of a service: “prdo” (did you mean “prod”?)',
  ],
  [
    'a role admits nobody',
    { roles: { operator: {} } },
    'roles.operator: admits nobody (give it groups, users, or both)',
  ],
  [
    'the groups of a role are an empty list',
    { roles: { operator: { groups: [], users: ['U0ANA0001'] } } },
    'roles.operator.groups: must not be empty',
  ],
  [
    'the users of a role are an empty list',
    { roles: { operator: { groups: ['@db-leads'], users: [] } } },
    'roles.operator.users: must not be empty',
  ],
  ['there is no role at all', { roles: {} }, 'roles: must not be empty'],
  [
    'a group has no sign',
    { roles: { operator: { groups: ['db-leads'] } } },
    "roles.operator.groups[0]: must be a user group (its handle in quotes, '@db-leads', or its id, S…)",
  ],
  [
    'a person is given by name',
    { roles: { operator: { users: ['ana'] } } },
    'roles.operator.users[0]: must be the id of a user (U… or W…, from the profile: “Copy member ID”)',
  ],
  [
    'a role has a name that cannot be typed',
    { roles: { 'The Boss': { users: ['U0ANA0001'] } } },
    'roles["The Boss"]: a role is named with lower-case letters, digits and dashes',
  ],
  [
    'a strict rule stands behind a lax one',
    {
      policy: [
        { allow: ['service *'], to: 'operator' },
        { ...LAX, on: { tags: ['prod'] } },
      ],
    },
    'policy[1]: never decides: rule 1 before it covers all of its commands (the first rule that matches decides; put the stricter one first)',
  ],
  [
    'approvals are asked for reading',
    { policy: [{ allow: ['cost'], to: 'viewer', approvals: { from: 'approver' } }] },
    'policy[0]: asks for approvals or a reason, but allows only queries (only changes are approved and explained; take approvals, reason and breakGlass out)',
  ],
  [
    'a reason is asked for reading',
    { policy: [{ allow: ['cost'], to: 'viewer', reason: 'required' }] },
    'policy[0]: asks for approvals or a reason, but allows only queries (only changes are approved and explained; take approvals, reason and breakGlass out)',
  ],
  [
    'the glass could be broken to read',
    { policy: [{ allow: ['cost'], to: 'viewer', breakGlass: { to: 'approver' } }] },
    'policy[0]: asks for approvals or a reason, but allows only queries (only changes are approved and explained; take approvals, reason and breakGlass out)',
  ],
  [
    'a freeze is over as it begins',
    {
      policy: [LAX],
      freezes: [{ from: '2027-01-02T00:00Z', until: '2027-01-02T00:00Z', reason: 'year end' }],
    },
    'freezes[0].until: must be later than from',
  ],
  [
    'a word could move the terminal that shows it',
    { policy: [{ allow: ['cost'], to: '\u001b[2Jviewer\n' }] },
    'policy[0].to: names no role: “?[2Jviewer?” (known: viewer, operator, approver)',
  ],
  [
    'a word goes on and on',
    { policy: [{ allow: ['cost'], to: 'x'.repeat(1000) }] },
    `policy[0].to: names no role: “${'x'.repeat(59)}…” (known: viewer, operator, approver)`,
  ],
  [
    'a key goes on and on',
    { policy: [{ ...LAX, [`${'x'.repeat(500)} `]: 1 }] },
    `policy[0]["${'x'.repeat(60)}"]: is not a known key (known: allow, on, to, approvals, reason, expires, channel, breakGlass)`,
  ],
  [
    'the quorum is a crowd',
    { policy: [{ ...LAX, approvals: { from: 'approver', count: 21 } }] },
    'policy[0].approvals.count: must be at most 20',
  ],
  [
    'a freeze ends before it begins',
    {
      policy: [LAX],
      freezes: [{ from: '2027-01-02T00:00Z', until: '2026-12-24T00:00Z', reason: 'year end' }],
    },
    'freezes[0].until: must be later than from',
  ],
  [
    'a freeze has no zone',
    {
      policy: [LAX],
      freezes: [{ from: '2026-12-24', until: '2027-01-02T00:00Z', reason: 'year end' }],
    },
    'freezes[0].from: must be a date and time with its zone (such as 2026-12-24T00:00Z or 2026-12-24T00:00+01:00)',
  ],
  [
    'a freeze is not explained',
    {
      policy: [LAX],
      freezes: [{ from: '2026-12-24T00:00Z', until: '2027-01-02T00:00Z', reason: ' ' }],
    },
    'freezes[0].reason: must not be empty',
  ],
])('the file is refused when %s', ([, content, problem]) => {
  expect(problemsOf(content)).toContain(problem);
});

test('the problems of different rules are reported together', () => {
  const problems = problemsOf({
    policy: [
      { allow: ['service stpo'], to: 'operater' },
      { ...LAX, approvals: { from: 'aprover', count: 0 }, expires: '4 hours' },
    ],
  });
  expect(problems.map((problem) => problem.split(':')[0])).toEqual([
    'policy[0].allow[0]',
    'policy[0].to',
    'policy[1].approvals.from',
    'policy[1].approvals.count',
    'policy[1].expires',
  ]);
});

test('a short rule is completed: no approval, no reason, a day to run', () => {
  expect(policyOf([LAX]).rules).toEqual([
    {
      place: 1,
      commands: ['service stop'],
      on: null,
      to: 'operator',
      approvals: null,
      reason: { required: false, minimum: 1 },
      expiresAfterMs: 24 * 3_600_000,
      channel: null,
      breakGlass: null,
    },
  ]);
});

test('approvals are one, by somebody else, unless the rule says more', () => {
  const [rule] = policyOf([{ ...LAX, approvals: { from: 'approver' } }]).rules;
  expect(rule?.approvals).toEqual({ from: 'approver', count: 1, self: false, escalate: null });
});

test('a reason of some length may be asked for', () => {
  const [rule] = policyOf([{ ...LAX, reason: { required: true, minimum: 20 } }]).rules;
  expect(rule?.reason).toEqual({ required: true, minimum: 20 });
});

test.for<[string, number | null]>([
  ['30m', 30 * 60_000],
  ['4h', 4 * 3_600_000],
  ['2d', 2 * 86_400_000],
  ['365d', 365 * 86_400_000],
  ['366d', null],
  ['0h', null],
  ['-1h', null],
  ['1.5h', null],
  ['4 h', null],
  ['4H', null],
  ['1h30m', null],
])('the duration %s is read as %s', ([text, ms]) => {
  const reading = parseConfig(Duration, text);
  expect(reading.ok ? reading.value : null).toBe(ms);
});
