import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { STATES } from '../src/changes/change.ts';
import { commands, nouns } from '../src/commands/index.ts';
import { TRACING_NAMES } from '../src/config/tracing.ts';
import { FROM_FILES, NAMES, Variables } from '../src/config/variables.ts';
import { Secret } from '../src/errors.ts';

const DOCUMENTS = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')];
// Slack's own, not ours to define.
const OF_SLACK = ['invite'];
/** The prefix with which the README shows how two apps get along. */
const PREFIX = /^db-/;

function read(file: string): string {
  return readFileSync(file, 'utf8');
}

function found(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, group = '']) => group);
}

/** The address that a heading has on a page. */
function anchorsOf(file: string): string[] {
  const slug = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\d _-]/gu, '')
      .replaceAll(' ', '-');
  return found(read(file), /^#+ (.+)$/gm).map(slug);
}

function isDead(from: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const file = path === '' ? from : join(dirname(from), path);
  if (!existsSync(file)) return true;
  return anchor !== undefined && !anchorsOf(file).includes(anchor);
}

test.for(DOCUMENTS)('the links of %s lead somewhere', (file) => {
  const links = found(read(file), /\]\(([^)\s]+)\)/g).filter((link) => !/^https?:/.test(link));
  expect(links.filter((link) => isDead(file, link))).toEqual([]);
});

test('a link to what is not there is noticed', () => {
  expect(isDead('README.md', 'docs/nowhere.md')).toBe(true);
  expect(isDead('README.md', 'docs/operating.md#nothing-of-the-kind')).toBe(true);
  expect(isDead('docs/policy.md', '../README.md')).toBe(false);
});

test.for([...DOCUMENTS, '.ci/run'])('the npm scripts that %s names exist', (file) => {
  const named = found(read(file), /\bnpm (?:run )?(start|test|(?<=run )[a-z:-]+)\b/g);
  expect(named.filter((name) => !(name in packageJson.scripts))).toEqual([]);
});

const VARIABLE = /(?<![\w-])([A-Z]+(?:_[A-Z\d]+)+)(?![\w])/g;

test.for(DOCUMENTS)('the variables that %s names are read somewhere', (file) => {
  const readers = ['vitest.config.ts', ...globSync(['test/**/*.ts', 'bench/**/*.ts'])];
  const ofTests = readers.flatMap((reader) => found(read(reader), /process\.env\.([A-Z_]+)/g));
  const ofScripts = found(JSON.stringify(packageJson.scripts), /([A-Z_]+)=/g);
  const files = FROM_FILES.map((name) => `${name}_FILE`);
  const known = [...NAMES, ...TRACING_NAMES, ...files, ...ofScripts, ...ofTests];
  expect(found(read(file), VARIABLE).filter((name) => !known.includes(name))).toEqual([]);
});

/** What the table of variables has to say of one that is not set. */
function whenAbsent(schema: (typeof Variables.shape)[keyof typeof Variables.shape]): string {
  const reading = schema.safeParse(undefined);
  if (!reading.success) return 'required';
  const { data } = reading;
  if (data === undefined) return '–';
  return String(data instanceof Secret ? data.reveal() : data) || 'empty';
}

test('the table of variables is whole, and tells the defaults that hold', () => {
  const rows = [...read('docs/operating.md').matchAll(/^\| `([A-Z_]+)` \|.*\| ([^|]+) \|$/gm)];
  const told = rows.map(([, name, absent]) => [name, absent?.replaceAll('`', '')]);
  const held = Object.entries(Variables.shape).map(([name, schema]) => [name, whenAbsent(schema)]);
  expect(told).toEqual(held);
});

test('the README names the commands that there are, and no others', () => {
  const typed = [...read('README.md').matchAll(/`\/([a-z-]+)(?: ([a-z]+))?(?=[ `])/g)]
    .filter(([, noun = '']) => !OF_SLACK.includes(noun))
    .map(([, noun = '', verb = '']) => ({ noun: noun.replace(PREFIX, ''), verb }))
    .map(({ noun, verb }) => ({ noun, name: `${noun} ${verb}`.trim() }));
  const names = commands.map(({ name }) => name);
  const unknown = typed.filter(({ noun, name }) =>
    name === noun ? !(noun in nouns) : !names.includes(name),
  );
  expect(unknown).toEqual([]);
  expect(names.filter((name) => !typed.some((one) => one.name === name))).toEqual([]);
  expect(typed.map(({ noun }) => noun)).toEqual(expect.arrayContaining(Object.keys(nouns)));
});

test('the glossary has every state of a change, in their order', () => {
  expect(found(read('docs/glossary.md'), /^\| `([a-z]+)` \| [○◐●✕?] \|/gm)).toEqual([...STATES]);
});

test('every dependency has its reason', () => {
  const reasons = read('docs/decisions/0007-dependencies.md');
  const all = { ...packageJson.dependencies, ...packageJson.devDependencies };
  const explained = (name: string) =>
    reasons.includes(`\`${name}\``) || (name.startsWith('@types/') && reasons.includes('@types/*'));
  expect(Object.keys(all).filter((name) => !explained(name))).toEqual([]);
});

test('whoever checks a clone can run the script for it', () => {
  expect(statSync('.ci/run').mode & 0o111).not.toBe(0);
});
