import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTime, timeWords } from '../../src/base/moments.ts';
import { instantsOf, localDay } from '../../src/base/time.ts';

const BERLIN = { now: new Date('2026-11-27T15:00:00Z'), zone: 'Europe/Berlin' };

/** What a phrase means, in one line: `at 20:00`, or `ask at 08:00, at 20:00`; null: no time. */
function meaning(text: string, clock = BERLIN): string | null {
  const read = readTime(text, clock);
  if (read === null || read.kind === 'now') return read && 'now';
  if (read.kind === 'taken') return `${read.key} ${read.text}`;
  return `ask ${read.options.map(({ key, text: value }) => `${key} ${value}`).join(', ')}`;
}

const TO_THE_MINUTE = { hour: '2-digit', minute: '2-digit' } as const;

test.for<[string, string]>([
  ['at 20h', 'at 20:00'],
  ['until 4h', 'for 4h'],
  ['20 Uhr', 'at 20:00'],
  ['8:30pm', 'at 20:30'],
  ['12am', 'at 00:00'],
  ['tomorrow morning at 7', 'at 2026-11-28T07:00'],
  ['tomorrow 7:30 in the morning', 'at 2026-11-28T07:30'],
  ['this evening at 8', 'at 2026-11-27T20:00'],
  ['noon', 'at 12:00'],
  ['asap', 'now'],
  ['in half an hour', 'in 30m'],
  ['in an hour and a half', 'in 90m'],
  ['for 2 weeks', 'for 14d'],
  ['until 9:00', 'until 2026-11-28T09:00'],
  ['2 December 8:00', 'at 2026-12-02T08:00'],
  ['24.12. 20:00', 'at 2026-12-24T20:00'],
  ['20:00 Tokyo time', 'at 2026-11-28T11:00Z'],
  ['20:00-05:00', 'at 2026-11-28T01:00Z'],
  ['12/25 18:00', 'at 2026-12-25T18:00'],
])('“%s” is taken', ([text, wanted]) => {
  expect(meaning(text)).toBe(wanted);
});

test.for<[string, string]>([
  ['at 8', 'ask at 08:00, at 20:00'],
  ['4h', 'ask in 4h, for 4h'],
  ['20h', 'ask in 20h, for 20h, at 20:00'],
  ['friday 18:00', 'ask at 2026-11-27T18:00, at 2026-12-04T18:00'],
  ['1/12 20:00', 'ask at 2026-12-01T20:00, at 2027-01-12T20:00'],
  ['tomorrow', 'ask at 2026-11-28T08:00, at 2026-11-28T20:00'],
  ['EOD', 'ask at 18:00'],
  ['today 9:00', 'ask at 2026-11-28T09:00'],
  ['before 18:00', 'ask at 18:00'],
])('“%s” is asked about', ([text, wanted]) => {
  expect(meaning(text)).toBe(wanted);
});

test.for([
  ...['for the night', 'month end', 'nightly', '25:00', '13pm', '30.2. 20:00', 'may', '9'],
  ...['ticket 20', 'saves 20 a day', '10/12 shards', 'sat in review', 'up to date', 'on call'],
  'in the cluster',
])('“%s” is no time', (text) => {
  expect(meaning(text)).toBeNull();
});

test('a time that the clocks skip is asked about, and one that has passed as well', () => {
  const spring = { now: new Date('2026-03-28T12:00:00Z'), zone: 'Europe/Berlin' };
  expect(meaning('tomorrow 2:30', spring)).toBe('ask at 2026-03-29T03:30');
});

const ZONES = ['Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe', 'UTC'];
const clocks = fc.record({
  now: fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true }),
  zone: fc.constantFrom(...ZONES),
});
const times = fc
  .tuple(fc.integer({ min: 0, max: 23 }), fc.integer({ min: 0, max: 59 }))
  .map((pair) => pair.map((each) => String(each).padStart(2, '0')).join(':'));

test('tomorrow at a time is that wall clock on the next local day, in every zone and season', () => {
  fc.assert(
    fc.property(clocks, times, (clock, time) => {
      const [, day = '', at = ''] =
        /^at (.+)T(.+)$/.exec(meaning(`tomorrow ${time}`, clock) ?? '') ?? [];
      const tomorrow = localDay(new Date(clock.now.getTime() + 26 * 3_600_000), clock.zone);
      if (day === '') return;
      expect(at).toBe(time);
      const [instant] = instantsOf(day, at, clock.zone);
      const shown = { ...TO_THE_MINUTE, timeZone: clock.zone };
      expect(instant?.toLocaleTimeString('en-GB', shown)).toBe(time);
      expect(day <= tomorrow && day > localDay(clock.now, clock.zone)).toBe(true);
    }),
  );
});

test('no phrase is ever taken as a moment that has passed', () => {
  const words = fc.constantFrom(
    ...['at', 'on', 'until', 'in', 'for', 'today', 'tonight', 'tomorrow', 'friday', 'next', 'noon'],
    ...['8', '20:00', '8pm', '4h', '2', 'hours', '1/12', '2 Dec', 'UTC', 'morning', 'now', 'half'],
  );
  fc.assert(
    fc.property(clocks, fc.array(words, { minLength: 1, maxLength: 5 }), (clock, phrase) => {
      const [, text = ''] =
        /^(?:at|until) (\d{4}-.+)$/.exec(meaning(phrase.join(' '), clock) ?? '') ?? [];
      if (text === '') return;
      const [day = '', time = ''] = text.split('T');
      const at = time.endsWith('Z') ? new Date(text) : instantsOf(day, time, clock.zone)[0];
      expect(at && at > clock.now).toBe(true);
    }),
  );
});

test.for<[string, string | null]>([
  ['needed until 20:00', 'until 20:00'],
  ['rebuild tomorrow', 'tomorrow'],
  ['done by friday', 'by friday'],
  ['back in two hours', 'in two hours'],
  ['until end of month', 'until end of month'],
  ['till the release is out', 'till the release is out'],
  ['by end of week', 'end of week'],
  ['on 31 feb', 'on 31 feb'],
  ['31.2.', '31.2.'],
  ['on 2026-13-01', 'on 2026-13-01'],
  ['on the 1st', 'on the 1st'],
  ['at half nine', 'at half nine'],
  ['at 20.00', 'at 20.00'],
  ['at 20h00', 'at 20h00'],
  ['at 2000', 'at 2000'],
  ['in five', 'in five'],
  ['for a while', 'for a while'],
  ['for 90 seconds', 'for 90 seconds'],
  ['for two months', 'for two months'],
  ['every night', 'every night'],
  ['every other friday', 'every other friday'],
  ['daily', 'daily'],
  ['overnight', 'overnight'],
  ['during the night', 'during the night'],
  ['after lunch', 'after lunch'],
  ['for the night', null],
  ['month end', null],
  ['every query fails', null],
  ['weekly cleanup', null],
  ['overnight import is slow', null],
  ['needs 12 marketing seats', null],
  ['decommission in may', null],
  ['sun java upgrade', null],
  ['monday deploy', null],
  ['5m rows', null],
])('the words of “%s” that could be a time: %s', ([text, found]) => {
  expect(timeWords(text)).toBe(found);
});
