import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commands, helpFor, nouns, parseLine } from '../../src/commands/index.ts';
import { REFUSALS } from '../../src/domain/change.ts';
import { createDenial } from '../../src/domain/gate.ts';
import { answerMessage } from '../../src/slack/answer.ts';
import { homeView } from '../../src/slack/home.ts';
import { manifestOf } from '../../src/slack/manifest.ts';
import { refusalMessage, stoppedLine } from '../../src/slack/refusals.ts';
import { vocabularyOf } from '../commands/fixtures.ts';
import { changeIn } from '../domain/changes-fixtures.ts';
import { EMPTY_LISTS, everyone, drawing as unprefixed } from './fixtures.ts';

const PREFIX = 'db-';
const drawing = { ...unprefixed, prefix: PREFIX };
const NOUNS = Object.keys(nouns).join('|');
const UNPREFIXED = new RegExp(`(?<![\\w.-])/(${NOUNS})\\b`, 'g');

const change = changeIn('pending');
const vocabulary = { ...vocabularyOf([]), commands, prefix: PREFIX };
const misread = (noun: string, text: string) => parseLine(noun, text, vocabulary);

function help(noun: string | null, about: string | null) {
  const mayUse = ({ kind }: { readonly kind: string }) => kind === 'query';
  const reader = { who: ['Your roles: oncall.'], frequent: [], note: null, prefix: PREFIX, mayUse };
  return answerMessage(helpFor({ noun, about }, commands, reader));
}

test.for<[string, unknown]>([
  ['refusals', REFUSALS.map((name) => refusalMessage(createDenial(name, { change }), drawing))],
  [
    'reasons on the card',
    REFUSALS.map((stopReason) => stoppedLine({ ...change, stopReason }, drawing)),
  ],
  [
    'Home',
    homeView(
      { ok: true, actor: everyone, lists: { ...EMPTY_LISTS, waiting: [change] } },
      { drawing, commands },
    ),
  ],
  ...[null, 'service', 'cost', 'change'].map((noun): [string, unknown] => [
    'help',
    help(noun, null),
  ]),
  ['the help for a command', help('service', 'stop')],
  ['all commands', help(null, 'all')],
  ['an unknown verb', misread('service', 'stopp staging')],
  ['an unknown key', misread('service', 'stop staging colour=red')],
  ['an unknown name', misread('service', 'stop stagign')],
  ['words that a query does not take', misread('service', 'list all of them')],
  ['the manifest', manifestOf({ commands, nouns, prefix: PREFIX, url: null })],
])('%s show every command with the configured prefix', ([, shown]) => {
  expect(JSON.stringify(shown).match(UNPREFIXED) ?? []).toEqual([]);
});

test('no text of the bot spells out a command without the prefix', () => {
  const literal = new RegExp(`['\`“ (]/(${NOUNS})(?=[ '\`”.,;])`);
  const found = globSync('src/**/*.ts').flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => !/^\s*(\/\/|\*|\/\*)/.test(line) && literal.test(line))
      .map((line) => `${file}: ${line.trim()}`),
  );
  expect(found).toEqual([]);
});
