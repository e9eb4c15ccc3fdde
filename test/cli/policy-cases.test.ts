import { expect, test } from 'vitest';
import { readCases, runCases } from '../../src/ops/policy.ts';
import { fencesOn, readPage } from '../documents/pages.ts';
import { EXAMPLE } from '../ops/fixtures.ts';

function read(cases: string, config = EXAMPLE) {
  const files: Readonly<Record<string, string>> = { 'cases.yaml': cases, 'signalbox.yaml': config };
  const readFile = (path: string) => files[path] ?? '';
  return readCases({ cases: 'cases.yaml', config: 'signalbox.yaml', readFile });
}

const GOOD = {
  at: '2026-11-23T10:00Z',
  roles: '[operator]',
  command: 'service stop',
  service: 'staging',
  expect: '{ approvals: 1, from: approver }',
};

/** A file with one case: the good one with other or without some values. */
function oneCase(edits: Readonly<Record<string, string | null>>): string {
  const entries = Object.entries({ ...GOOD, ...edits }).filter(([, value]) => value !== null);
  return `cases:\n  - { ${entries.map(([key, value]) => `${key}: ${value}`).join(', ')} }\n`;
}

function problemsOf(cases: string, config?: string): readonly string[] {
  const result = read(cases, config);
  return result.ok ? [] : result.problems.map(({ where, problem }) => `${where} ${problem}`);
}

test('the case that the problems below change has no problem', () => {
  expect(problemsOf(oneCase({}))).toEqual([]);
});

test.for<[string, Readonly<Record<string, string | null>>, string]>([
  ['an unknown key', { who: 'me' }, 'who is not a known key'],
  ['no time', { at: null }, 'at is missing'],
  ['no zone', { at: "'2026-11-23T10:00'" }, 'at must be a date and time with its zone'],
  ['no user', { roles: null }, 'roles is missing'],
  ['an unknown role', { roles: '[operatr]' }, 'roles[0] names no role: “operatr”'],
  ['a name instead of a member id', { roles: null, user: 'ana' }, 'user must be the id of a user'],
  [
    'a user of a group',
    { roles: null, user: 'U0ANA0001' },
    'user U0ANA0001 is in no role of the file by id',
  ],
  ['no command', { command: null }, 'command is missing'],
  ['an unknown command', { command: 'service stp' }, 'command names no command: “service stp”'],
  ['an unknown service', { service: 'stagign' }, 'service names no service: “stagign”'],
  ['an unknown tag', { service: null, tag: 'prodd' }, 'tag names no tag of a service: “prodd”'],
  ['an unknown warehouse', { service: null, warehouse: 'x' }, 'warehouse names no warehouse: “x”'],
  ['no target', { service: null }, 'service is missing'],
  ['a service and a tag', { tag: 'prod' }, 'service contradicts tag'],
  [
    'a tag and a warehouse of no service',
    { service: null, tag: 'prod', warehouse: 'lab' },
    'tag matches no service: none has the tag prod and the warehouse lab',
  ],
  [
    'everything for a service command',
    { service: null, everything: 'true' },
    'everything does not fit “service stop”',
  ],
  ['two scopes of a freeze', { command: 'change freeze', tag: 'prod' }, 'service contradicts tag'],
  [
    'a service for a command without one',
    { command: 'service create' },
    'service does not fit “service create”',
  ],
  ['no expectation', { expect: null }, 'expect'],
  ['an unknown word', { expect: 'allowed' }, 'expect cannot be “allowed”'],
  ['an unknown refusal', { expect: '{ denied: nope }' }, 'expect.denied cannot be “nope”'],
  ['neither approvals nor denied', { expect: '{ from: approver }' }, 'expect.approvals is missing'],
  ['approvals from nobody', { expect: '{ approvals: 1 }' }, 'expect.from is missing'],
  [
    'no approvals from a role',
    { expect: '{ approvals: 0, from: approver }' },
    'expect.from needs approvals',
  ],
  [
    'approvals and denied',
    { expect: '{ approvals: 1, from: approver, denied: never }' },
    'expect.approvals contradicts denied',
  ],
  ['rule 0', { rule: '0' }, 'rule must be at least 1'],
])('a case with %s is refused with its line', ([, edits, sentence]) => {
  const [problem, ...more] = problemsOf(oneCase(edits));
  expect(problem).toContain(`cases.yaml:2 cases[0].${sentence}`);
  expect(more).toEqual([]);
});

test.for<[string, string, string]>([
  ['no cases', 'at: 2026-11-23T10:00Z\n', 'cases.yaml:1 cases is missing'],
  ['an empty list', 'cases: []\n', 'cases.yaml:1 cases must not be empty'],
  ['an empty file', '', 'cases.yaml:1 cases is missing'],
  ['invalid YAML', 'cases: [', 'cases.yaml:1:9'],
])('a file with %s is refused', ([, cases, sentence]) => {
  expect(problemsOf(cases).join('\n')).toContain(sentence);
});

test('the cases of the policy page hold for the example configuration', () => {
  const [block, ...more] = fencesOn(readPage('docs/policy-tests.md')).filter(
    ({ language }) => language === 'yml',
  );
  expect(more).toEqual([]);
  const result = read(block?.text ?? '');
  expect(result.ok && runCases('cases.yaml', result.value).isAsExpected).toBe(true);
});

function outcome(edits: Readonly<Record<string, string | null>>, config = EXAMPLE): string {
  const result = read(oneCase(edits), config);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return runCases('cases.yaml', result.value).text;
}

const UNLISTED = '00000000-0000-4000-8000-000000000000';
const FROZEN = { service: null, tag: 'prod', command: 'service start', at: '2026-12-25T00:00Z' };
const REASONLESS = { service: 'analytics-prod', command: 'service scale', reason: "''" };

test.for<[string, Readonly<Record<string, string | null>>]>([
  ['approvals from a role', {}],
  ['no approvals', { roles: '[approver]', command: 'change freeze', expect: 'immediate' }],
  ['a query', { roles: '[viewer]', command: 'service show', expect: 'immediate' }],
  ['a freeze of the file', { ...FROZEN, expect: 'frozen' }],
  ['a forbidden command', { service: 'analytics-prod', expect: '{ denied: never }' }],
  ['a user without the role', { roles: '[]', expect: '{ denied: not-a-requester }' }],
  ['a service outside the file', { service: UNLISTED, expect: '{ denied: no-rule }' }],
  ['a missing reason', { ...REASONLESS, expect: '{ denied: reason-required }' }],
  ['the deciding rule', { rule: '3' }],
])('a case expects %s', ([, edits]) => {
  expect(outcome(edits)).toMatch(/^✓/);
});

test('a command that always needs a reason is refused without one', () => {
  const config = EXAMPLE.replace(/to: approver\n {4}reason: required/, 'to: approver');
  expect(config).not.toBe(EXAMPLE);
  const edits = { roles: '[approver]', command: 'change freeze', reason: "''" };
  expect(outcome({ ...edits, expect: '{ denied: reason-required }' }, config)).toMatch(/^✓/);
});

test('a tag stands for each service of the file, and the one that differs is named', () => {
  const config = EXAMPLE.replace('tags: [staging]', 'tags: [staging, prod]');
  const edits = { service: null, tag: 'prod', expect: '{ denied: never }' };
  expect(outcome(edits, EXAMPLE)).toMatch(/^✓/);
  expect(outcome(edits, config)).toContain(
    'actual:   2 approvals from approver, break-glass for approver (rule 2) on staging',
  );
});

test.for<[string, string]>([
  ['another number of approvals', '{ approvals: 2, from: approver }'],
  ['another role', '{ approvals: 1, from: operator }'],
  ['a requester who counts', '{ approvals: 1, from: approver, self: allowed }'],
  ['break-glass', '{ approvals: 1, from: approver, breakGlass: approver }'],
  ['no approvals', 'immediate'],
  ['a refusal', 'frozen'],
])('a case that expects %s differs', ([, expected]) => {
  expect(outcome({ expect: expected })).toMatch(/^✗/);
});

test('a case that expects another rule or another refusal differs', () => {
  expect(outcome({ rule: '2' })).toContain('expected: 1 approval from approver (rule 2)');
  expect(outcome({ roles: '[]', expect: '{ denied: no-rule }' })).toMatch(/^✗/);
});

test.for<[string, string]>([
  ['covers by tag', '{ denied: not-verified }'],
  ['covers without a selector', '{ denied: not-listed }'],
])(
  'with extended reads, a service outside the file is refused by a rule that %s',
  ([how, decision]) => {
    const extended = EXAMPLE.replace('reads: contract', 'reads: extended');
    const command = how === 'covers by tag' ? 'service stop' : 'service start';
    const result = read(oneCase({ command, service: UNLISTED, expect: decision }), extended);
    if (!result.ok) throw new Error(JSON.stringify(result.problems));
    const { isAsExpected, text } = runCases('cases.yaml', result.value);
    expect(text).toContain('1 as expected');
    expect(isAsExpected).toBe(true);
  },
);

test('a case of an agent needs a rule that admits the agent, beside the roles', () => {
  const result = read(oneCase({}));
  if (!result.ok) throw new Error('The good case is refused');
  const [one] = result.value.cases;
  const { policy } = result.value.file;
  const ran = (agents: 'allowed' | undefined, over: object) => {
    const rules = policy.rules.map((rule) => ({ ...rule, ...(agents && { agents }) }));
    const named = new Map([['ci', ['operator']]]);
    const file = { ...result.value.file, policy: { ...policy, rules, agents: named } };
    const cases = one ? [{ ...one, agent: 'ci', ...over }] : [];
    return runCases('cases.yaml', { file, cases }).text;
  };
  expect(ran('allowed', {})).toContain('✓');
  expect(ran('allowed', { roles: [] })).toContain('✓');
  expect(ran('allowed', { roles: ['viewer'] })).toContain('denied: not-a-requester');
  expect(ran(undefined, {})).toContain('operator, agent ci: service stop on staging');
  expect(ran(undefined, {})).toMatch(
    /actual: {3}denied: agent-not-admitted \(rule \d does not admit the agent\)/,
  );
});
