import { expect, test } from 'vitest';
import { readPolicyFile } from '../../src/ops/policy.ts';
import { compareFiles } from '../../src/ops/policy-compare.ts';
import { prove, readStatements } from '../../src/ops/prove.ts';
import { EXAMPLE, edited } from './fixtures.ts';

const NOW = new Date('2026-11-28T10:00Z');

function fileOf(yaml: string) {
  const read = readPolicyFile('signalbox.yaml', () => yaml);
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.value;
}

function proved(statements: string, yaml = EXAMPLE) {
  const file = fileOf(yaml);
  const read = readStatements(statements, 's.txt', file);
  expect(read.problems).toEqual([]);
  return prove(file, read.statements, NOW);
}

test.for([
  'prod needs two people to stop',
  'prod needs two people unless break-glass',
  'prod needs 2 approvals to scale unless break-glass',
  'only operator may create a service',
  'no viewer may change prod.',
  'Nobody may stop analytics-prod',
  'no agent stops prod',
])('holds in the example: %s', (statement) => {
  expect(proved(statement).text).toContain(`✓ s.txt:1  ${statement}`);
});

test.for<[string, string]>([
  [
    'prod needs two people',
    'operator: service scale on analytics-prod: 2 approvals from approver, break-glass for approver (rule 2). Break-glass needs one person',
  ],
  [
    'nobody may delete a freeze alone',
    'approver: change unfreeze on everything: immediate (rule 5)',
  ],
  [
    'no operator scales staging',
    'operator: service scale on staging: 1 approval from approver (rule 3)',
  ],
  ['only approver may start a service', 'operator: service start on analytics-prod: 1 approval'],
  [
    'lab needs 2 approvals',
    'operator: service start on staging: 1 approval from approver (rule 3)',
  ],
])('does not hold, with a request that shows it: %s', ([statement, example]) => {
  const proof = proved(statement);
  expect(proof.holds).toBe(false);
  expect(proof.text).toContain(`✗ s.txt:1  ${statement}\n    ${example}`);
});

test('a statement that is broken only after a freeze has ended says from when', () => {
  const yaml = edited(
    ['    by: Gus                   # optional: the contact\n', ''],
    ['from: 2026-12-24', 'from: 2026-11-01'],
  );
  expect(proved('no operator scales prod', yaml).text).toContain(
    'operator: service scale on analytics-prod, from 2027-01-02T00:00Z on: 2 approvals',
  );
});

test('an agent needs a rule that admits it, and a person stands behind one that asks for people', () => {
  const file = fileOf(EXAMPLE);
  const rules = file.policy.rules.map((rule) =>
    rule.requires.rule === 3 ? { ...rule, agents: 'allowed' as const } : rule,
  );
  const agents = new Map([
    ['ci', ['operator']],
    ['copilot', []],
  ]);
  const policy = { ...file.policy, rules, agents };
  const text = [
    'no agent copilot scales staging',
    'no agent ci creates a service',
    'no agent copilot stops prod',
    'staging needs 2 people',
  ];
  const read = readStatements(text.join('\n'), 's.txt', { ...file, policy });
  expect(read.problems).toEqual([]);
  const proof = prove({ ...file, policy }, read.statements, NOW).text;
  expect(proof).toContain('operator through agent copilot: service scale on staging');
  expect(proof).toContain(
    'agent ci: service create on its target: 1 approval from approver (rule 3)',
  );
  expect(proof).toContain('✓ s.txt:3');
  // One approval and a program are one person.
  expect(proof).toContain(
    '✗ s.txt:4  staging needs 2 people\n    agent ci: service start on staging',
  );
});

test('a rule whose services all belong to earlier rules never decides, and its approvers have no vote', () => {
  const yaml = edited([
    "  - allow: ['service *', 'endpoint *', 'alert edit']",
    "  - { allow: [service stop], on: { tags: [prod] }, to: operator, approvals: { from: auditor } }\n  - allow: ['service *', 'endpoint *', 'alert edit']",
  ]).replace('roles:\n', "roles:\n  auditor:  { groups: ['@auditors'] }\n");
  const { text, holds } = proved('', yaml);
  expect(text).toContain(
    '✗ rule 3 never decides: earlier rules decide everything that it selects\n',
  );
  expect(text).toContain('✗ auditor can approve nothing: no rule that decides asks auditor\n');
  expect(text).not.toContain('✗ rule 2');
  expect(text).not.toContain('✗ approver');
  expect(holds).toBe(false);
  expect(proved('').holds).toBe(true);
});

test('lines that are no statement are all reported at once, with their place and the forms', () => {
  const lines = [
    'prod is nice',
    '',
    '# prod needs two people',
    'no outsider stops prod',
    'prod needs many people',
    'nobody may fly prod',
    'only boss may stop prod',
  ];
  const { problems } = readStatements(lines.join('\n'), 's.txt', fileOf(EXAMPLE));
  expect(problems.map(({ where, problem }) => `${where} ${problem}`)).toEqual([
    's.txt:1 is not understood: “prod is nice”',
    's.txt:4 names no role: “outsider”',
    's.txt:5 has no number: “many”',
    's.txt:6 names no command, tag, service or warehouse: “fly”',
    's.txt:7 names no role: “boss”',
  ]);
  expect(problems[0]?.hint).toContain('prod needs two people');
});

test('a comparison groups the decisions that differ, and names new members', () => {
  const after = edited(
    ['approvals: { from: approver, count: 2 }', 'approvals: { from: approver, count: 1 }'],
    ['U0123ABCD]', 'U0999ABCD]'],
  );
  expect(compareFiles(fileOf(EXAMPLE), fileOf(after), NOW)).toBe(
    [
      '2 groups of decisions differ.',
      '',
      '| Who | Command | On | Before | After |',
      '| --- | --- | --- | --- | --- |',
      '| `operator` | `service scale` | `analytics-prod` | `2 approvals from approver, break-glass for approver, with a reason, within 4 h` | `1 approval from approver, break-glass for approver, with a reason, within 4 h` |',
      // What it allows is approved by the same rules.
      '| `operator` | `change allow` | `scale of everything tagged prod, scale of everything in warehouse main, scale of analytics-prod` | `2 approvals from approver, within 24 h` | `1 approval from approver, within 24 h` |',
      '',
      'Members of roles:',
      '- `approver`: `+ U0999ABCD`, `- U0123ABCD`',
      '',
    ].join('\n'),
  );
});

test('a rule that only moves, and a comment, are no difference', () => {
  const moved = edited(['policy:\n', 'policy:\n  - { allow: [cost csv], to: viewer } # first\n']);
  expect(compareFiles(fileOf(EXAMPLE), fileOf(moved), NOW)).toBe('No decision differs.\n');
});

test('a service that only one file lists is compared with what holds for unlisted services', () => {
  const after = edited(['    tags: [staging]\n', '    tags: [prod]\n']);
  const retagged = compareFiles(fileOf(EXAMPLE), fileOf(after), NOW);
  expect(retagged).toContain('3 groups of');
  expect(retagged).toContain(
    '| `operator` | `service stop, service scale` | `staging` | `1 approval from approver, within 24 h` | `2 approvals',
  );
  const without = EXAMPLE.replace(/ {2}- name: staging\n(?: {4}.*\n)*/, '');
  const text = compareFiles(fileOf(EXAMPLE), fileOf(without), NOW);
  expect(text).toContain('| `staging` | `1 approval from approver');
  expect(text).toContain('denied: no-rule');
});

test('a name from a file of a fork is neither markup nor a mention in the comment', () => {
  const name = "'<b>@everyone|[x](http://e)'";
  const after = EXAMPLE.replace('  - name: staging\n', `  - name: ${name}\n`).replace(
    'count: 1, self: refused',
    'count: 2',
  );
  const read = readPolicyFile('signalbox.yaml', () => after);
  const own = read.ok ? read.value : fileOf(EXAMPLE);
  const { services } = own;
  const renamed = services.map((one) => ({ ...one, name: name.slice(1, -1) }));
  const text = compareFiles(
    fileOf(EXAMPLE),
    { ...fileOf(edited(['count: 1, self: refused', 'count: 2'])), services: renamed },
    NOW,
  );
  expect(text).toContain('`<b>@everyone\\|[x](http://e), a service');
  expect(text.replaceAll(/`[^`]*`/g, '')).not.toContain('everyone');
});

test('a standing approval is decided with the rules of what it allows', () => {
  const held = ['nobody may allow alone', 'no viewer may allow', 'only operator may allow'];
  for (const statement of held) expect(proved(statement).text).toContain(`✓ s.txt:1  ${statement}`);
  const two = proved('allow needs 2 approvals');
  expect(two.text).toMatch(
    /operator: change allow on \w+ of [^:]+: 1 approval from approver \(rule 6\)/,
  );
  expect(two.text).not.toContain('immediate');
  const alone = edited([
    'approvals: { from: approver, count: 1, self: refused }',
    'approvals: { from: approver, count: 1, self: allowed }',
  ]);
  expect(proved('nobody may allow alone', alone).holds).toBe(false);
  // Break-glass does not run for weeks.
  expect(proved('nobody may allow analytics-prod alone').text).toContain('✓');
});

test('a proof of 200 rules and 500 services takes at most two seconds of processor time', () => {
  const file = fileOf(EXAMPLE);
  const [service = expect.fail('no service')] = file.services;
  const approved = file.policy.rules.filter(({ requires }) => requires.count > 0);
  const [rule = expect.fail('no rule')] = approved;
  const services = Array.from({ length: 500 }, (_, at) => {
    return { ...service, name: `s-${at}`, id: `id-${at}`, aliases: [], tags: [`tag-${at % 66}`] };
  });
  const rules = Array.from({ length: 200 }, (_, at) => {
    const on = { services: null, tags: [`tag-${at % 66}`], warehouses: null };
    return { ...rule, requires: { ...rule.requires, rule: 100 + at }, on };
  });
  const policy = { ...file.policy, rules: [...rules, ...file.policy.rules] };
  const before = process.threadCpuUsage();
  prove({ ...file, services, policy }, [], NOW);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(2_000);
});
