import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { Secret } from '../../src/base/errors.ts';
import { FROM_FILES, VARIABLE_NAMES, Variables } from '../../src/ops/index.ts';
import { DOCUMENTS, groupsOf, readPage } from './pages.ts';

/** OpenTelemetry's SDK reads its own variables. */
const OF_THE_SDK = /^OTEL_/;
/** Node and the HTTP client read these. */
const PROXIES = /^(HTTPS?|NO)_PROXY$/;
const VARIABLE = /(?<![\w-])([A-Z]+(?:_[A-Z\d]+)+)(?![\w])/g;

// The README of a room names constants of its code, and the page of fields values of the APIs.
const PAGES = DOCUMENTS.filter(
  (file) => !file.startsWith('src/') && !file.startsWith('docs/fields'),
);

test.for(PAGES)('the program reads the variables that %s names', (file) => {
  const readers = ['vitest.config.ts', ...globSync(['test/**/*.ts', 'bench/**/*.ts'])];
  const ofTests = readers.flatMap((reader) =>
    groupsOf(readPage(reader), /process\.env\.([A-Z_]+)/g),
  );
  const ofPrograms = groupsOf(readPage('bin/signalbox-request.mjs'), /\benv\.([A-Z_]+)/g);
  const ofScripts = groupsOf(JSON.stringify(packageJson.scripts), /([A-Z_]+)=/g);
  const files = FROM_FILES.map((name) => `${name}_FILE`);
  const known = [...VARIABLE_NAMES, ...files, ...ofPrograms, ...ofScripts, ...ofTests];
  expect(
    groupsOf(readPage(file), VARIABLE).filter(
      (name) => !known.includes(name) && !OF_THE_SDK.test(name) && !PROXIES.test(name),
    ),
  ).toEqual([]);
});

/** The last cell of a variable in the table: `required`, the default, or a dash. */
function whenAbsent(schema: (typeof Variables.shape)[keyof typeof Variables.shape]): string {
  const result = schema.safeParse(undefined);
  if (!result.success) return 'required';
  const { data } = result;
  if (data === undefined) return '–';
  return String(data instanceof Secret ? data.reveal() : data) || 'empty';
}

test('the table of variables is complete and has the defaults of the code', () => {
  const rows = [...readPage('docs/operating.md').matchAll(/^\| `([A-Z_]+)` \|.*\| ([^|]+) \|$/gm)];
  const documented = rows.map(([, name, absent]) => [name, absent?.replaceAll('`', '')]);
  const expected = Object.entries(Variables.shape).map(([name, schema]) => [
    name,
    whenAbsent(schema),
  ]);
  expect(documented).toEqual(expected);
});
