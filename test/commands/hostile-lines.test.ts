import { expect, test } from 'vitest';
import { parseLine } from '../../src/commands/parse.ts';
import { commands, nouns } from '../../src/commands/registry.ts';
import { wordOf } from '../../src/domain/words.ts';
import { bounded, oneLine, visible } from '../../src/slack/rich-text.ts';
import { NOON, service, services, vocabularyOf } from './fixtures.ts';

/** As much as Slack hands on of what somebody typed. */
const LONGEST = 5_000;
/** A pattern that goes back and forth takes minutes or days of processor time for any of these. */
const PATIENCE_MS = 1_000;

const PIECES = [
  'a',
  ' ',
  '"',
  '“',
  '=',
  '-',
  '—',
  '0',
  '1.',
  ':',
  '&lt;',
  '<@U',
  'a=',
  'a= "',
  '\n',
];
const WORDS = [
  'staging ',
  'last ',
  '2026-',
  'stop a ',
  'x=y ',
  'at=20:00 ',
  '20:00 London until 21:00 Tokyo ',
  'analytics ',
  '\u0301',
];
const ENDS = ['!', '"', ' ="', '\u0000'];

const linesWith = (...ends: readonly string[]) =>
  [...PIECES, ...WORDS].flatMap((piece) =>
    ends.map((end) => piece.repeat(LONGEST / piece.length).slice(0, LONGEST - end.length) + end),
  );
const LINES = linesWith(...ENDS);

/** In processor time, which other programs do not lengthen. */
function tookMs(work: () => void): number {
  const began = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(began);
  return (user + system) / 1_000;
}

/** A garbage collection may fall into a measurement, and a loaded machine lengthens it: hardly three times in a row. */
function isSlow(work: () => void): boolean {
  return [1, 2, 3].every(() => tookMs(work) > PATIENCE_MS);
}

const many = Array.from({ length: 500 }, (_, n) => service(`analytics-${n}`));
const clock = { now: NOON, zone: 'Europe/Berlin' };
const few = { ...vocabularyOf(), commands, clock };
const vocabulary = { ...vocabularyOf([...services, ...many]), commands, clock };

test.for(Object.keys(nouns))('no line behind /%s takes longer than a person waits', (noun) => {
  const verbs = commands.flatMap(({ name }) =>
    name.startsWith(noun) ? [name.slice(noun.length)] : [],
  );
  const slowIn = (among: typeof few, lines: readonly string[]) =>
    ['', ...verbs].flatMap((verb) =>
      lines
        .map((line) => `${verb} ${line}`.trimStart())
        .filter((line) => isSlow(() => parseLine(noun, line, among))),
    );
  // The end of a line matters to a pattern, and to no look-up of a name. With many services, lines have no other end.
  const slow = [...slowIn(few, LINES), ...slowIn(vocabulary, linesWith(''))];
  expect(slow.map((line) => line.slice(0, 40))).toEqual([]);
});

test('no text takes longer to be drawn', () => {
  const draw = (text: string) => bounded(oneLine(visible(text)), 3_000);
  expect(LINES.filter((line) => isSlow(() => draw(line)))).toEqual([]);
});

const MEMBERS = Object.getOwnPropertyNames(Object.prototype);

test.for(commands.map(({ name }) => name))(
  '%s: the names of members of every object are words like any other',
  (name) => {
    const [noun = '', ...verb] = name.split(' ');
    for (const member of MEMBERS.flatMap((each) => [each, each.toLowerCase()])) {
      for (const words of [member, `staging ${member}`, `${member}=1`, `state=${member}`]) {
        const text = [...verb, words].join(' ');
        const read = parseLine(noun, text, { ...vocabularyOf(), commands });
        expect(read.kind, text).toMatch(/^\w+$/);
      }
      expect(wordOf(member)).toEqual(expect.any(String));
    }
  },
);
