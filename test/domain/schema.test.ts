import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { Duration, parseConfig } from '../../src/base/problem.ts';
import { casesIn } from '../harness/cases.ts';
import { policyOf, problemsOf } from './policy-fixtures.ts';

const LAX = { allow: ['service stop'], to: 'operator' };

const REFUSED = casesIn(`
  a role is misspelt: { policy: [{ allow: [cost], to: operater }] }
    policy[0].to: names no role: “operater” (did you mean “operator”?)
  an approver role does not exist: { policy: [{ ...LAX, approvals: { from: boss } }] }
    policy[0].approvals.from: names no role: “boss” (known: viewer, operator, approver)
  the break-glass role does not exist: { policy: [{ ...LAX, breakGlass: { to: aprover } }] }
    policy[0].breakGlass.to: names no role: “aprover” (did you mean “approver”?)
  a command is misspelt: { policy: [{ allow: [service stpo], to: operator }] }
    policy[0].allow[0]: matches no command: “service stpo” (did you mean “service stop”?)
  a pattern matches no command: { policy: [{ allow: [servce *], to: operator }] }
    policy[0].allow[0]: matches no command: “servce *” (known: service list, service show, cost, alert list, service start, service stop, service scale, service create, alert edit, service schedule, change allow)
  a rule allows nothing: { policy: [{ allow: [], to: operator }] }
    policy[0].allow: must not be empty
  a command is given instead of a list: { policy: [{ allow: cost, to: viewer }] }
    policy[0].allow: must be a list, not text
  there is no rule at all: { policy: [] }
    policy: must not be empty
  a tag is on no service: { policy: [{ ...LAX, on: { tags: [prdo] } }] }
    policy[0].on.tags[0]: names no tag of a service: “prdo” (did you mean “prod”?)
  a service is not in the file: { policy: [{ ...LAX, on: { services: [stagin] } }] }
    policy[0].on.services[0]: names no service: “stagin” (did you mean “staging”?)
  a warehouse has no service: { policy: [{ ...LAX, on: { warehouses: [second] } }] }
    policy[0].on.warehouses[0]: names no warehouse: “second” (known: main)
  a selector is empty: { policy: [{ ...LAX, on: {} }] }
    policy[0].on: selects nothing (set services, tags or warehouses, or remove it)
  a list of a selector is empty: { policy: [{ ...LAX, on: { tags: [] } }] }
    policy[0].on.tags: must not be empty
  a selector was left blank: { policy: [{ ...LAX, on: null }] }
    policy[0].on: is empty
  the count of approvals is 0: { policy: [{ ...LAX, approvals: { from: approver, count: 0 } }] }
    policy[0].approvals.count: must be at least 1
  the count of approvals is a fraction: { policy: [{ ...LAX, approvals: { from: approver, count: 1.5 } }] }
    policy[0].approvals.count: must be a whole number
  self-approval is neither refused nor allowed: { policy: [{ ...LAX, approvals: { from: approver, self: true } }] }
    policy[0].approvals.self: cannot be “true” (one of: refused, allowed)
  the reason has an unknown value: { policy: [{ ...LAX, reason: please }] }
    policy[0].reason: must be required, optional, or { required: true, minimum: 20 }
  a rule admits agents without an approval: { policy: [{ ...LAX, agents: allowed }] }
    policy[0]: admits agents without an approval (set approvals: { from: …, count: 1 }, or remove agents)
  a rule admits an agent that the file does not name: { policy: [{ ...LAX, approvals: { from: approver }, agents: [cli] }] }
    policy[0].agents[0]: names no agent: “cli” (did you mean “ci”?)
  a duration has no unit: { policy: [{ ...LAX, expires: "30" }] }
    policy[0].expires: must be a duration (for example 30m, 4h or 2d, at most 365d)
  a channel has no sign: { policy: [{ ...LAX, channel: db-approvals }] }
    policy[0].channel: must be a channel (its name in quotes, '#db-approvals', or its id, C…)
  a channel has no quotes, so that its # begins a comment: { policy: [{ ...LAX, channel: null }] }
    policy[0].channel: is empty (a name with # needs quotes: '#db')
  a key of a rule is misspelt: { policy: [{ ...LAX, aprovals: { from: approver } }] }
    policy[0].aprovals: is not a known key (did you mean “approvals”?)
  never names an unknown command: { policy: [{ ...LAX }], never: [{ commands: [service stopp], reason: it hurts }] }
    never[0].commands[0]: matches no command: “service stopp” (did you mean “service stop”?)
  never names a query: { policy: [{ ...LAX }], never: [{ commands: [service list], reason: it hurts }] }
    never[0].commands[0]: matches no command: “service list” (did you mean “service start”?)
  never has no reason: { policy: [{ ...LAX }], never: [{ commands: [service stop], reason: "  " }] }
    never[0].reason: must not be empty
  never names a tag without a service: { policy: [{ ...LAX }], never: [{ commands: [service *], on: { tags: [prdo] }, reason: it hurts }] }
    never[0].on.tags[0]: names no tag of a service: “prdo” (did you mean “prod”?)
  a role has no members: { roles: { operator: {} } }
    roles.operator: has no members (set groups, users, or both)
  the groups of a role are an empty list: { roles: { operator: { groups: [], users: [U0ANA0001] } } }
    roles.operator.groups: must not be empty
  the users of a role are an empty list: { roles: { operator: { groups: ["@db-leads"], users: [] } } }
    roles.operator.users: must not be empty
  there is no role at all: { roles: {} }
    roles: must not be empty
  a group has no sign: { roles: { operator: { groups: [db-leads] } } }
    roles.operator.groups[0]: must be a user group (its handle in quotes, '@db-leads', or its id, S…)
  a user is given by name: { roles: { operator: { users: [ana] } } }
    roles.operator.users[0]: must be the id of a user (U… or W…, from the profile: “Copy member ID”)
  a role has an invalid name: { roles: { The Boss: { users: [U0ANA0001] } } }
    roles["The Boss"]: a role is named with lower-case letters, digits and dashes
  a strict rule comes after a rule that covers it: { policy: [{ allow: [service *], to: operator }, { ...LAX, on: { tags: [prod] } }] }
    policy[1]: never decides: rule 1 covers all of its commands (the first rule that matches decides; put the stricter one first)
  a freeze ends when it begins: { policy: [{ ...LAX }], freezes: [{ from: 2027-01-02T00:00Z, until: 2027-01-02T00:00Z, reason: year end }] }
    freezes[0].until: must be later than from
  the count of approvals is too high: { policy: [{ ...LAX, approvals: { from: approver, count: 21 } }] }
    policy[0].approvals.count: must be at most 20
  a freeze ends before it begins: { policy: [{ ...LAX }], freezes: [{ from: 2027-01-02T00:00Z, until: 2026-12-24T00:00Z, reason: year end }] }
    freezes[0].until: must be later than from
  a freeze has no zone: { policy: [{ ...LAX }], freezes: [{ from: 2026-12-24, until: 2027-01-02T00:00Z, reason: year end }] }
    freezes[0].from: must be a date and time with its zone (for example 2026-12-24T00:00Z or 2026-12-24T00:00+01:00)
  a freeze has no reason: { policy: [{ ...LAX }], freezes: [{ from: 2026-12-24T00:00Z, until: 2027-01-02T00:00Z, reason: " " }] }
    freezes[0].reason: must not be empty
`);

test.for<[string, object, string]>([
  [
    'a name contains control characters',
    { policy: [{ allow: ['cost'], to: '\u001b[2Jviewer\n' }] },
    'policy[0].to: names no role: “?[2Jviewer?” (known: viewer, operator, approver)',
  ],
  [
    'a name is too long',
    { policy: [{ allow: ['cost'], to: 'x'.repeat(1000) }] },
    `policy[0].to: names no role: “${'x'.repeat(59)}…” (known: viewer, operator, approver)`,
  ],
  [
    'a key is too long',
    { policy: [{ ...LAX, [`${'x'.repeat(500)} `]: 1 }] },
    `policy[0]["${'x'.repeat(60)}"]: is not a known key (known: allow, on, to, approvals, reason, expires, channel, breakGlass, discovered, agents)`,
  ],
])('the file is refused when %s', ([, content, problem]) => {
  expect(problemsOf(content)).toContain(problem);
});

test.for(REFUSED)('the file is refused when %s', ([, content, problem]) => {
  const text = content.replaceAll('...LAX', 'allow: [service stop], to: operator');
  expect(problemsOf(parse(text))).toContain(problem);
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

test('the defaults of a rule are no approval, no reason and a day until expiry', () => {
  expect(policyOf([LAX]).rules).toEqual([
    {
      commands: ['service stop'],
      on: null,
      requires: {
        ...{ rule: 1, to: 'operator', from: null, count: 0, self: false, escalation: null },
        ...{ reason: false, expiresAfterMs: 24 * 3_600_000, channel: null, breakGlass: null },
      },
      leastReason: 0,
      discovered: false,
    },
  ]);
});

test('the defaults of approvals are one approval and no self-approval', () => {
  const [rule] = policyOf([{ ...LAX, approvals: { from: 'approver' } }]).rules;
  const expected = { from: 'approver', count: 1, self: false, escalation: null };
  expect(rule?.requires).toMatchObject(expected);
});

test('a rule can require a reason of a minimum length', () => {
  const [rule] = policyOf([{ ...LAX, reason: { required: true, minimum: 20 } }]).rules;
  expect(rule).toMatchObject({ requires: { reason: true }, leastReason: 20 });
  expect(policyOf([{ ...LAX, reason: 'required' }]).rules[0]?.leastReason).toBe(1);
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
