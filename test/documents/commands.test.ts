import { expect, test } from 'vitest';
import { dayOf } from '../../src/base/time.ts';
import { commands, nouns, parseLine } from '../../src/commands/index.ts';
import { readForecastQuestion } from '../../src/costs/forecast.ts';
import { readCostQuestion } from '../../src/costs/question.ts';
import { NOON, ORGANIZATIONS, service } from '../commands/fixtures.ts';
import { inlineLinesOn, linesOn, nounAndRest } from './command-lines.ts';
import { DOCUMENTS, readPage, spansOn } from './pages.ts';

/** A typing error that a page shows on purpose. */
const WRONG_ON_PURPOSE = ['/service stop stagign'];

const services = [
  service('analytics-prod', {
    ...{ tags: ['prod'], team: 'search' },
    pipes: [{ id: '9a3b6c1d', name: 'orders' }],
  }),
  service('staging'),
];
const vocabulary = {
  ...{ commands, services, organizations: ORGANIZATIONS },
  alerts: [{ id: '5xx', name: '5xx rate', aliases: [] }],
};

/** The result of parsing a line: `intent`, `incomplete`, `help`, `misread` or `unknown`. */
function outcome(code: string): string {
  const { noun, rest } = nounAndRest(code);
  if (!(noun in nouns)) return 'unknown';
  const understood = parseLine(noun, rest, vocabulary);
  if (understood.kind !== 'intent') return understood.kind;
  const { name } = understood.command;
  // The command itself parses these words; for the parser they are one field.
  const words = String(understood.args.words ?? '');
  if (name === 'cost forecast') {
    return readForecastQuestion(words, dayOf(NOON), { services }).ok ? 'intent' : 'misread';
  }
  if (name !== 'cost' && name !== 'cost csv' && name !== 'cost why') return 'intent';
  return readCostQuestion({ command: name, words }, dayOf(NOON), { services }).ok
    ? 'intent'
    : 'misread';
}

test.for(DOCUMENTS)('Signalbox understands the commands in lines and in the text of %s', (file) => {
  const understood = ['intent', 'help'];
  expect(linesOn(file).filter((line) => !understood.includes(outcome(line)))).toEqual([]);
  const accepted = [...understood, 'incomplete'];
  const wrong = inlineLinesOn(file).filter((code) => !accepted.includes(outcome(code)));
  expect(wrong.filter((code) => !WRONG_ON_PURPOSE.includes(code))).toEqual([]);
});

test('Signalbox understands each period of the commands page', () => {
  const [, paragraph = ''] =
    readPage('docs/commands.md').match(/(\*\*A period\*\*[\s\S]*?)\n\n/) ?? [];
  const periods = spansOn(paragraph).filter((code) => !code.startsWith('/'));
  expect(periods.length).toBeGreaterThan(12);
  expect(periods.filter((period) => outcome(`/cost ${period}`) !== 'intent')).toEqual([]);
});

test('the README shows command lines', () => {
  expect(linesOn('README.md').length).toBeGreaterThan(10);
});

test.for<[string, string]>([
  ['/service stop stagign', 'misread'],
  ['/service dance staging', 'misread'],
  ['/service scale staging size=3', 'misread'],
  ['/cost since ever', 'misread'],
  ['/cost forecast yaer', 'misread'],
  ['/sevrice list', 'unknown'],
])('a wrong command line is found: %s', ([line, expected]) => {
  expect(outcome(line)).toBe(expected);
});
