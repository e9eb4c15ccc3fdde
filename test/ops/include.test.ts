import { expect, test } from 'vitest';
import { readPolicyFile } from '../../src/ops/policy.ts';
import { edited, load, said } from './fixtures.ts';

const BASE = `roles:
  auditor: { groups: ['@auditors'] }
policy:
  - { allow: [change log], to: auditor }
  - { allow: [service create], to: auditor, approvals: { from: approver, count: 3 } }
never:
  - { commands: [endpoint create], reason: The network team does it }
`;

const WITH_BASE = edited(['organization:\n', 'include: [base.yaml]\norganization:\n']);

test('the rules of an included file come before those of the file', () => {
  const loaded = load({}, { './signalbox.yaml': WITH_BASE, 'base.yaml': BASE });
  const { policy } = loaded.ok ? loaded.config : { policy: null };
  const first = policy?.rules.slice(0, 3);
  expect(first?.map(({ requires, commands }) => [requires.rule, commands[0]])).toEqual([
    [1, 'change log'],
    [2, 'service create'],
    [3, 'service list'],
  ]);
  const roles = ['approver', 'auditor', 'operator', 'viewer'];
  expect([...(policy?.roles.keys() ?? [])].sort()).toEqual(roles);
  expect(policy?.never.map(({ reason }) => reason)[0]).toBe('The network team does it');
});

test('the path of an included file begins at the folder of the file that includes it', () => {
  const files = { 'etc/signalbox.yaml': WITH_BASE, 'etc/base.yaml': BASE };
  expect(load({ SIGNALBOX_CONFIG: 'etc/signalbox.yaml' }, files).ok).toBe(true);
});

test('a change of the included file is another configuration', () => {
  const hashOf = (base: string) => {
    const loaded = load({}, { './signalbox.yaml': WITH_BASE, 'base.yaml': base });
    return loaded.ok ? loaded.config.configHash : null;
  };
  expect(hashOf(BASE)).not.toBeNull();
  expect(hashOf(BASE)).not.toBe(hashOf(`${BASE}# a comment\n`));
});

const MAY_HAVE = '(an included file may have policy, freezes, never, roles)';

test.for<[string, string, string]>([
  [
    'a key of one installation',
    'services: []\n',
    `base.yaml:1: may not have “services” ${MAY_HAVE}`,
  ],
  [
    'a further include',
    'include: [more.yaml]\n',
    `base.yaml:1: may not have “include” ${MAY_HAVE}`,
  ],
  ['a list', '- a\n', `base.yaml:1: must be a map of keys ${MAY_HAVE}`],
  [
    'a role of the file',
    "roles:\n  viewer: { groups: ['@a'] }\n",
    'roles.viewer: is in two files (keep one of them)',
  ],
  [
    'an unknown command, at its line',
    'policy:\n  - { allow: [cost], to: viewer }\n  - { allow: [cost cvs], to: viewer }\n',
    'base.yaml:3 policy[1].allow[0]: matches no command: “cost cvs” (did you mean “cost csv”?)',
  ],
])('refused in an included file: %s', ([, base, problem]) => {
  expect(said({}, WITH_BASE, { 'base.yaml': base })).toEqual([problem]);
});

test('a problem of the file has the place that it has there', () => {
  const yaml = WITH_BASE.replace('allow: [cost digest]', 'allow: [cost digst]');
  const [problem] = said({}, yaml, { 'base.yaml': BASE });
  expect(problem).toContain('policy[3].allow[0]: matches no command: “cost digst”');
  const read = readPolicyFile('signalbox.yaml', (path) => (path === 'base.yaml' ? BASE : yaml));
  const line = yaml.split('\n').findIndex((each) => each.includes('cost digst')) + 1;
  expect(read.ok ? [] : read.problems.map(({ where }) => where)).toEqual([
    `signalbox.yaml:${line} policy[3].allow[0]`,
  ]);
});

test('what is included must exist and be a list', () => {
  expect(said({}, WITH_BASE)).toEqual([
    'include: base.yaml cannot be read (ENOENT) (the path begins at the folder of the file that includes it)',
  ]);
  expect(said({}, WITH_BASE.replace('[base.yaml]', 'base.yaml'))).toEqual([
    'include: must be a list of files (for example include: [base.yaml])',
  ]);
});
