import { expect, test } from 'vitest';
import { commands, nouns } from '../../src/commands/index.ts';
import { dayOf } from '../../src/costs/day.ts';
import { askedOf } from '../../src/digest/question.ts';
import { understand } from '../../src/intent/understand.ts';
import { NOON, service } from '../intent/fixtures.ts';
import { linesOn, nounAndRest, saidOn } from './lines.ts';
import { DOCUMENTS, read, spansOn } from './pages.ts';

/** What a page invites people to get wrong. */
const WRONG_ON_PURPOSE = ['/service stop stagign'];

const services = [
  service('analytics-prod', { tags: ['prod'], pipes: [{ id: '9a3b6c1d', name: 'orders' }] }),
  service('staging'),
];
const vocabulary = {
  ...{ commands, services, organization: { plan: 'paid', tier: 'scale' } as const },
  alerts: [{ id: '5xx', name: '5xx rate', aliases: [] }],
};

/** What comes of a line: `intent`, `incomplete`, `help`, `misread` or `unknown`. */
function outcome(code: string): string {
  const { noun, rest } = nounAndRest(code);
  if (!(noun in nouns)) return 'unknown';
  const understood = understand(noun, rest, vocabulary);
  if (understood.kind !== 'intent') return understood.kind;
  const { name } = understood.command;
  if (name !== 'cost' && name !== 'cost csv') return 'intent';
  // Its words are one field for the parser, and read by the command itself.
  const words = String(understood.args.words ?? '');
  return askedOf({ command: name, words }, dayOf(NOON), services).ok ? 'intent' : 'misread';
}

test.for(DOCUMENTS)('whoever types the lines of %s is understood', (file) => {
  const wrong = linesOn(file).filter((line) => !['intent', 'help'].includes(outcome(line)));
  expect(wrong).toEqual([]);
});

test.for(DOCUMENTS)('what %s says to type is understood, as far as it goes', (file) => {
  const fair = ['intent', 'help', 'incomplete'];
  const strange = saidOn(file).filter((code) => !fair.includes(outcome(code)));
  expect(strange.filter((code) => !WRONG_ON_PURPOSE.includes(code))).toEqual([]);
});

test('each period that the page of the commands names is one', () => {
  const [, paragraph = ''] = read('docs/commands.md').match(/(\*\*A period\*\*[\s\S]*?)\n\n/) ?? [];
  const periods = spansOn(paragraph).filter((code) => !code.startsWith('/'));
  expect(periods.length).toBeGreaterThan(15);
  expect(periods.filter((period) => outcome(`/cost ${period}`) !== 'intent')).toEqual([]);
});

test('the README shows lines to type', () => {
  expect(linesOn('README.md').length).toBeGreaterThan(10);
});

test.for<[string, string]>([
  ['/service stop stagign', 'misread'],
  ['/service dance staging', 'misread'],
  ['/service scale staging size=3', 'misread'],
  ['/cost since ever', 'misread'],
  ['/sevrice list', 'unknown'],
])('it is noticed that nobody would understand %s', ([line, expected]) => {
  expect(outcome(line)).toBe(expected);
});
