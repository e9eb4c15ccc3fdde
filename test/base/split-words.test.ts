import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plainText, splitWords } from '../../src/base/text.ts';

test.for<[string, string, string[]]>([
  ['words', 'stop analytics-prod now', ['stop', 'analytics-prod', 'now']],
  ['many spaces and tabs', '  stop \t analytics-prod ', ['stop', 'analytics-prod']],
  ['quotes', 'stop "analytics eu" now', ['stop', 'analytics eu', 'now']],
  ['a quote that is never closed', 'stop staging "all night', ['stop', 'staging', 'all night']],
  ['an empty quote', 'stop "" staging', ['stop', 'staging']],
  ['smart quotes', 'stop “analytics eu” now', ['stop', 'analytics eu', 'now']],
  ['German quotes', 'stop „analytics eu“', ['stop', 'analytics eu']],
  ['French quotes', 'stop «analytics eu»', ['stop', 'analytics eu']],
  ['a curly apostrophe', 'it’s late', ["it's", 'late']],
  ['long dashes', 'stop analytics–prod — now', ['stop', 'analytics-prod', '-', 'now']],
  ['hard spaces', 'stop\u00a0analytics-prod\u202fnow', ['stop', 'analytics-prod', 'now']],
  ['a zero-width space', 'stop ana\u200blytics-prod', ['stop', 'analytics-prod']],
  ['a soft hyphen', 'stop analytics-\u00adprod', ['stop', 'analytics-prod']],
  ['marks of direction', 'stop \u202estaging\u202c \u061cnow', ['stop', 'staging', 'now']],
  ['nothing that can be seen', '\u200b \ufeff', []],
  ['markup as Slack escapes it', 'load &lt; 5 &amp; &gt; 1', ['load', '<', '5', '&', '>', '1']],
  ['an escaped escape', 'about &amp;lt;', ['about', '&lt;']],
  ['a key with a quoted value', 'message="all is well" now', ['message=all is well', 'now']],
  ['a key with a smart quote', 'message=“all is well”', ['message=all is well']],
  ['a key whose quote stays open', 'message="all is', ['message=all is']],
  ['inches', 'a 5" disk', ['a', '5"', 'disk']],
])('a person types %s', ([, typed, words]) => {
  expect(splitWords(typed).map(({ text }) => text)).toEqual(words);
});

test('a quoted word is distinguished from others, a quoted value is not', () => {
  expect(splitWords('stop "a b" message="c d"')).toEqual([
    { text: 'stop', quoted: false },
    { text: 'a b', quoted: true },
    { text: 'message=c d', quoted: false },
  ]);
});

const PIECES = [
  ...['a', ' ', '"', '=', '“', '–', '\u200b', '\u202e', '\u00ad', '\u00a0', '\n', '&lt;', '&amp;'],
];
const lines = fc.array(fc.constantFrom(...PIECES)).map((pieces) => pieces.join(''));

test('whatever is typed, words hold nothing invisible and are never empty', () => {
  fc.assert(
    fc.property(lines, (typed) => {
      const texts = splitWords(typed).map(({ text }) => text);
      expect(texts.filter((text) => text.trim() === '' || /\p{Cf}/u.test(text))).toEqual([]);
    }),
  );
});

test('plain words are left as they are', () => {
  const plain = fc.stringMatching(/^[a-z0-9 =._-]{0,40}$/);
  fc.assert(fc.property(plain, (text) => plainText(text) === text));
});
