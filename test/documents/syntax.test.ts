import { expect, test } from 'vitest';
import { type Command, commands, fieldsOf } from '../../src/commands/index.ts';
import { nounAndRest, syntaxOn } from './command-lines.ts';
import { DOCUMENTS, groupsOf, readPage } from './pages.ts';

const PAGE = 'docs/commands.md';

/** The longest matching name: `cost` and `cost csv` are two commands. */
function commandOf(code: string): Command | undefined {
  const { noun, rest } = nounAndRest(code);
  const fitting = commands.filter(({ name }) => `${noun} ${rest} `.startsWith(`${name} `));
  return fitting.toSorted((a, b) => a.name.length - b.name.length).at(-1);
}

const keysOf = ({ args }: Command) => fieldsOf(args).flatMap(({ word }) => word ?? []);
const keysIn = (code: string) => groupsOf(code, /([a-z-]+)=/g);

function unknownKeysIn(code: string): readonly string[] {
  const command = commandOf(code);
  if (!command) return [code];
  const known = fieldsOf(command.args).flatMap(({ word, key }) => word ?? key ?? []);
  return keysIn(code).filter((key) => !known.includes(key));
}

/** The keys of a command that its row leaves out. Rows with `…` may leave out keys. */
function missingKeysIn(code: string): readonly string[] {
  const command = commandOf(code);
  if (!command || code.includes('…')) return [];
  const named = keysIn(code);
  return keysOf(command).filter((key) => !named.includes(key));
}

test.for(DOCUMENTS)('the syntax on %s has only keys of its command', (file) => {
  expect(syntaxOn(file).flatMap(unknownKeysIn)).toEqual([]);
});

test('an unknown or missing key is found', () => {
  expect(unknownKeysIn('/service stop <service> [at= in= for= now=]')).toEqual(['now']);
  expect(unknownKeysIn('/service dance <service>')).toEqual(['/service dance <service>']);
  expect(missingKeysIn('/service stop <service> [at= in=]')).toEqual(['for', 'until']);
});

test('the commands page lists every command with all its keys', () => {
  const rows = groupsOf(readPage(PAGE), /^\| `(\/[^`]+)` \|/gm).map((row) =>
    row.replaceAll('\\|', '|'),
  );
  const named = rows.flatMap((row) => commandOf(row)?.name ?? []);
  expect(named.toSorted()).toEqual(commands.map(({ name }) => name).toSorted());
  expect(rows.flatMap(missingKeysIn)).toEqual([]);
});
