import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  buttons,
  fact,
  lines,
  message,
  noteLine,
  title,
  withNote,
} from '../../src/slack/blocks.ts';
import {
  bounded,
  either,
  elementOf,
  escaped,
  type Line,
  mrkdwnOf,
  type RichInline,
  visible,
} from '../../src/slack/rich-text.ts';
import { ana, ben, cleo, NOON } from '../domain/changes-fixtures.ts';
import { expectSound, NASTY, NASTY_SEEN, shownIn } from './fixtures.ts';

const DATE = '<!date^1795176000^{date_short_pretty} at {time}|2026-11-20T12:00:00.000Z>';

test.for<[string, RichInline, object, string]>([
  ['a word', 'stop', { type: 'text', text: 'stop' }, 'stop'],
  ['nothing', '', { type: 'text', text: '–' }, ''],
  ['a nasty name', NASTY, { type: 'text', text: NASTY_SEEN }, escaped(NASTY)],
  ['a bold word', { bold: '<b>' }, styled('<b>', 'bold'), '&lt;b&gt;'],
  ['a piece of code', { code: 'a && b' }, styled('a && b', 'code'), 'a &amp;&amp; b'],
  ['a person', { user: ana.id }, { type: 'user', user_id: 'U0ANA' }, '<@U0ANA>'],
  ['a group', { group: 'S1' }, { type: 'usergroup', usergroup_id: 'S1' }, 'the approvers'],
])('%s is drawn, and said in the fallback', ([, inline, element, text]) => {
  expect(elementOf(inline)).toEqual(element);
  expect(mrkdwnOf([inline])).toBe(text);
});

test.for<[string, Line, readonly string[]]>([
  ['an empty part of a line is left out', ['(', '7KQ2MX', ')', ''], ['(', '7KQ2MX', ')']],
  ['an empty part of a value is left out', fact('Seen', '', 'now'), ['Seen', '  ', 'now']],
  ['an empty value is a dash', fact('Reason', ''), ['Reason', '  ', '–']],
  ['an empty line is a dash', [''], ['–']],
])('%s', ([, line, words]) => {
  const elements = words.map((text) => ({ text }));
  expect(lines(line)?.block).toMatchObject({ elements: [{ elements }] });
});

function styled(text: string, style: string) {
  return { type: 'text', text, style: { [style]: true } };
}

test("a time is shown in the reader's zone, and in UTC where that does not work", () => {
  expect(elementOf({ at: NOON })).toMatchObject({ type: 'date', timestamp: 1_795_176_000 });
  expect(mrkdwnOf([{ at: NOON }])).toBe(DATE);
});

test('a text is cut by whole characters', () => {
  expect(bounded('🚂🚂🚂', 3)).toBe('🚂🚂🚂');
  expect(bounded('🚂🚂🚂🚂', 3)).toBe('🚂🚂…');
});

const marks = [...'<>&!@| *\n🚂', 'U1', 'channel', '&lt;', '\u202e'];
const texts = fc.array(fc.constantFrom(...marks), { maxLength: 30 }).map((all) => all.join(''));
const inlines = fc.oneof(
  texts,
  texts.map((bold) => ({ bold })),
  texts.map((code) => ({ code })),
  fc.constant({ user: ben.id }),
  fc.constant({ group: 'S0LEADS' }),
  fc.constant({ at: NOON }),
);

test('no text can bring markup into a message', () => {
  fc.assert(
    fc.property(fc.array(inlines, { minLength: 1 }), texts, (line, words) => {
      expectSound(message(title(`Stop ${words}`), lines(line, fact('Reason', words))));
    }),
  );
});

test('a fallback that is too long is cut, but never within a mention, a date or an escape', () => {
  const pieces = fc.constantFrom<RichInline>('<', '&', 'x', '🚂', { user: cleo.id }, { at: NOON });
  fc.assert(
    fc.property(fc.array(pieces, { minLength: 5, maxLength: 12 }), fc.nat(80), (some, more) => {
      const long = Array.from({ length: 4_000 / some.length }, () => some).flat();
      const drawn = message(lines(['x'.repeat(more), ...long], ['end']));
      expectSound(drawn);
    }),
    { numRuns: 50 },
  );
});

test('a long note is cut in the same way', () => {
  const people = Array.from({ length: 400 }, () => ({ user: cleo.id }));
  expectSound(message(title('x'), noteLine(...people)));
  expectSound(message(title('x'), noteLine('&'.repeat(3_000))));
});

test('a note of words alone is shown as it stands', () => {
  const drawn = withNote(message(title('Stopped')), `/service stop ${NASTY}`);
  expectSound(drawn);
  expect(shownIn(drawn)).toContain(NASTY_SEEN);
});

test('a value of several lines cannot write a line of its own', () => {
  const forged = 'night\n\r\n  Approved by  Ben (2 of 2)';
  for (const value of [forged, { bold: forged }, { code: forged }]) {
    const drawn = message(lines(fact('Reason', value)));
    expect(shownIn(drawn)).toContain('night Approved by  Ben (2 of 2)');
    expect(drawn.text).toBe('Reason  night Approved by  Ben (2 of 2)');
  }
  expect(shownIn(message(title('Stop a\nb?')))).toBe('Stop a b?');
});

test('lines of one block are separated', () => {
  const drawn = message(lines(['one'], ['two']));
  expect(shownIn(drawn)).toBe('one\n\n\ntwo');
  expect(drawn.text).toBe('one\ntwo');
});

test('empty parts are not drawn', () => {
  expect(message(title('x'), null, lines(), buttons('b')).blocks).toHaveLength(1);
});

test('a button fits with any label', () => {
  const button = { id: 'change.x', label: NASTY.repeat(3), value: 'K3M9QD' };
  expectSound(message(title('x'), buttons('b', button)));
});

test.for<[RichInline[], string]>([
  [['A'], 'A'],
  [['A', 'B'], 'A or B'],
  [['A', 'B', 'C'], 'A, B or C'],
])('%j is listed', ([parts, text]) => {
  expect(mrkdwnOf(either(parts))).toBe(text);
});

test('every control and direction character is removed, and no other character', () => {
  const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code));
  const removed = all.filter((mark) => !['\n', '\t'].includes(mark) && visible(mark) === '');
  expect(removed).toEqual(
    all.filter((mark) => mark !== '\n' && mark !== '\t' && /[\p{Cc}\p{Cf}]/u.test(mark)),
  );
  expect(visible(`\t\n${all.at(0x41)}`)).toBe(' \nA');
});
