import { expect, test } from 'vitest';
import type { ListedItem } from '../../src/commands/define.ts';
import { parseLine } from '../../src/commands/parse.ts';
import { commands } from '../../src/commands/registry.ts';
import { service, vocabularyOf } from './fixtures.ts';

const item = (id: string, name: string): ListedItem => ({ id, name, aliases: [], about: 'slack' });
const webhook = [item('w1', 'Production alerts'), item('w2', 'Paging'), item('w3', 'paging')];
const vocabulary = {
  ...vocabularyOf([]),
  commands,
  alerts: [{ id: 'a1', name: '5xx rate', aliases: [] }],
};

function parsed(value: string, lists?: { readonly webhook: readonly ListedItem[] }) {
  const known = lists ? { ...vocabulary, lists } : vocabulary;
  return parseLine('alert', `edit "5xx rate" webhook="${value}"`, known);
}

test.for([
  ['the name of a listed item', 'production ALERTS', 'w1'],
  ['the id of a listed item', 'w2', 'w2'],
  ['an id that is not listed', 'w9', 'w9'],
])('%s becomes the id', ([, typed = '', id]) => {
  expect(parsed(typed, { webhook })).toMatchObject({
    kind: 'intent',
    args: { webhookId: id },
    given: { webhookId: id },
  });
});

test('a name of several items is asked back, with a button for each id', () => {
  expect(parsed('Paging', { webhook })).toMatchObject({
    kind: 'misread',
    sentence: '2 of them are called “Paging” (webhook). Which one do you mean?',
    offers: [
      { line: 'alert edit "5xx rate" webhook=w2' },
      { line: 'alert edit "5xx rate" webhook=w3' },
    ],
  });
});

test('without the list, the typed text is passed on', () => {
  expect(parsed('Paging')).toMatchObject({ args: { webhookId: 'Paging' } });
});

test.for([
  ['service', 'stop orders for the night', 'The service “orders” cannot be used'],
  ['pipe', 'settings staging clicks', 'The pipe “clicks” cannot be used'],
  ['alert', 'edit latency threshold=5', 'The alert “latency” cannot be used'],
])(
  'a %s whose id no request can contain is refused before a preview',
  ([noun = '', line = '', refusal = '']) => {
    const odd = service('orders', { id: '../svc 1' });
    const staging = service('staging', { pipes: [{ id: 'clicks?', name: 'clicks' }] });
    const alerts = [{ id: 'a/1', name: 'latency', aliases: [] }];
    const all = { ...vocabulary, services: [odd, staging], alerts };
    expect(parseLine(noun, line, all)).toMatchObject({
      kind: 'misread',
      sentence: expect.stringContaining(refusal),
    });
  },
);
