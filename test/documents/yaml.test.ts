import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { EXAMPLE, said } from '../config/fixtures.ts';
import { DOCUMENTS, fencesOn, read } from './pages.ts';

const EXAMPLES = DOCUMENTS.flatMap((file) =>
  fencesOn(read(file))
    .filter(({ language }) => language === 'yaml')
    .map(({ text }) => ({ file, text, begins: text.split('\n')[0] })),
);

/** A whole file as it stands; a part of one in the place of the same part of the example. */
function whole(text: string): string {
  const part = parse(text);
  return 'organization' in part ? text : stringify({ ...parse(EXAMPLE), ...part });
}

test.for(EXAMPLES)('Signalbox would start with what $file shows: $begins', ({ text }) => {
  expect(said({}, whole(text))).toEqual([]);
});

test('the README has a whole file, and the page of the policy has parts', () => {
  const files = EXAMPLES.map(({ file }) => file);
  expect(files).toEqual(expect.arrayContaining(['README.md', 'docs/policy.md']));
});

test('an example with a key that nobody knows is noticed', () => {
  expect(said({}, whole("roles:\n  viewer: { grups: ['@engineering'] }\n"))).not.toEqual([]);
});
