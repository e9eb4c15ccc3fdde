import { expect, test } from 'vitest';
import { countWords, utcStamp } from '../../src/domain/answer.ts';
import { staleText } from '../../src/domain/words.ts';

test('a count agrees with its noun and with the words that follow', () => {
  const older = (count: number) => countWords(count, 'older one follows', 'older ones follow');
  expect([0, 1, 2].map((count) => countWords(count, 'event'))).toEqual([
    '0 events',
    '1 event',
    '2 events',
  ]);
  expect([1, 2].map(older)).toEqual(['1 older one follows', '2 older ones follow']);
});

test('a time stamp is in UTC, to the minute', () => {
  expect(utcStamp(new Date('2026-11-20T09:30:59.999Z'))).toBe('2026-11-20 09:30 UTC');
});

test.for<[string | null, string]>([
  ['target-changed', 'the target changed since the preview'],
  ['tags-changed', 'other tags or another warehouse than in the preview'],
  ['not-verified', 'its service could not be verified'],
  ['restored', 'the database was restored'],
  ['card-deleted', 'its card was deleted'],
  ['no-rule', 'the current policy refuses it'],
])('a change that was not run for %s says just that', ([why, text]) => {
  expect(staleText(why)).toBe(text);
});
