import { expect, test } from 'vitest';
import { commands } from '../../src/commands/index.ts';
import { fieldsOf } from '../../src/intent/arguments.ts';
import type { Command } from '../../src/intent/define.ts';
import { nounAndRest, patternsOn } from './lines.ts';
import { DOCUMENTS, found, read } from './pages.ts';

const PAGE = 'docs/commands.md';

/** The longest name wins, for `cost` is a command and `cost csv` another one. */
function commandOf(code: string): Command | undefined {
  const { noun, rest } = nounAndRest(code);
  const fitting = commands.filter(({ name }) => `${noun} ${rest} `.startsWith(`${name} `));
  return fitting.toSorted((a, b) => a.name.length - b.name.length).at(-1);
}

const keysOf = ({ args }: Command) => fieldsOf(args).flatMap(({ word }) => word ?? []);
const keysIn = (code: string) => found(code, /([a-z-]+)=/g);

function strangeIn(code: string): readonly string[] {
  const command = commandOf(code);
  if (!command) return [code];
  const known = keysOf(command);
  return keysIn(code).filter((key) => !known.includes(key));
}

/** The keys that a row keeps back without the dots that say so. */
function missingIn(code: string): readonly string[] {
  const command = commandOf(code);
  if (!command || code.includes('…')) return [];
  const named = keysIn(code);
  return keysOf(command).filter((key) => !named.includes(key));
}

test.for(DOCUMENTS)('the patterns on %s have no key that their command has not', (file) => {
  expect(patternsOn(file).flatMap(strangeIn)).toEqual([]);
});

test('a key too many or too few is noticed', () => {
  expect(strangeIn('/service stop <service> [at= in= for= now=]')).toEqual(['now']);
  expect(strangeIn('/service dance <service>')).toEqual(['/service dance <service>']);
  expect(missingIn('/service stop <service> [at= in=]')).toEqual(['for']);
});

test('the page of the commands has each of them, with all its keys', () => {
  const rows = found(read(PAGE), /^\| `(\/[^`]+)` \|/gm).map((row) => row.replaceAll('\\|', '|'));
  const named = rows.flatMap((row) => commandOf(row)?.name ?? []);
  expect(named.toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
  expect(rows.flatMap(missingIn)).toEqual([]);
});
