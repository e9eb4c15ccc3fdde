import { existsSync, globSync, statSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { STATES } from '../../src/changes/change.ts';
import { codeOn, DOCUMENTS, found, read } from './pages.ts';

const scripts: Readonly<Record<string, string>> = packageJson.scripts;

test.for([...DOCUMENTS, '.ci/run'])('the npm scripts that %s names exist', (file) => {
  const named = found(read(file), /\bnpm (?:run )?(start|test|(?<=run )[a-z:-]+)\b/g);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
});

/** What a script of ours runs: its first file, and the folder that goes with that. */
function sourceOf(script: string): string {
  const [entry = ''] = found(scripts[script] ?? '', /node (\S+\.ts)$/g);
  const folder = basename(entry) === 'main.ts' ? dirname(entry) : entry.replace(/\.ts$/, '');
  return [entry, ...globSync(`${folder}/**/*.ts`)].map(read).join('\n');
}

/** A word is told in a sentence of usage, or it is a key of what is parsed. */
function isKnown(word: string, source: string): boolean {
  return source.includes(word) || source.includes(`${word.replace(/^--/, '')}: { type:`);
}

/** The options behind `npm run … --`, and the word there that says which of several things to do. */
function unknownOptions(page: string): readonly string[] {
  const lines = codeOn(page).flatMap((line) => [...line.matchAll(/npm run ([a-z]+) -- ([^#]*)/g)]);
  return lines.flatMap(([, script = '', rest = '']) => {
    const words = [...found(rest, /(?:^|[\s[])(--[a-z-]+)/g), ...found(rest, /^([a-z]+)\b/g)];
    const source = sourceOf(script);
    const missing = words.filter((word) => !isKnown(word, source));
    return missing.map((word) => `${script} ${word}`);
  });
}

test.for(DOCUMENTS)('the options of scripts that %s names exist', (file) => {
  expect(unknownOptions(read(file))).toEqual([]);
});

test('an option that no script has is noticed', () => {
  expect(unknownOptions('`npm run doctor -- --env .env --mend`')).toEqual(['doctor --mend']);
  expect(unknownOptions('`npm run audit -- heal`')).toEqual(['audit heal']);
});

// Written by whoever follows the page, or by the program when it runs.
const NOT_YET = [
  ...['signalbox.yaml', 'deploy/kubernetes/signalbox.yaml', 'manifest.local.json'],
  ...['reports/mutation/index.html', 'sbom.json', 'test.ts'],
];
const PATH = /(?<![\w/.<>-])((?:[\w.-]+\/)*[\w.-]+\.(?:tsx?|json|ya?ml|md|service))(?![\w/>-])/g;
const SOURCES = globSync(['{src,test,bench,deploy,docs}/**/*.*', '*.*']);

/** A file is named by its whole path, or by its end where the page has said which room it is of. */
function isThere(path: string): boolean {
  return NOT_YET.includes(path) || SOURCES.some((file) => `/${file}`.endsWith(`/${path}`));
}

test.for(DOCUMENTS)('the files that %s names exist', (file) => {
  const own = codeOn(read(file)).filter((line) => !/(?<!\w)\/(etc|data)\//.test(line));
  const named = own.flatMap((line) => found(line, PATH)).map((path) => normalize(path));
  const folders = own.flatMap((line) => found(line, /^((?:src|test|deploy|bench)\/[\w./-]*)$/g));
  expect(named.filter((path) => !isThere(path))).toEqual([]);
  expect(folders.filter((path) => !existsSync(join('.', path)))).toEqual([]);
});

test('a file that is not there is noticed', () => {
  expect(isThere('src/doctor.ts')).toBe(true);
  expect(isThere('src/nurse.ts')).toBe(false);
});

test('the glossary has every state of a change, in their order', () => {
  expect(found(read('docs/glossary.md'), /^\| `([a-z]+)` \| [○◐●✕?] \|/gm)).toEqual([...STATES]);
});

test('whoever checks a clone can run the script for it', () => {
  expect(statSync('.ci/run').mode & 0o111).not.toBe(0);
});
