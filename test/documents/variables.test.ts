import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { TRACING_NAMES } from '../../src/config/tracing.ts';
import { FROM_FILES, NAMES, Variables } from '../../src/config/variables.ts';
import { Secret } from '../../src/errors.ts';
import { DOCUMENTS, found, read } from './pages.ts';

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
