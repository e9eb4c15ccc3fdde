import { globSync } from 'node:fs';
import { dirname } from 'node:path';
import { code, exportedNames, importCycles, importsOf, sourceFiles } from './imports.ts';
import {
  DOOR_WIDTH,
  FILE_BUDGET,
  LIBRARY_ROOMS,
  OTHER_BUDGETS,
  ROOMS,
  SECOND_DOORS,
  WIDE_DOORS,
} from './rooms.ts';

/** What breaks a rule, by rule and place, and how often. A place that keeps the rule is absent. */
export type Violations = Readonly<Record<string, Readonly<Record<string, number>>>>;

const IMPURE =
  /new Date\(\)|Date\.now|Math\.random|\bprocess\.|\bperformance\.|\brandom(Bytes|UUID|Int)\b/;

export const botFiles = sourceFiles.filter((file) => file.startsWith('src/'));
const testFiles = globSync('test/**/*.ts');

/** The room of a file of `src`; null for other files. Files directly in `src` are in the room `app`. */
export function roomOf(file: string): string | null {
  const [top, folder = ''] = file.split('/');
  if (top !== 'src') return null;
  return folder.endsWith('.ts') ? 'app' : folder;
}

/** Lines of code: without blanks, comments and imports. */
export function codeLines(file: string): number {
  const text = code(file).replace(/^import\b[^;]*;$/gm, '');
  return text.split('\n').filter((line) => line.trim() !== '').length;
}

/** Lines of code by room, then those of `sandbox` and of `test`. */
export function sizes(): ReadonlyMap<string, number> {
  const lines = new Map(Object.keys(ROOMS).map((room) => [room, 0]));
  for (const file of sourceFiles) {
    const place = roomOf(file) ?? 'sandbox';
    lines.set(place, (lines.get(place) ?? 0) + codeLines(file));
  }
  return lines.set(
    'test',
    testFiles.map(codeLines).reduce((sum, each) => sum + each, 0),
  );
}

/** Code lines that a place of `sizes` may have. */
export function budgetOf(place: string): number {
  return ROOMS[place]?.budget ?? OTHER_BUDGETS[place] ?? 0;
}

/** Whether an import of this file from another room goes past the door of its room. */
function isPastDoor(of: string): boolean {
  const room = roomOf(of);
  return (
    room !== null &&
    ROOMS[room]?.door === 'index.ts' &&
    of !== `src/${room}/index.ts` &&
    !SECOND_DOORS.includes(of)
  );
}

function counted(places: Iterable<string | null>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const place of [...places].filter((each) => each !== null).toSorted()) {
    counts[place] = (counts[place] ?? 0) + 1;
  }
  return counts;
}

function above(limit: number, sizeOf: ReadonlyMap<string, number>): Record<string, number> {
  const tooLarge = [...sizeOf].filter(([, size]) => size > limit);
  return Object.fromEntries(tooLarge.map(([place, size]) => [place, size - limit]).toSorted());
}

/** Imports from one room that another one does not allow. */
function forbiddenArrow(file: string, of: string): string | null {
  const [from, to] = [roomOf(file), roomOf(of)];
  if (from === null || to === null || from === to) return null;
  return ROOMS[from]?.imports.includes(to) ? null : `${from} → ${to}`;
}

function pastDoor(file: string, of: string): string | null {
  const [from, to] = [roomOf(file), roomOf(of)];
  return from !== to && isPastDoor(of) ? `${from} → ${to}` : null;
}

/** A test in `test/X` may import any file of `src/X`; every other test imports doors only. */
function testPastDoor(file: string, of: string): string | null {
  const [, folder = ''] = file.split('/');
  return isPastDoor(of) && folder !== roomOf(of) ? `test/${folder} → ${roomOf(of)}` : null;
}

function foreignLibrary(file: string, of: string): string | null {
  const allowed = LIBRARY_ROOMS.find(([library]) => library.test(of))?.[1];
  const room = roomOf(file) ?? '';
  return !allowed || allowed.includes(room) ? null : `${file}: ${of}`;
}

/** Imports between folders that import each other, directly or through others. */
function folderCycles(imports: readonly (readonly [string, string])[]): Record<string, number> {
  const arrows = imports
    .map(([file, of]) => [dirname(file), dirname(of)] as const)
    .filter(([from, to]) => from !== to);
  const to = Map.groupBy(arrows, ([from]) => from);
  const cycles = importCycles(
    new Map([...to].map(([from, all]) => [from, all.map(([, of]) => of)])),
  );
  const cycleOf = new Map(cycles.flatMap((cycle, at) => cycle.map((folder) => [folder, at])));
  const inside = ([from, of]: readonly [string, string]) =>
    cycleOf.has(from) && cycleOf.get(from) === cycleOf.get(of);
  return counted(arrows.filter(inside).map(([from, of]) => `${from} → ${of}`));
}

/** Everything in the tree that breaks a rule of rooms. */
export function violations(): Violations {
  const imports = botFiles.flatMap(importsOf).map(({ file, of }) => [file, of] as const);
  const own = imports.filter(([, of]) => of.startsWith('src/'));
  const ofTests = testFiles.flatMap(importsOf).filter(({ of }) => of.startsWith('src/'));
  const doors = botFiles.filter((file) => {
    const room = ROOMS[roomOf(file) ?? ''];
    return room?.door === 'each file' || /^src\/[a-z]+\/index\.ts$/.test(file);
  });
  const widths = doors
    .filter((file) => roomOf(file) !== 'app' && !WIDE_DOORS.includes(file))
    .map((file) => [file, widthOf(file)] as const);
  const byFile = Map.groupBy(own, ([file]) => file);
  const graph = new Map([...byFile].map(([file, pairs]) => [file, pairs.map(([, of]) => of)]));
  const rooms = [...sizes()].map(([place, lines]) => [place, lines - budgetOf(place)] as const);
  const pure = botFiles.filter((file) => ROOMS[roomOf(file) ?? '']?.isPure);
  return {
    'imports that no arrow allows': counted(own.map(([file, of]) => forbiddenArrow(file, of))),
    'imports past a door': counted(own.map(([file, of]) => pastDoor(file, of))),
    'imports of tests past a door': counted(ofTests.map(({ file, of }) => testPastDoor(file, of))),
    'names beyond the width of a door': above(DOOR_WIDTH, new Map(widths)),
    'files below a folder of a room': counted(
      botFiles.map((file) => /^src\/[^/]+\/.+(?=\/)/.exec(file)?.[0] ?? null),
    ),
    'folders in a cycle': folderCycles(own),
    'files in a cycle': Object.fromEntries(importCycles(graph).map((c) => [c.join(' '), c.length])),
    'code lines of a room beyond its budget': above(0, new Map(rooms)),
    'code lines of a file beyond its budget': above(
      FILE_BUDGET,
      new Map(botFiles.map((file) => [file, codeLines(file)])),
    ),
    'libraries outside their room': counted(imports.map(([file, of]) => foreignLibrary(file, of))),
    'clock, randomness, environment or network in a pure room': counted(
      pure.filter((file) => IMPURE.test(code(file))),
    ),
    'exports of everything': counted(botFiles.filter((file) => /^export \*/m.test(code(file)))),
    'imports of the own door': counted(
      own.map(([file, of]) => (of === `src/${roomOf(file)}/index.ts` ? file : null)),
    ),
  };
}

/** Functions and values of the door of an acting room, which exports types as well; else all names. */
function widthOf(file: string): number {
  if (!file.endsWith('/index.ts')) return exportedNames(file).length;
  const listed = code(file).matchAll(/^export \{([^}]*)\}/gm);
  const names = [...listed].flatMap(([, inner = '']) => inner.split(','));
  return names.map((name) => name.trim()).filter((name) => name !== '' && !name.startsWith('type '))
    .length;
}
