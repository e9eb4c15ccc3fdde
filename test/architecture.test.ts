import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { commands } from '../src/commands/index.ts';
import {
  code,
  exportedNames,
  type Import,
  importCycles,
  importsOf,
  sourceFiles,
} from './imports.ts';
import { MAY_IMPORT } from './rooms.ts';

/** Pure modules of the two API clients: commands and intent use the contract's rules from them. */
const CONTRACT =
  /^src\/(cloud|alerts)\/(schema|fields|rules|accepted-values|replies|update|updatable-fields)\.ts$/;
/** Files that wire rooms together, so that they may import any room of `src`. */
const WIRING = [
  'app',
  'bot',
  'bot-options',
  'command-context',
  'discover-services',
  'main',
  'open-clock',
  'open-directory',
  'start-checks',
  'start-retries',
];
const LIBRARY_ROOMS: readonly (readonly [RegExp, string])[] = [
  [/^@slack\//, 'slack'],
  [/^undici$/, 'http'],
  [/^(kysely|pg|node:sqlite)$/, 'storage'],
  [/^@opentelemetry\//, 'observability'],
];
const PURE = ['changes', 'policy', 'costs', 'intent', 'directory'];
const IMPURE =
  /new Date\(\)|Date\.now|Math\.random|\bprocess\.|\bperformance\.|\brandom(Bytes|UUID|Int)\b/;
const MOST_FILES_IN_A_FOLDER = 15;

function roomOf(file: string): string {
  const [top, room = ''] = file.split('/');
  return top === 'sandbox' ? 'sandbox' : room.replace(/\.tsx?$/, '');
}

function isForbidden({ file, of, typeOnly }: Import): boolean {
  const [from, to] = [roomOf(file), roomOf(of)];
  if (from === 'sandbox') return of.startsWith('src/');
  if (!/^(src|sandbox)\//.test(of)) {
    return LIBRARY_ROOMS.some(([library, room]) => library.test(of) && room !== from);
  }
  if (from === to) return false;
  if (WIRING.includes(from)) return to === 'sandbox';
  if (['intent', 'commands'].includes(from) && CONTRACT.test(of)) return false;
  const allowed = MAY_IMPORT[from] ?? [];
  return !allowed.includes(to) && !(typeOnly && allowed.includes(`type ${to}`));
}

test('every room imports only the rooms that it may import', () => {
  const forbidden = sourceFiles.flatMap(importsOf).filter(isForbidden);
  expect(forbidden.map(({ file, of }) => `${file} imports ${of}`)).toEqual([]);
});

test.for<[string, string, boolean]>([
  ['src/changes/lifecycle.ts', 'src/storage/tables/changes/changes.ts', true],
  ['src/commands/service-stop.ts', 'src/changes/plan-digest.ts', false],
  ['src/commands/service-stop.ts', 'src/commands-old/x.ts', false],
  ['src/slack/inbound/typed-command.ts', 'src/commands/index.ts', false],
  ['src/workflow/execute/send.ts', 'src/slack/cards/card.ts', true],
  ['src/app.ts', 'sandbox/start.ts', false],
  ['sandbox/start.ts', 'src/config/load-config.ts', false],
  ['src/workflow/execute/send.ts', '@slack/web-api', true],
  ['src/cloud/client.ts', 'undici', false],
  ['src/workflow/load-change.ts', 'kysely', true],
])('an import of %s from %s is forbidden', ([file, of, typeOnly]) => {
  expect(isForbidden({ file, of, typeOnly })).toBe(true);
});

test('the import table has a row for every room', () => {
  const known = [...Object.keys(MAY_IMPORT), ...WIRING, 'sandbox'];
  expect(sourceFiles.map(roomOf).filter((room) => !known.includes(room))).toEqual([]);
});

test('the import reader finds every import, and distinguishes types from values', () => {
  const written = sourceFiles.map(
    (file) => code(file).match(/\bfrom '|^import '|\bimport\('/gm)?.length ?? 0,
  );
  expect(sourceFiles.map((file) => importsOf(file).length)).toEqual(written);

  const file = 'src/slack/cards/preview.ts';
  const imports = importsOf(file);
  expect(imports).toContainEqual({ file, of: 'src/changes/change.ts', typeOnly: true });
  expect(imports).toContainEqual({ file, of: 'src/slack/blocks/blocks.ts', typeOnly: false });
});

test('no files import each other in a cycle, type imports included', () => {
  const own = new Map(
    sourceFiles
      .filter((file) => file.startsWith('src/'))
      .map((file) => [file, importsOf(file).map(({ of }) => of)] as const),
  );
  expect(importCycles(own)).toEqual([]);
});

test('a cycle of three files and a file that imports itself are found', () => {
  const imports = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['a']],
    ['d', []],
    ['e', ['e']],
  ]);
  expect(importCycles(imports)).toEqual([['a', 'b', 'c'], ['e']]);
});

// One file for each command, and one for each migration, which is never changed again.
const GROWING: readonly string[] = ['src/commands', 'src/storage/migrations'];

test(`no folder has more than ${MOST_FILES_IN_A_FOLDER} files directly in it`, () => {
  const count = Map.groupBy(globSync('{src,sandbox}/**/*.*'), dirname);
  const crowded = [...count].filter(
    ([folder, files]) => files.length > MOST_FILES_IN_A_FOLDER && !GROWING.includes(folder),
  );
  expect(crowded.map(([folder, files]) => `${folder}: ${files.length} files`)).toEqual([]);
});

test('no two files of the bot export the same name with different meanings', () => {
  const bot = sourceFiles.filter((file) => file.startsWith('src/'));
  const files = new Map<string, string[]>();
  for (const file of bot) {
    for (const name of exportedNames(file)) files.set(name, [...(files.get(name) ?? []), file]);
  }
  expect([...files].filter(([, where]) => where.length > 1)).toEqual([]);
});

test('pure rooms use no clock, randomness, environment or network', () => {
  const pure = sourceFiles.filter((file) => PURE.includes(roomOf(file)));
  expect(pure.filter((file) => IMPURE.test(code(file)))).toEqual([]);
});

test('only the entry points read the environment', () => {
  const bot = sourceFiles.filter((file) => file.startsWith('src/'));
  expect(bot.filter((file) => code(file).includes('process.env')).toSorted()).toEqual([
    'src/cli/audit.ts',
    'src/cli/doctor.ts',
    'src/cli/file-command.ts',
    'src/cli/policy.ts',
    'src/cli/postgres-tool.ts',
    'src/cli/signalbox.ts',
    'src/main.ts',
  ]);
});

test('the list of commands has every command file', () => {
  const named = commands.map(({ name }) => `src/commands/${name.replaceAll(' ', '-')}.ts`);
  const own = globSync('src/commands/*.ts').filter((file) => !file.endsWith('/index.ts'));
  expect(own.sort()).toEqual(named.sort());
});
