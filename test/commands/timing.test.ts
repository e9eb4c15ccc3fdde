import { expect, test } from 'vitest';
import { fieldsOf } from '../../src/commands/arguments.ts';
import { parseLine } from '../../src/commands/parse.ts';
import { commands } from '../../src/commands/registry.ts';
import { isTimingKey } from '../../src/domain/timing.ts';
import { NOON, vocabularyOf } from './fixtures.ts';

function read(line: string) {
  const [noun = '', ...rest] = line.split(' ');
  const clock = { now: NOON, zone: 'Europe/Berlin' };
  return parseLine(noun, rest.join(' '), { ...vocabularyOf(), commands, clock });
}

const at = (day: string | null, offset: string | null = null, time = '20:00') => {
  return { day, time, offset };
};
const AT_EIGHT = at(null);

test.for<[string, object, string | null]>([
  ['service stop staging', { at: null, inMs: null, forMs: null }, null],
  ['service stop staging at=20:00', { at: AT_EIGHT }, null],
  ['service stop staging at=8:05 late', { at: { day: null, time: '08:05', offset: null } }, 'late'],
  ['service stop staging at=2026-11-22T20:00+0100', { at: at('2026-11-22', '+01:00') }, null],
  ['service stop staging at="2026-11-22 20:00"', { at: at('2026-11-22') }, null],
  ['service stop staging in=90m for=4h tidy up', { inMs: 5_400_000, forMs: 14_400_000 }, 'tidy up'],
  ['service stop staging nightly tidying for=2d', { forMs: 172_800_000 }, 'nightly tidying'],
  ['service stop staging tidy at=20:00 for=4h', { forMs: 14_400_000 }, 'tidy'],
  ['service stop staging "tidy at=20:00"', { at: null }, 'tidy at=20:00'],
  ['service stop staging at=8pm', { at: AT_EIGHT }, null],
  ['service stop staging at=12am', { at: { day: null, time: '00:00', offset: null } }, null],
  ['service stop staging at=20:00+02:00', { at: at('2026-11-20', 'Z', '18:00') }, null],
  ['service stop staging for=4hours', { forMs: 14_400_000 }, null],
  ['service stop staging until=20:00 tidy', { until: AT_EIGHT }, 'tidy'],
  ['service scale staging max=64 for=4h', { forMs: 14_400_000 }, null],
])('“%s” says when', ([line, timing, reason]) => {
  const found = read(line);
  expect(found).toMatchObject({ kind: 'intent', timing, reason });
  const args = found.kind === 'intent' ? Object.keys(found.args) : ['nothing'];
  expect(args.filter(isTimingKey)).toEqual([]);
});

test.for([
  ['service schedule staging stop="daily 20:00" zone=berlin', 'zone=Europe/Berlin'],
  ['cost digest add #costs zone="new york" days=wednessday', 'zone=America/New_York days=wed'],
  ['cost digest add #costs days=mon,xyz', undefined],
])('“%s” is offered with zones and days that exist', ([line = '', repaired]) => {
  const found = read(line);
  const [offer] = found.kind === 'misread' ? found.offers : [];
  expect(offer?.label).toBe(repaired);
});

test.for([
  [
    'cost digest add #costs at 7 tidy',
    'Morning or evening?\n/cost digest does not take “tidy”.',
    ['cost digest add "#costs" at=07:00', 'cost digest add "#costs" at=19:00'],
  ],
  [
    'service stop staging at=7 in=2h',
    'Morning or evening?\nat cannot be combined with in=',
    [
      'service stop staging at=07:00',
      'service stop staging in=2h',
      'service stop staging at=19:00',
    ],
  ],
] as const)('“%s” is asked about with buttons', ([line, sentence, lines]) => {
  const found = read(line);
  if (found.kind !== 'misread') throw new Error(found.kind);
  expect(found.sentence).toContain(sentence);
  expect(found.offers.map((offer) => offer.line)).toEqual(lines);
});

test.for<[string, string, readonly string[]]>([
  ['at=25:00', 'at must be a time, for example 20:00', []],
  ['at=2026-02-30T20:00', 'at must be a time', []],
  ['at=13pm', 'at must be a time', []],
  ['for=4', 'for must be from 30m to 14d (for example 4h)', ['for=4h', 'for=4d']],
  ['for=29m', 'for must be from 30m to 14d', []],
  ['for=15d', 'for must be from 30m to 14d', []],
  ['for=-4h', 'for must be from 30m to 14d', []],
  ['in=31d', 'in must be from 1m to 30d', []],
  ['in=0m', 'in must be from 1m to 30d', []],
  ['at=20:00 in=2h', 'at cannot be combined with in=', ['at=20:00', 'in=2h']],
  ['at=tonight', 'no single moment', ['at=20:00', 'at=22:00']],
  ['for=4h until=20:00', 'until cannot be combined with for=', ['for=4h', 'until=20:00']],
  ['att=20:00', 'Did you mean at', ['at=20:00']],
])('“service stop staging %s” is said to be wrong', ([words, sentence, offered]) => {
  const found = read(`service stop staging ${words} tidy up`);
  if (found.kind !== 'misread') throw new Error(JSON.stringify(found));
  expect(found.sentence).toContain(sentence);
  const lines = found.offers.map(({ line }) => line.replaceAll('"', ''));
  for (const one of offered) expect(lines).toContain(`service stop staging ${one} tidy up`);
  if (offered.length === 0) expect(lines).toEqual([]);
});

test('each change says once which hours it takes; queries take none of these', () => {
  const keys = commands
    .filter(({ kind }) => kind === 'change')
    .map(({ name, args }) => {
      const own = fieldsOf(args).flatMap(({ name: key }) => (isTimingKey(key) ? [key] : []));
      return `${name}: ${own.join(' ')}`;
    });
  expect(keys).toEqual(
    expect.arrayContaining([
      'service start: at in for until',
      'service stop: at in for until',
      'service scale: at in for until',
      'alert edit: at in for until',
      'service create: at in',
      'endpoint create: at in',
    ]),
  );
});
