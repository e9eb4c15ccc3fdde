import { expect, test } from 'vitest';
import { helpFor, usage, usageHint } from '../../src/intent/help.ts';
import { nearest } from '../../src/intent/parse/nearest.ts';
import { commands, serviceTune } from './fixtures.ts';

function tables(parts: ReturnType<typeof helpFor>['parts']) {
  return parts.flatMap((part) =>
    part.kind === 'table' ? [[part.columns[0], ...part.rows.map(([line]) => line)]] : [],
  );
}

test('help shows first what the reader may use, and says whose the rest is', () => {
  const reads = helpFor('service', commands, ({ kind }) => kind === 'query');
  expect(reads.title).toBe('/service');
  expect(tables(reads.parts)).toEqual([
    ['You can use', '/service list', '/service show <service> [<details>]'],
    [
      'You do not have the role for',
      '/service start <service> [at=] [in=] [for=] [reason]',
      '/service stop <service> [at=] [in=] [for=] [reason]',
      '/service tune <service> [min=] [idle-timeout=] [message=] [reason]',
    ],
  ]);
});

test.for<[string, boolean, string]>([
  ['may use everything', true, 'You can use'],
  ['may use nothing', false, 'You do not have the role for'],
])('help for a user who %s has one table', ([, may, title]) => {
  expect(tables(helpFor(null, commands, () => may).parts).map(([heading]) => heading)).toEqual([
    title,
  ]);
});

test('the words of help are those that Slack shows while people type', () => {
  expect(usageHint(commands, 'service')).toBe('list | show | start | stop | tune | help');
  expect(usage(serviceTune)).toContain('/service tune <service>');
});

test.for<[string, string[]]>([
  ['stag', ['staging', 'stop']],
  ['STAGIN', ['staging']],
  ['prod', ['prod-a', 'prod-b', 'prod-c']],
  ['b-prod', ['b-product']],
  ['sta', ['staging', 'stop']],
  ['quite-another-thing', []],
])('nearest to “%s”', ([typed, found]) => {
  const known = ['staging', 'stop', 'prod-d', 'prod-c', 'prod-b', 'prod-a', 'b-product', 'stop'];
  expect(nearest(typed, known)).toEqual(found);
});
