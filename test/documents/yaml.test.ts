import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { cloudKeys } from '../../sandbox/seed/organization.ts';
import { EXAMPLE, said } from '../ops/fixtures.ts';
import { DOCUMENTS, fencesOn, readPage } from './pages.ts';

const EXAMPLES = DOCUMENTS.flatMap((file) =>
  fencesOn(readPage(file))
    .filter(({ language }) => language === 'yaml')
    .map(({ text }) => ({ file, text, begins: text.split('\n')[0] })),
);

/** A complete file as it is; a part replaces the same part of the example file. */
function whole(text: string): string {
  const part = parse(text);
  const { roles, policy } = parse(EXAMPLE);
  // The other parts of the example name its services.
  if ('organizations' in part) return stringify({ roles, policy: policy.slice(0, 1), ...part });
  return 'organization' in part ? text : stringify({ ...parse(EXAMPLE), ...part });
}

test.for(EXAMPLES)('Signalbox starts with the example of $file: $begins', ({ text }) => {
  // With an agent by: slack, the variable is required.
  const env = { ...cloudKeys(2), SLACK_SIGNING_SECRET: 'x'.repeat(32) };
  expect(said(env, whole(text))).toEqual([]);
});

test('the README and the policy page have examples', () => {
  const files = EXAMPLES.map(({ file }) => file);
  expect(files).toEqual(expect.arrayContaining(['README.md', 'docs/policy.md']));
});

test('an example with an unknown key is found', () => {
  expect(said({}, whole("roles:\n  viewer: { grups: ['@engineering'] }\n"))).not.toEqual([]);
});
