import { expect, test } from 'vitest';
import { edited, said } from './fixtures.ts';

test.for<[string, string, string]>([
  ['is a list', '- policy', ': must be a set of keys, not a list'],
  [
    'is two files',
    'policy: []\n---\npolicy: []',
    ':2:1: must be one document (remove the line ---)',
  ],
  [
    'has a key twice',
    'policy:\n  - to: a\n    to: b\n',
    ':3:5: Map keys must be unique (remove one of them)',
  ],
  [
    'has a group without quotes',
    'roles: { viewer: { groups: [@engineering] } }',
    ":1:29: Plain value cannot start with reserved character @ (put names that begin with @ or # in quotes: '@db-leads')",
  ],
  ['has an unknown type', 'organization:\n  plan: !gold paid', ':2:9: Unresolved tag: !gold'],
  [
    'has a key that would reach into the program',
    'organization: { id: 1 }\nroles: { __proto__: { users: [U0ANA0001] } }',
    ':2:10: is not a known key: “__proto__”',
  ],
  [
    'names what it never defines',
    'policy: *rules',
    ': Unresolved alias (the anchor must be set before the alias): rules',
  ],
])('a file that %s is refused', ([, text, problem]) => {
  expect(said({}, text)).toEqual([`./signalbox.yaml${problem}`]);
});

test('a file that is empty lacks its parts', () => {
  const parts = ['organization', 'roles', 'policy'];
  expect(said({}, '')).toEqual(parts.map((part) => `${part}: is missing`));
});

test('every invalid line is named', () => {
  const places = said({}, 'a: 1\na: 2\nb: [@x]\nc: !no 1\n').map((line) => line.split(': ')[0]);
  expect(places).toEqual(['./signalbox.yaml:2:1', './signalbox.yaml:3:5', './signalbox.yaml:4:4']);
});

test('a file with exponential aliases is refused', () => {
  const line = (name: string, of: string) => `${name}: &${name} [${Array(9).fill(of).join()}]`;
  const bomb = [line('a', 'x'), line('b', '*a'), line('c', '*b'), line('d', '*c'), line('e', '*d')];
  expect(said({}, bomb.join('\n'))).toEqual([
    './signalbox.yaml: Excessive alias count indicates a resource exhaustion attack',
  ]);
});

test('__proto__ is refused as a key but accepted as a value', () => {
  expect(said({}, edited(['reason: year end', 'reason: __proto__']))).toEqual([]);
});
