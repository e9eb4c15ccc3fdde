import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { faultsOf, figures, type TypedCase } from '../harness/typed-lines.ts';

const FILE = new URL('typed-lines.yaml', import.meta.url);
const { cases } = parse(readFileSync(FILE, 'utf8')) as { readonly cases: readonly TypedCase[] };

/** The lines that are not right yet. This list may only become shorter. */
const KNOWN: readonly string[] = [];

const wrong = new Set<string>();

test.for(cases)('$id $line', async (typed) => {
  const faults = await faultsOf(typed);
  if (faults.length > 0) wrong.add(typed.id);
  if (KNOWN.includes(typed.id)) expect(faults, 'is right now: shorten the list').not.toEqual([]);
  else expect(faults).toEqual([]);
});

afterAll(() => {
  process.stdout.write(`${figures(cases, ({ id }) => !wrong.has(id))}\n`);
});
