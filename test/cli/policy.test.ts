import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';
import { edited } from '../ops/fixtures.ts';

const EXAMPLE = 'signalbox.example.yaml';
const CASES = 'signalbox.cases.example.yaml';

/** Without any variable of Signalbox. */
function policy(...args: string[]) {
  return runCommand([SIGNALBOX, 'policy', ...args]);
}

/** Writes files for a test and returns their paths. */
function written(...texts: readonly string[]): readonly string[] {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-policy-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return texts.map((content, index) => {
    const path = join(folder, `${index}.yaml`);
    writeFileSync(path, content);
    return path;
  });
}

test('the example cases hold for the example configuration', async () => {
  const { out, err, code } = await policy('test', CASES, '--config', EXAMPLE);
  expect({ err, code }).toEqual({ err: '', code: 0 });
  const { cases } = parse(readFileSync(CASES, 'utf8'));
  expect(out.match(/^✓/gm)).toHaveLength(cases.length);
  expect(out).toContain(`${cases.length} cases: ${cases.length} as expected, 0 different.`);
  expect(out).toMatch(/^✓ signalbox.cases.example.yaml:12 {2}Scaling production .*\(rule 2\)$/m);
});

test('each decision that differs from its case is printed with the rule, and the exit code is 1', async () => {
  const [path = ''] = written(
    `at: 2026-11-23T10:00Z
cases:
  - { roles: [operator], command: service stop, service: staging, expect: immediate }
  - { roles: [operator], command: service scale, tag: prod, expect: { approvals: 1, from: approver } }
  - { roles: [operator], command: service scale, tag: prod, expect: { approvals: 2, from: approver }, rule: 3 }
  - { roles: [operator], command: service start, warehouse: main, expect: frozen }
  - { roles: [viewer], command: service stop, service: staging, expect: { denied: no-rule } }
  - { roles: [operator], command: service stop, service: analytics-prod, expect: { approvals: 2, from: approver } }
  - { roles: [approver], command: change freeze, tag: prod, reason: '', expect: immediate }
  - { user: U0123ABCD, command: cost csv, expect: immediate }
`,
  );
  const { out, code } = await policy('test', path, '--config', EXAMPLE);
  expect(code).toBe(1);
  expect(out.replaceAll(path, 'cases.yaml')).toMatchInlineSnapshot(`
    "✗ cases.yaml:3  operator: service stop on staging at 2026-11-23T10:00Z
        expected: immediate
        actual:   1 approval from approver (rule 3)
    ✗ cases.yaml:4  operator: service scale on tag prod at 2026-11-23T10:00Z
        expected: 1 approval from approver
        actual:   2 approvals from approver, break-glass for approver (rule 2) on analytics-prod
    ✗ cases.yaml:5  operator: service scale on tag prod at 2026-11-23T10:00Z
        expected: 2 approvals from approver (rule 3)
        actual:   2 approvals from approver, break-glass for approver (rule 2) on analytics-prod
    ✗ cases.yaml:6  operator: service start on warehouse main at 2026-11-23T10:00Z
        expected: denied: frozen
        actual:   1 approval from approver (rule 3) on analytics-prod
    ✗ cases.yaml:7  viewer: service stop on staging at 2026-11-23T10:00Z
        expected: denied: no-rule
        actual:   denied: not-a-requester (only operator may request it) (rule 3)
    ✗ cases.yaml:8  operator: service stop on analytics-prod at 2026-11-23T10:00Z
        expected: 2 approvals from approver
        actual:   denied: never (The shop reads from it day and night) (rule 2)
    ✗ cases.yaml:9  approver: change freeze on tag prod at 2026-11-23T10:00Z
        expected: immediate
        actual:   denied: reason-required (rule 5) on everything tagged prod
    ✗ cases.yaml:10  U0123ABCD: cost csv at 2026-11-23T10:00Z
        expected: immediate
        actual:   denied: not-a-requester (only viewer may request it) (rule 1)

    8 cases: 0 as expected, 8 different.
    "
  `);
});

test('a case of a pull request fails when the policy becomes less strict', async () => {
  const [looser = ''] = written(edited(['count: 2', 'count: 1']));
  const { out, code } = await policy('test', CASES, '--config', looser);
  expect(code).toBe(1);
  expect(out).toContain('expected: 2 approvals from approver, the requester does not count');
  expect(out).toContain('actual:   1 approval from approver, break-glass for approver (rule 2)');
  expect(out).toContain('10 as expected, 1 different.');
});

test('all problems of the cases and of the configuration are printed with their lines', async () => {
  const [cases = '', config = ''] = written(
    `at: 2026-11-23T10:00Z
cases:
  - roles: [operatr]
    command: service stp
    expect: imediate
  - { user: U0NOBODY, command: service list, expect: immediate }
`,
    edited(['{ from: approver, count: 2 }', '{ from: aprover, count: 0 }']),
  );
  const { out, err, code } = await policy('test', cases, '--config', config);
  expect({ out, code }).toEqual({ out: '', code: 2 });
  const shown = err.replaceAll(cases, 'cases.yaml').replaceAll(config, 'signalbox.yaml');
  expect(shown).toMatchInlineSnapshot(`
    "signalbox.yaml:72 policy[1].approvals.from  names no role: “aprover” (did you mean “approver”?)
    signalbox.yaml:72 policy[1].approvals.count  must be at least 1
    cases.yaml:3 cases[0].roles[0]  names no role: “operatr” (did you mean “operator”?)
    cases.yaml:4 cases[0].command  names no command: “service stp” (did you mean “service stop”?)
    cases.yaml:5 cases[0].expect  cannot be “imediate” (did you mean “immediate”?; other forms: { approvals: 2, from: approver } or { denied: no-rule })
    "
  `);
});

test.for<[string, string[], string]>([
  ['an unknown command', ['tets'], 'Unknown command “tets”: did you mean “test”?'],
  ['an unknown option', ['test', '--conig', 'x'], '“--conig”: did you mean “--config”?'],
  ['no file of cases', ['test'], 'test needs a file of cases'],
  ['two files of cases', ['test', 'a.yaml', 'b.yaml'], 'Unexpected argument: “b.yaml”.'],
  ['a file of statements and another file', ['prove', 'a', '--against', 'b'], 'not both.'],
  ['an option of prove', ['test', 'a.yaml', '--against', 'b'], '--against belongs to prove.'],
])('%s is refused', async ([, args, sentence]) => {
  const { err, code } = await policy(...args);
  expect(err).toContain(sentence);
  expect(code).toBe(2);
});

test('wrong options print a sentence and the usage, and the exit code is 2', async () => {
  const { out, err, code } = await policy('test', CASES, '--conf', EXAMPLE);
  expect({ out, code }).toEqual({ out: '', code: 2 });
  expect(err).toMatch(/^Unknown option “--conf”.*--config/);
  expect(err).toContain('signalbox policy test <cases.yaml>');
});

test.for([['--help'], ['help'], [], ['test', '--help']])('%j prints the usage', async (args) => {
  const { out, code } = await policy(...args);
  expect(out).toContain('signalbox policy prove --against <old.yaml>');
  expect(code).toBe(0);
});

test('a file that does not exist is named', async () => {
  const { err, code } = await policy('test', '/nowhere/cases.yaml', '--config', '/nowhere/x.yaml');
  expect(code).toBe(2);
  expect(err).toContain('/nowhere/cases.yaml  cannot be read (ENOENT)');
  expect(err).toContain('/nowhere/x.yaml  cannot be read (ENOENT)');
});

/** The commands of Signalbox that the example workflow runs. */
function workflowCommands(): readonly (readonly string[])[] {
  const { jobs } = parse(readFileSync('deploy/github/policy.yml', 'utf8'));
  const steps: { run?: string }[] = [...jobs.test.steps];
  return steps.flatMap(({ run = '' }) => {
    const [, words] = /npm run --silent policy -- ([^>\n]*)/.exec(run) ?? [];
    return words ? [words.trim().split(' ')] : [];
  });
}

test('the example workflow uses options that exist', async () => {
  // None of its files is here.
  const read = await Promise.all(workflowCommands().map((words) => policy(...words)));
  const missing = read.map(({ err }) => err.split('\n').map((line) => line.split('  ')[0]));
  expect(missing.map((files) => files.slice(0, 2))).toEqual([
    ['../signalbox.yaml', '../cases.yaml'],
    ['../signalbox.yaml', '../statements.txt'],
    ['../signalbox.yaml', '../old.yaml'],
  ]);
});

test('the example workflow may only read, and gives forks no secrets', () => {
  const { on, permissions, jobs } = parse(readFileSync('deploy/github/policy.yml', 'utf8'));
  expect(Object.keys(on)).toEqual(['pull_request']);
  expect(permissions).toEqual({ contents: 'read' });
  expect(JSON.stringify(jobs.test)).not.toContain('secrets.');
});
