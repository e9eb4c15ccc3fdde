import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commands } from '../src/commands/index.ts';
import { MAY } from './rooms.ts';

interface Use {
  readonly file: string;
  readonly of: string;
  readonly typeOnly: boolean;
}

/** The wire's own rules are pure: a command states them once by using them. */
const WIRE = /^src\/(cloud|alerts)\/(schema|rules|choices|replies|update|carried)\.ts$/;
const JOINERS = ['app', 'bot', 'main', 'manifest', 'reach'];
const KEPT: readonly (readonly [RegExp, string])[] = [
  [/^@slack\//, 'slack'],
  [/^undici$/, 'http'],
  [/^(kysely|pg|node:sqlite)$/, 'storage'],
  [/^@opentelemetry\//, 'trace'],
];
const PURE = ['changes', 'policy', 'costs', 'intent', 'directory'];
const IMPURE =
  /new Date\(\)|Date\.now|Math\.random|\bprocess\.|\bperformance\.|\brandom(Bytes|UUID|Int)\b/;

const files = globSync('{src,sandbox}/**/*.{ts,tsx}').filter(
  (file) => !/node_modules|\/dist\//.test(file),
);

function roomOf(file: string): string {
  if (file.startsWith('sandbox/')) return 'sandbox';
  return file.split('/')[1]?.replace(/\.tsx?$/, '') ?? '';
}

function code(file: string): string {
  return readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

const IMPORT =
  /^(?:import|export)(?<type> type)?\s[\w\s{},*]*\bfrom '(?<of>[^']+)'|\bimport(?:\(| )'(?<bare>[^']+)'/gm;

function usesOf(file: string): readonly Use[] {
  return [...code(file).matchAll(IMPORT)].map(({ groups = {} }) => {
    const of = groups.of ?? groups.bare ?? '';
    const typeOnly = groups.type !== undefined;
    return { file, of: of.startsWith('.') ? join(file, '..', of) : of, typeOnly };
  });
}

function isForbidden({ file, of, typeOnly }: Use): boolean {
  const [from, to] = [roomOf(file), roomOf(of)];
  if (!/^(src|sandbox)\//.test(of))
    return KEPT.some(([what, room]) => what.test(of) && room !== from);
  if (from === to) return false;
  if (JOINERS.includes(from)) return to === 'sandbox';
  if (['intent', 'commands'].includes(from) && WIRE.test(of)) return false;
  const may = MAY[from] ?? [];
  return !may.includes(to) && !(typeOnly && may.includes(`type ${to}`));
}

test('every room uses only what it may', () => {
  const said = ({ file, of }: Use) => `${file} uses ${of}`;
  expect(files.flatMap(usesOf).filter(isForbidden).map(said)).toEqual([]);
});

test.for<[string, string, boolean]>([
  ['src/changes/lifecycle.ts', 'src/storage/tables/changes/changes.ts', true],
  ['src/commands/service-stop.ts', 'src/changes/plan-digest.ts', false],
  ['src/commands/service-stop.ts', 'src/commands-of-old/x.ts', false],
  ['src/slack/inbound/typed-command.ts', 'src/commands/index.ts', false],
  ['src/workflow/execute/send.ts', 'src/slack/cards/card.ts', true],
  ['src/app.ts', 'sandbox/start.ts', false],
  ['sandbox/start.ts', 'src/config/load-config.ts', false],
  ['src/workflow/execute/send.ts', '@slack/web-api', true],
  ['src/cloud/client.ts', 'undici', false],
  ['src/workflow/load-change.ts', 'kysely', true],
])('it is noticed when %s uses %s', ([file, of, typeOnly]) => {
  expect(isForbidden({ file, of, typeOnly })).toBe(true);
});

test('every room has a line that says what it may use', () => {
  const known = [...Object.keys(MAY), ...JOINERS];
  expect(files.map(roomOf).filter((room) => !known.includes(room))).toEqual([]);
});

test('no import is overlooked, and one of types is told from one of values', () => {
  const written = files.map(
    (file) => code(file).match(/\bfrom '|^import '|\bimport\('/gm)?.length ?? 0,
  );
  expect(files.map((file) => usesOf(file).length)).toEqual(written);

  const file = 'src/slack/cards/card.ts';
  const uses = usesOf(file);
  expect(uses).toContainEqual({ file, of: 'src/changes/change.ts', typeOnly: true });
  expect(uses).toContainEqual({ file, of: 'src/slack/blocks/blocks.ts', typeOnly: false });
});

test('the pure rooms know no clock, no chance and no environment', () => {
  const pure = files.filter((file) => PURE.includes(roomOf(file)));
  expect(pure.filter((file) => IMPURE.test(code(file)))).toEqual([]);
});

test('only the entry points read the environment', () => {
  const bot = files.filter((file) => roomOf(file) !== 'sandbox');
  expect(bot.filter((file) => code(file).includes('process.env'))).toEqual([
    'src/cli/audit.ts',
    'src/cli/doctor.ts',
    'src/main.ts',
  ]);
});

test('each file of a command is in the list', () => {
  const named = commands.map(({ name }) => `src/commands/${name.replaceAll(' ', '-')}.ts`);
  const own = globSync('src/commands/*.ts').filter((file) => !file.endsWith('/index.ts'));
  expect(own.sort()).toEqual(named.sort());
});
