import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Words of the dialect of version 1.0. docs/glossary.md defines the terms to use. */
const FORBIDDEN = [
  ...['whoever', 'whomever', 'somebody', 'nobody knows', 'stranger', 'company', 'keepers?'],
  ...['told', 'tells of', 'tellings?', 'deeds?', 'wish(es)?', 'vain', 'anew', 'lately', 'thereof'],
  ...['mend(s|ed|ing)?', 'in doubt', 'doubts?', 'grave(st)?', 'lend(s|ing)?', 'knock(ed|s)?'],
  ...['its hour', 'the hour of', 'of today', 'of before', 'of then', 'by hand', 'butKnow'],
  ...['glass(?!\\w*-)', 'dies', 'died', 'deaths?', 'breathes?'],
];
const WORDS = new RegExp(`(?<![\\w.-])(${FORBIDDEN.join('|')})(?![\\w-])`, 'giu');

function wordsIn(line: string): readonly string[] {
  return [...line.matchAll(WORDS)].map(([word]) => word);
}

function linesOf(file: string): readonly string[] {
  return readFileSync(file, 'utf8').split('\n');
}

/** `file:line: word` for every forbidden word in the part of each line that `textOf` returns. */
function hitsIn(file: string, textOf: (line: string) => string): readonly string[] {
  return linesOf(file).flatMap((line, at) =>
    wordsIn(textOf(line)).map((word) => `${file}:${at + 1}: ${word}`),
  );
}

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  // Git lists a file that was moved until the move is staged.
  .filter((file) => existsSync(file) && !/\.(png|svg|css|snap|json)$/.test(file));
const prose = files.filter((file) =>
  /^((src|sandbox|docs)\/|(README|CONTRIBUTING|CHANGELOG)\.md$)/.test(file),
);
const testFiles = files.filter(
  (file) => /^test\/.*\.ts$/.test(file) && file !== 'test/language.test.ts',
);
// The name of a test, or of a row in its table of cases.
const TEST_NAME = /^\s*(?:((test|it|describe|onEngines)(\.\w+)*|\]\))\(.*|\[?(['"`]).*?\4)/;

function testNameIn(line: string): string {
  return TEST_NAME.exec(line)?.[0] ?? '';
}

test('code, comments, texts and pages use no word of the old dialect', () => {
  expect(prose.flatMap((file) => hitsIn(file, (line) => line))).toEqual([]);
});

test('test names use no word of the old dialect', () => {
  expect(testFiles.flatMap((file) => hitsIn(file, testNameIn))).toEqual([]);
});

test.for<[string, string[]]>([
  ['// The requester is told the reason.', ['told']],
  ['/** A process that died leaves a grave doubt. */', ['died', 'grave', 'doubt']],
  ["const title = 'Break the glass';", ['glass']],
  ['Whoever wishes to edit it by hand', ['Whoever', 'wishes', 'by hand']],
  ['Nobody knows the outcome, in doubt lately', ['Nobody knows', 'in doubt', 'lately']],
  ["butKnow: 'a warning',", ['butKnow']],
])('the detector finds the forbidden words in: %s', ([line, words]) => {
  expect(wordsIn(line)).toEqual(words);
});

test.for([
  'Use break-glass… when approvers do not answer.',
  'const breakGlass = readBreakGlass(event);',
  'The lease ends; the recommended amendment is deadly serious.',
  'A blending of endpoints, and an accompanying description.',
])('the detector accepts: %s', (line) => {
  expect(wordsIn(line)).toEqual([]);
});

test.for([
  ["test('a change is told to Ana', () => {", ['told']],
  ["  'a change is told to %s',", ['told']],
  ["  ['told', { told: true }, told],", ['told']],
  ['const told = 1;', []],
] as const)('the name of a test is found in: %s', ([line, words]) => {
  expect(wordsIn(testNameIn(line))).toEqual(words);
});
