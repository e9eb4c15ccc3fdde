import { expect, test } from 'vitest';
import { edited, said } from './fixtures.ts';

test.for<[string, string, readonly string[]]>([
  ['is empty', '', ['organization: is missing', 'roles: is missing', 'policy: is missing']],
  ['is a list', '- policy', ['./signalbox.yaml: must be a set of keys, not a list']],
  [
    'is two files',
    'policy: []\n---\npolicy: []',
    ['./signalbox.yaml:2:1: must be one document (remove the line ---)'],
  ],
  [
    'has a key twice',
    'policy:\n  - to: a\n    to: b\n',
    ['./signalbox.yaml:3:5: Map keys must be unique (remove one of them)'],
  ],
  [
    'has a group without quotes',
    'roles: { viewer: { groups: [@engineering] } }',
    [
      "./signalbox.yaml:1:29: Plain value cannot start with reserved character @ (put names that begin with @ or # in quotes: '@db-leads')",
    ],
  ],
  [
    'has a value of an unknown type',
    'organization:\n  plan: !gold paid',
    ['./signalbox.yaml:2:9: Unresolved tag: !gold'],
  ],
  [
    'has a key that would reach into the program',
    'organization: { id: 1 }\nroles: { __proto__: { users: [U0ANA0001] } }',
    ['./signalbox.yaml:2:10: is not a known key: “__proto__”'],
  ],
  [
    'names what it never defines',
    'policy: *rules',
    ['./signalbox.yaml: Unresolved alias (the anchor must be set before the alias): rules'],
  ],
])('a file that %s is refused', ([, text, problems]) => {
  expect(said({}, text)).toEqual(problems);
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
