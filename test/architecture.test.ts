import { expect, test } from 'vitest';
import { botFiles, roomOf, violations } from './house.ts';
import { code, exportedNames, importCycles, importsOf, sourceFiles } from './imports.ts';
import ratchet from './ratchet.json' with { type: 'json' };
import { ROOMS } from './rooms.ts';

const known: Readonly<Record<string, Readonly<Record<string, number>>>> = ratchet;

// ratchet.json lists what breaks a rule today. `npm run ratchet` lowers it; nothing raises it.
test.for(Object.entries(violations()))('%s: none but the known ones', ([rule, places]) => {
  expect(places).toEqual(known[rule]);
});

test('the sandbox imports nothing of the bot', () => {
  const sandbox = sourceFiles.filter((file) => file.startsWith('sandbox/'));
  const imports = sandbox.flatMap(importsOf).filter(({ of }) => of.startsWith('src/'));
  expect(imports).toEqual([]);
});

test('every file of the bot is in a room', () => {
  const unknown = botFiles.filter((file) => !((roomOf(file) ?? '') in ROOMS));
  expect(unknown).toEqual([]);
});

test('the import reader finds every import, and distinguishes types from values', () => {
  const written = sourceFiles.map(
    (file) => code(file).match(/\bfrom '|^import '|\bimport\('/gm)?.length ?? 0,
  );
  expect(sourceFiles.map((file) => importsOf(file).length)).toEqual(written);

  const all = sourceFiles.flatMap(importsOf);
  expect(new Set(all.map(({ typeOnly }) => typeOnly))).toEqual(new Set([true, false]));
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

test('no two files of the bot export the same name with different meanings', () => {
  const files = new Map<string, string[]>();
  for (const file of botFiles) {
    for (const name of exportedNames(file)) files.set(name, [...(files.get(name) ?? []), file]);
  }
  expect([...files].filter(([, where]) => where.length > 1)).toEqual([]);
});

test('only the entry points read the environment', () => {
  const readers = botFiles.filter((file) => code(file).includes('process.env'));
  expect(readers.filter((file) => !['app', 'ops'].includes(roomOf(file) ?? ''))).toEqual([]);
});

test('the protocol of agents is loaded by the bot that has agents only', () => {
  const door = 'src/agents/index.ts';
  const loading = botFiles.filter((file) =>
    importsOf(file).some(({ of, typeOnly }) => of === door && !typeOnly),
  );
  const later = loading.filter((file) => code(file).includes("await import('"));
  expect(loading).toEqual(['src/app.ts', 'src/ops/doctor-running.ts']);
  expect(later).toEqual(loading);
  const settings = importsOf('src/agents/config.ts').filter(({ typeOnly }) => !typeOnly);
  expect(settings.map(({ of }) => of).sort()).toEqual([
    'src/base/problem.ts',
    'src/commands/index.ts',
    'zod',
  ]);
});
