import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
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

interface Exception {
  readonly file: string;
  /** The part of the line in which the word is correct. */
  readonly phrase: string;
  readonly reason: string;
}

/** Correct uses: a domain word of Slack or of the APIs, or an old spelling that users may type. */
const EXCEPTIONS: readonly Exception[] = [];

/** Rooms and pages whose language is already revised. */
const REVISED: readonly string[] = [
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'README.md',
  'docs/apis.md',
  'docs/architecture.md',
  'docs/bench.md',
  'docs/commands.md',
  'docs/costs.md',
  'docs/decisions',
  'docs/digests.md',
  'docs/fields.md',
  'docs/glossary.md',
  'docs/mutation.md',
  'docs/operating.md',
  'docs/policy.md',
  'docs/releasing.md',
  'docs/reliability.md',
  'docs/shipping.md',
  'docs/slack.md',
  'docs/tour.md',
  'docs/upgrading.md',
  'sandbox',
  'src/alerts',
  'src/app.ts',
  'src/bot-options.ts',
  'src/bot.ts',
  'src/cli',
  'src/cloud',
  'src/command-context.ts',
  'src/config',
  'src/cost-effect',
  'src/doctor',
  'src/errors.ts',
  'src/http',
  'src/main.ts',
  'src/observability',
  'src/server.ts',
  'test/alerts',
  'test/architecture.test.ts',
  'test/bench',
  'test/browser',
  'test/cli',
  'test/cloud',
  'test/config',
  'test/deploy',
  'test/directory',
  'test/documents',
  'test/errors.test.ts',
  'test/fuzz',
  'test/harness',
  'test/http',
  'test/imports.ts',
  'test/language.test.ts',
  'test/mutation.config.ts',
  'test/observability',
  'test/rooms.ts',
  'test/sandbox',
  'test/scenarios',
  'test/security.test.ts',
  'test/server.test.ts',
];

function wordsIn(line: string, allowed: readonly string[] = []): readonly string[] {
  const rest = allowed.reduce((text, phrase) => text.replaceAll(phrase, ''), line);
  return [...rest.matchAll(WORDS)].map(([word]) => word);
}

function isRevised(file: string): boolean {
  return REVISED.some((path) => file === path || file.startsWith(`${path}/`));
}

function linesOf(file: string): readonly string[] {
  return readFileSync(file, 'utf8').split('\n');
}

/** `file:line: word` for every forbidden word in the lines of a file that `counts` selects. */
function hitsIn(file: string, counts: (line: string) => boolean): readonly string[] {
  const allowed = EXCEPTIONS.filter((each) => each.file === file).map(({ phrase }) => phrase);
  return linesOf(file).flatMap((line, at) =>
    counts(line) ? wordsIn(line, allowed).map((word) => `${file}:${at + 1}: ${word}`) : [],
  );
}

const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !/\.(png|svg|css|snap|json)$/.test(file));
const prose = files.filter((file) =>
  /^((src|sandbox|docs)\/|(README|CONTRIBUTING|CHANGELOG)\.md$)/.test(file),
);
const testFiles = files.filter((file) => /^test\/.*\.ts$/.test(file));
const isTestName = (line: string) => /^\s*((test|it|describe)(\.\w+)*|\]\))\(/.test(line);

test('code, comments, texts and pages use no word of the old dialect', () => {
  expect(prose.filter(isRevised).flatMap((file) => hitsIn(file, () => true))).toEqual([]);
});

test('test names use no word of the old dialect', () => {
  expect(testFiles.filter(isRevised).flatMap((file) => hitsIn(file, isTestName))).toEqual([]);
});

test('every revised path exists, and every exception is still needed', () => {
  expect(
    REVISED.filter((path) => !files.some((file) => `${file}/`.startsWith(`${path}/`))),
  ).toEqual([]);
  const unused = EXCEPTIONS.filter(({ file, phrase }) => {
    const line = linesOf(file).find((each) => each.includes(phrase));
    return line === undefined || wordsIn(line).length === 0;
  });
  expect(unused).toEqual([]);
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

test('a phrase of an exception hides only itself', () => {
  const line = 'const alias = "wish"; // what people wish for';
  expect(wordsIn(line, ['alias = "wish"'])).toEqual(['wish']);
});
