import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commandOf, completions } from '../../../sandbox/page/channel/commands.ts';
import { groupMessages, inChannel, repliesTo } from '../../../sandbox/page/channel/groups.ts';
import { slackDate } from '../../../sandbox/page/text/slack-date.ts';
import type { Message } from '../../../sandbox/protocol.ts';

const NOON = new Date('2026-11-20T12:00:00Z');
const BERLIN = { now: NOON, timeZone: 'Europe/Berlin' };
const minutes = (count: number) => String(NOON.getTime() / 1000 + count * 60);

function message(ts: string, more: Partial<Message> = {}): Message {
  return {
    ...{ channel: 'C1', ts, threadTs: null, author: 'U1', authorName: 'Ana', byBot: false },
    ...{ text: '', blocks: [], ephemeral: false, files: [] },
    ...more,
  };
}

test('messages of one author within five minutes show the author once', () => {
  const shown = groupMessages(
    [
      message(minutes(0)),
      message(minutes(1)),
      message(minutes(7)),
      message(minutes(8), { author: 'U2' }),
      message(minutes(9), { author: 'U2', ephemeral: true }),
    ],
    BERLIN,
  );
  expect(shown.map(({ first }) => first)).toEqual([true, false, true, true, true]);
});

test('the first message of a day has a divider with the day', () => {
  const shown = groupMessages(
    [message(minutes(-24 * 60)), message(minutes(0)), message(minutes(1))],
    BERLIN,
  );
  expect(shown.map(({ day }) => day)).toEqual(['Yesterday', 'Today', null]);
});

test('replies are in the thread and not in the channel', () => {
  const parent = message('1', { threadTs: '1' });
  const reply = message('2', { threadTs: '1' });
  expect(inChannel([parent, reply], 'C1')).toEqual([parent]);
  expect(repliesTo([parent, reply], parent)).toEqual([reply]);
});

const COMMANDS = ['/service', '/signalbox', '/cost'].map((command) => ({
  ...{ command, description: '', usageHint: '' },
}));

test('commands are completed only while the first word is typed', () => {
  const names = (text: string) => completions(text, COMMANDS).map(({ command }) => command);
  expect(names('/')).toHaveLength(3);
  expect(names('/S')).toEqual(['/service', '/signalbox']);
  expect(names('/service stop')).toEqual([]);
  expect(names('no /service')).toEqual([]);
  expect(commandOf('/service stop x', COMMANDS)?.command).toBe('/service');
});

test.for<[format: string, expected: string]>([
  ['{date_num}', '2026-11-19'],
  ['{date_short}', 'Nov 19, 2026'],
  ['{date_short_pretty}', 'yesterday'],
  ['{date_long}', 'Thursday, November 19, 2026'],
  ['on {date_short} {unknown}', 'on Nov 19, 2026 {unknown}'],
])('yesterday in the format %s', ([format, expected]) => {
  expect(slackDate(new Date('2026-11-19T12:00:00Z'), format, BERLIN)).toBe(expected);
});

test('every date token in the messages of Signalbox is replaced', () => {
  const texts = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const tokens = new Set(texts.join('\n').match(/\{(?:date_\w+|time(?:_\w+)?|ago)\}/g));
  expect(tokens.size).toBeGreaterThan(1);
  for (const token of tokens) expect(slackDate(NOON, token, BERLIN)).not.toBe(token);
});

test.for<[zone: string, expected: string]>([
  ['Europe/Berlin', 'tomorrow at 12:30'],
  ['America/New_York', 'today at 6:30'],
])('a date is shown in the time zone of the reader: %s', ([timeZone, expected]) => {
  const at = new Date('2026-11-20T23:30:00Z');
  const shown = slackDate(at, '{date_short_pretty} at {time}', { now: NOON, timeZone });
  // A browser with 24 hours writes 00:30 and 18:30.
  expect([expected, expected.replace('12:30', '00:30').replace('6:30', '18:30')]).toContain(
    shown.replace(/ [AP]M$/, ''),
  );
});
