import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { STATES } from '../../src/domain/change.ts';
import { SIGNALBOX_SOURCE } from '../harness/programs.ts';
import { importsOf } from '../imports.ts';
import { codeOn, DOCUMENTS, groupsOf, readPage } from './pages.ts';

const scripts: Readonly<Record<string, string>> = packageJson.scripts;

test.for([...DOCUMENTS, '.ci/run'])('the npm scripts that %s names exist', (file) => {
  const named = groupsOf(readPage(file), /\bnpm (?:run )?(start|test|(?<=run )[a-z:-]+)\b/g);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

const OWN_SOURCE = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'));

/** The usage texts of a command of `signalbox`. */
function usageOf(command: string): string {
  const usage = new RegExp(`\`signalbox ${command}\\b[^\`]*\``, 'g');
  return OWN_SOURCE.flatMap((text) => text.match(usage) ?? []).join('\n');
}

/**
 * Where the options of a script are: in its usage text, or in its entry file and the files that this file
 * imports.
 */
function sourceOf(script: string): string {
  const [entry = ''] = groupsOf(scripts[script] ?? '', /node (\S+\.ts)\b/g);
  if (entry === SIGNALBOX_SOURCE) return usageOf(script);
  const imported = entry === '' ? [] : importsOf(entry).map(({ of }) => of);
  return [entry, ...imported]
    .filter((file) => existsSync(file))
    .map(readPage)
    .join('\n');
}

/** An option occurs in a usage text, or as a key of the parsed options. */
function isKnown(word: string, source: string): boolean {
  return source.includes(word) || source.includes(`${word.replace(/^--/, '')}: { type:`);
}

const COMMAND = /(?:npm run ([a-z]+) --|\bsignalbox (audit|doctor|manifest|policy)) ([^#]*)/g;

/** The options and subcommands after `npm run … --` or `signalbox …` that the script does not have. */
function unknownOptions(page: string): readonly string[] {
  const lines = codeOn(page).flatMap((line) => [...line.matchAll(COMMAND)]);
  return lines.flatMap(([, npm = '', own = '', rest = '']) => {
    const script = npm || own;
    const words = [...groupsOf(rest, /(?:^|[\s[])(--[a-z-]+)/g), ...groupsOf(rest, /^([a-z]+)\b/g)];
    const source = sourceOf(script);
    const missing = words.filter((word) => !isKnown(word, source));
    return missing.map((word) => `${script} ${word}`);
  });
}

test.for(DOCUMENTS)('the options of npm scripts that %s names exist', (file) => {
  expect(unknownOptions(readPage(file))).toEqual([]);
});

test('an unknown option or subcommand is found', () => {
  expect(unknownOptions('`npm run doctor -- --json --repair`')).toEqual(['doctor --repair']);
  expect(unknownOptions('`npm run audit -- heal`')).toEqual(['audit heal']);
  expect(unknownOptions('`signalbox audit heal`')).toEqual(['audit heal']);
  expect(unknownOptions('`npm run doctor -- --json`, `npm run audit -- prune --export x`')).toEqual(
    [],
  );
});

// Files that a user or a program creates later.
const CREATED_LATER = [
  ...[
    'signalbox.yaml',
    'config/signalbox.yaml',
    ...['cases.yaml', 'old.yaml', 'base.yaml'],
    'deploy/kubernetes/signalbox.yaml',
    'manifest.local.json',
  ],
  ...['domain', 'workflow', 'log'].map((room) => `reports/mutation/${room}.html`),
  ...['sbom.json', 'test.ts'],
];
const PATH = /(?<![\w/.<>-])((?:[\w.-]+\/)*[\w.-]+\.(?:tsx?|json|ya?ml|md|service))(?![\w/>-])/g;
const SOURCES = globSync(['{src,test,bench,deploy,docs}/**/*.*', '*.*']);

/** A page names a file by its path, or by the end of the path where the room is clear. */
function exists(path: string): boolean {
  return CREATED_LATER.includes(path) || SOURCES.some((file) => `/${file}`.endsWith(`/${path}`));
}

test.for(DOCUMENTS)('the files that %s names exist', (file) => {
  const own = codeOn(readPage(file)).filter((line) => !/(?<!\w)\/(etc|data)\//.test(line));
  const named = own.flatMap((line) => groupsOf(line, PATH)).map((path) => normalize(path));
  const folders = own.flatMap((line) => groupsOf(line, /^((?:src|test|deploy|bench)\/[\w./-]*)$/g));
  expect(named.filter((path) => !exists(path))).toEqual([]);
  expect(folders.filter((path) => !existsSync(join('.', path)))).toEqual([]);
});

test('a missing file is found', () => {
  expect(exists('src/main.ts')).toBe(true);
  expect(exists('src/missing.ts')).toBe(false);
});

test('the glossary lists the states of a change in the order of the code', () => {
  expect(groupsOf(readPage('docs/glossary.md'), /^\| `([a-z]+)` \| [○◐●✕?] \|/gm)).toEqual([
    ...STATES,
  ]);
});

test('the script that tests a clone is executable', () => {
  expect(statSync('.ci/run').mode & 0o111).not.toBe(0);
});
