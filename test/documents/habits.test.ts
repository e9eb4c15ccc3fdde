import { existsSync, globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import biome from '../../biome.json' with { type: 'json' };
import packageJson from '../../package.json' with { type: 'json' };
import renovate from '../../renovate.json' with { type: 'json' };
import { exportedNames, sourceFiles } from '../imports.ts';
import { DOCUMENTS, fencesOn, groupsOf, readPage } from './pages.ts';

const WORKFLOW = '.github/workflows/ci.yml';

test('the README shows two commands that need no other set-up', () => {
  const [first] = fencesOn(readPage('README.md'));
  const commands = (first?.text ?? '').split('\n').map((line) => line.replace(/ +#.*/, ''));
  expect(commands.filter(Boolean)).toEqual(['npm run sandbox', 'npm test']);
  const { presandbox, pretest } = packageJson.scripts;
  expect([presandbox, pretest]).toEqual(Array(2).fill('node deploy/install-packages.mjs'));
});

test('the script of the CI server runs the test command of the README', () => {
  expect(readPage('.ci/run')).toMatch(/^npm test\b/m);
});

test('the workflow runs that script, may only read, and uses no secret', () => {
  const { permissions, jobs } = parse(readPage(WORKFLOW));
  expect(permissions).toEqual({ contents: 'read' });
  expect(jobs.test.steps.at(-1)).toEqual({ run: '.ci/run' });
  expect(readPage(WORKFLOW)).not.toMatch(/secrets\.|upload-artifact/);
});

test('every path with a code owner exists', () => {
  const paths = groupsOf(readPage('.github/CODEOWNERS'), /^\/(\S+)/gm);
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});

/** Words of README, docs and the READMEs of rooms together, and of one page. Nothing raises them. */
const WORDS = { all: 37_000, page: 2_500 };
const counted = DOCUMENTS.filter((file) => /README|^docs/.test(file));
const wordsOf = (file: string) => readPage(file).split(/\s+/).filter(Boolean).length;

test('the pages have no more words than their budget', () => {
  expect(counted.filter((file) => wordsOf(file) > WORDS.page)).toEqual([]);
  expect(counted.map(wordsOf).reduce((sum, words) => sum + words)).toBeLessThanOrEqual(WORDS.all);
});

/** The owners of a file of the root or below: the last matching line decides. */
function ownersOf(file: string): string {
  const lines = [...readPage('.github/CODEOWNERS').matchAll(/^(\S+) +(@.+)$/gm)];
  const own = lines.filter(([, path = '']) => path === '*' || `/${file}`.startsWith(path));
  return own.at(-1)?.[2] ?? '';
}

test.for([
  ['says whether a change is allowed', 'gate'],
  ['decides by the policy', 'decide'],
  ['appends to the log', 'append'],
  ['commits', 'lockedTransaction'],
])('the security reviewers own the code that %s', ([, name = '']) => {
  const files = sourceFiles.filter((file) => exportedNames(file).includes(name));
  expect(files).toHaveLength(1);
  expect(files.map(ownersOf).join()).toContain('@signalbox/security');
});

test('the files that a new contributor meets are valid YAML', () => {
  const forms = globSync('.github/ISSUE_TEMPLATE/*.yml').filter((file) => !/config/.test(file));
  expect(forms).toHaveLength(2);
  for (const form of forms)
    expect(parse(readPage(form))).toMatchObject({ body: expect.any(Array) });
});

test('upgrades keep the two copies of the Node.js version together', () => {
  const rule = renovate.packageRules.find(({ groupName }) => groupName === 'Node.js');
  expect(rule?.matchManagers).toEqual(['npm', 'dockerfile']);
});

test('no configuration of a tool names the host of a package registry', () => {
  const files = ['.npmrc', 'renovate.json', '.ci/run', WORKFLOW, 'Dockerfile', 'package.json'];
  expect(files.filter((file) => /registry\.[a-z]+\./.test(readPage(file)))).toEqual([]);
});

test('the lint reports floating promises and import cycles everywhere, type imports included', () => {
  const { nursery, suspicious } = biome.linter.rules;
  expect(nursery.noFloatingPromises).toBe('error');
  expect(suspicious.noImportCycles).toEqual({ level: 'error', options: { ignoreTypes: false } });
  expect(biome).not.toHaveProperty('overrides');
});
