import { expect, test } from 'vitest';
import { microOf } from '../../src/costs/ledger/row.ts';
import { composeDigest } from '../../src/digests/compose.ts';
import type { DigestFacts } from '../../src/digests/facts.ts';
import { written } from '../cost-reports/written.ts';
import { row } from '../costs/rows.ts';
import { factsFor, nineWeeks, reading } from './facts.ts';

const messageOf = (over: Partial<DigestFacts> = {}) =>
  written(composeDigest(factsFor(over)).message);

test('an ordinary morning', () => {
  expect(messageOf()).toMatchInlineSnapshot(`
    "Cost · Tue 17 Nov (UTC) · 142.0 credits
    −1% vs Tue 10 Nov (143.3) · +17% vs 7-day average (121.8) · within the usual range 109–181
    Month to date: 2,350.9 credits so far · 1–17 Nov: 2,059.1, ±0% vs 1–17 Oct (2,060.4)
    Forecast: November 2026 about 3,625 (3,593–3,656, about 80% sure) if usage does not change
    Not final: 18–19 Nov: 291.8 credits so far
    chart of 14, the last 19*
    Fetched 2026-11-20 08:00 UTC · next digest 2026-11-23 08:30 UTC"
  `);
});

test('its thread has each service and what the warehouse keeps', () => {
  const { thread } = composeDigest(factsFor());
  expect(thread && written(thread)).toMatchInlineSnapshot(`
    "Cost by service · Tue 17 Nov (UTC)
    Service | Tue 17 Nov | Tue 10 Nov | 7 days | Month | Share of month
    analytics-prod | 100.0 | 101.0 | 590.0 | 1,427.0 | 69%
    staging | 30.0 | 30.3 | 177.0 | 428.1 | 21%
    warehouse main: storage + backup | 12.0 | 12.0 | 84.0 | 204.0 | 10%
    offers
    142.0 credits on Tue 17 Nov"
  `);
});

const spiked = nineWeeks().map((one) =>
  one.day === '2026-11-17' && one.entityId === 's-1'
    ? row({ day: one.day, credits: 320, metrics: { computeCredits: microOf(320) } })
    : one,
);

test('a rise shows the movers, the anomalies and the changes of these days', () => {
  const changes = [
    { day: '2026-11-16', text: 'Scale analytics-prod (7KQ2MX)' },
    { day: '2026-11-02', text: 'Stop staging (K3M9QD)' },
  ];
  const attention = {
    anomalies: [{ text: 'analytics-prod · compute 320.0, expected 101.0', buttons: null }],
    budgets: ['production █████░░░ 59%'],
  };
  const posted = [{ day: '2026-11-13', total: microOf(90) }];
  expect(messageOf({ ...reading(spiked), changes, attention, posted })).toMatchInlineSnapshot(`
    "Cost · Tue 17 Nov (UTC) · 362.0 credits
    +153% vs Tue 10 Nov (143.3) · +197% vs 7-day average (121.8) · above the usual range 109–181
    Month to date: 2,570.9 credits so far · 1–17 Nov: 2,279.1, +11% vs 1–17 Oct (2,060.4)
    Forecast: November 2026 about 3,850 (3,818–3,881, about 80% sure) if usage does not change
    Not final: 18–19 Nov: 291.8 credits so far
    Budget: production █████░░░ 59%
    Top movers vs Tue 10 Nov:
    • analytics-prod · compute +219.0 (×3.2)

    Changes of these days:
    • Scale analytics-prod (7KQ2MX), Mon 16 Nov

    Revised:
    • Fri 13 Nov: 90.0 → 144.6 (+61%)
    Unusual:
    • analytics-prod · compute 320.0, expected 101.0
    chart of 14, the last 19*
    Fetched 2026-11-20 08:00 UTC · next digest 2026-11-23 08:30 UTC"
  `);
});

test('a digest on Monday lists each day of the weekend', () => {
  const today = '2026-11-23';
  const covers = { first: '2026-11-20', last: '2026-11-22' };
  const text = messageOf({ ...reading(nineWeeks(today)), today, covers });
  expect(text).toMatchInlineSnapshot(`
    "Cost · 20–22 Nov (UTC) · 273.1 credits so far
    Fri 20 Nov: 142.0 · −1% vs Fri 13 Nov (143.3) · +16% vs 7-day average (122.0) · within the usual range 108–181
    Sat 21 Nov: 65.0 so far, not final
    Sun 22 Nov: 66.1 so far, not final · already +2.1 vs Sun 15 Nov (64.0)
    Month to date: 2,625.3 credits so far · 1–20 Nov: 2,494.2, +3% vs 1–20 Oct (2,413.1)
    Forecast: November 2026 about 3,623 (3,601–3,646, about 80% sure) if usage does not change
    Not final: 21–22 Nov: 131.1 credits so far
    chart of 14, the last 22*
    Fetched 2026-11-20 08:00 UTC · next digest 2026-11-23 08:30 UTC"
  `);
});

test('a channel of one service sees nothing of the others', () => {
  const selector = { services: ['s-2'] };
  const text = messageOf({ selector, scope: 'staging' });
  expect(text).toMatchInlineSnapshot(`
    "Cost of staging · Tue 17 Nov (UTC) · 30.0 credits
    −1% vs Tue 10 Nov (30.3) · +18% vs 7-day average (25.3) · within the usual range 23–38
    Month to date: 489.9 credits so far · 1–17 Nov: 428.1, ±0% vs 1–17 Oct (428.4)
    Forecast: November 2026 about 753 (747–760, about 80% sure) if usage does not change
    Not final: 18–19 Nov: 61.8 credits so far
    chart of 14, the last 19*
    Fetched 2026-11-20 08:00 UTC · storage and backups are billed to warehouses and not included · next digest 2026-11-23 08:30 UTC"
  `);
  expect(text).not.toContain('analytics-prod');
});

test('where nothing is final yet, nothing is compared that could still change', () => {
  const rows = nineWeeks().map((one) => ({ ...one, locked: false }));
  expect(messageOf(reading(rows))).toMatchInlineSnapshot(`
    "Cost · Thu 19 Nov (UTC) · 147.2 credits so far
    Not final yet, too early to compare
    Month to date: 2,350.9 credits so far
    Forecast: not available: too few final days
    Not final: 6–19 Nov: 1,708.2 credits so far
    chart of 14, the last 19*
    Fetched 2026-11-20 08:00 UTC · next digest 2026-11-23 08:30 UTC"
  `);
});

test('days without data are listed and do not count as zero', () => {
  const rows = nineWeeks().filter(({ day }) => day < '2026-11-18');
  expect(messageOf(reading(rows))).toContain('No data: 18–19 Nov');
  const empty = composeDigest(factsFor(reading([])));
  expect(empty.thread).toBeNull();
  expect(written(empty.message)).toMatchInlineSnapshot(`
    "Cost · Thu 19 Nov (UTC) · no data
    The usage report has no data for these days.
    Fetched 2026-11-20 08:00 UTC · next digest 2026-11-23 08:30 UTC"
  `);
});

test('an unreadable usage report is shown first, with the age of the figures', () => {
  const { read } = factsFor();
  const from = new Date('2026-11-19T08:00:00Z');
  const gaps = [{ month: '2026-11', why: 'Too many requests', denied: false, from }];
  const [, first] = messageOf({ read: { ...read, gaps } }).split('\n');
  expect(first).toBe(
    '⚠ These figures are from 2026-11-19 08:00 UTC: the usage report cannot be read now (Too many requests).',
  );
  // The reason stands above the figures, and is not said a second time below them.
  const last = messageOf({ read: { ...read, gaps } })
    .split('\n')
    .at(-1);
  expect(last).toContain('2026-11 is from 2026-11-19 08:00 UTC · next digest');
  const nothing = { rows: [], fetchedAt: null, problems: [], gaps: [{ ...gaps[0], from: null }] };
  const text = messageOf({ read: nothing as DigestFacts['read'] });
  expect(text).toMatchInlineSnapshot(`
    "Cost · Thu 19 Nov (UTC) · no data
    ⚠ The usage report cannot be read now, and no older copy is stored: Too many requests.
    Nothing could be fetched · 2026-11 is missing · next digest 2026-11-23 08:30 UTC"
  `);
  expect(text).not.toMatch(/\b0 credits/);
});

test('a week is held against the week before, a month against the month before', () => {
  const { options } = factsFor();
  const week = { first: '2026-11-11', last: '2026-11-17' };
  expect(
    messageOf({ covers: week, options: { ...options, period: 'week', sections: ['movers'] } }),
  ).toMatchInlineSnapshot(`
    "Cost · 11–17 Nov (UTC) · 851.0 credits
    −1% vs 4–10 Nov (855.9).
    Top movers vs the days before:
    • analytics-prod · compute −3.8 (−1%)
    Fetched 2026-11-20 08:00 UTC · next digest 2026-11-23 08:30 UTC"
  `);
  const month = { first: '2026-10-01', last: '2026-10-31' };
  expect(
    messageOf({ covers: month, options: { ...options, period: 'month', sections: ['movers'] } }),
  ).toMatchInlineSnapshot(`
    "Cost · October 2026 (UTC) · 3,766.0 credits
    +5% vs September 2026, on the 13 days final in both: 1,641.1, was 1,560.0. The weekdays differ.
    Fetched 2026-11-20 08:00 UTC · next digest 2026-11-23 08:30 UTC"
  `);
});

test('each of what is unusual has its buttons right below it, the first three of it', () => {
  const all = ['a', 'b', 'c', 'd'].map((text) => ({
    text,
    buttons: {
      kind: 'deeds',
      deeds: [{ id: 'incident.details', label: 'Details', value: text }],
    },
  })) satisfies DigestFacts['attention']['anomalies'];
  const { parts } = composeDigest(factsFor({ attention: { anomalies: all, budgets: [] } })).message;
  const first = parts.findIndex((part) => part.kind === 'deeds');
  expect(
    parts.slice(first - 1, first + 5).map((part) => ('text' in part ? part.text : part.kind)),
  ).toMatchInlineSnapshot(`
    [
      "Unusual, top 3 of 4:
    • a",
      "deeds",
      "• b",
      "deeds",
      "• c",
      "deeds",
    ]
  `);
});

test('a digest with everything in it has twelve blocks at most', () => {
  const buttons = { kind: 'deeds', deeds: [] } as const;
  const anomalies = ['a', 'b', 'c', 'd'].map((text) => ({ text, buttons }));
  const { read } = reading(spiked);
  const gaps = [{ month: '2026-11', why: 'Too many requests', denied: false, from: null }];
  const { message } = composeDigest(
    factsFor({
      read: { ...read, gaps },
      attention: { anomalies, budgets: [] },
      posted: [{ day: '2026-11-13', total: microOf(90) }],
      changes: [{ day: '2026-11-16', text: 'Scale analytics-prod (7KQ2MX)' }],
    }),
  );
  // The title is a block too.
  expect(message.parts.length + 1).toBe(12);
});

test('a month with a day that is not final says on how many days it compares', () => {
  const open = nineWeeks().map((one) =>
    one.day === '2026-11-12' ? { ...one, locked: false } : one,
  );
  expect(messageOf(reading(open))).toContain('1–17 Nov, on the 16 days final in both: 1,917.1, ');
  const { options } = factsFor();
  const week = { first: '2026-11-11', last: '2026-11-17' };
  const text = messageOf({
    ...reading(open),
    covers: week,
    options: { ...options, period: 'week' },
  });
  expect(text).toContain('Top movers vs the days before, on the 6 days final in both:');
});

test('a longer month against a shorter one says so, whichever of them is which', () => {
  const rows = nineWeeks('2026-12-02', 1);
  const november = { first: '2026-11-01', last: '2026-11-30' };
  const { options } = factsFor();
  expect(
    messageOf({
      ...reading(rows),
      today: '2026-12-02',
      covers: november,
      options: { ...options, period: 'month', sections: ['movers'] },
    }),
  ).toContain(', on the 30 days final in both: ');
});

test('only the requested days are shown', () => {
  const { options } = factsFor();
  const { message, thread } = composeDigest(
    factsFor({ ...reading(spiked), options: { ...options, sections: ['figures'] } }),
  );
  expect(message.parts.map(({ kind }) => kind)).toEqual(['text', 'facts', 'note']);
  expect(thread).toBeNull();
});

test('where only rises are of interest, what fell has no line', () => {
  const { options } = factsFor();
  const fallen = spiked.map((one) =>
    one.day === '2026-11-10' && one.entityId === 's-2' ? { ...one, total: microOf(500) } : one,
  );
  const dropped = messageOf({ ...reading(fallen) });
  expect(dropped).toContain('• staging');
  const rises = { ...options, increasesOnly: true };
  expect(messageOf({ ...reading(fallen), options: rises })).not.toContain('• staging');
});

test('an ordinary day is not worth a word to a quiet channel, an extraordinary one is', () => {
  expect(composeDigest(factsFor()).notable).toBe(false);
  expect(composeDigest(factsFor(reading(spiked))).notable).toBe(true);
});
