import { expect, test } from 'vitest';
import { composeDigest } from '../../src/costs/digest.ts';
import type { DigestFacts } from '../../src/costs/digest-data.ts';
import { digestFacts } from '../../src/costs/digest-data.ts';
import { microOf } from '../../src/maths/rows.ts';
import { row } from '../maths/rows.ts';
import { BUTTONS, digest, factsFor, nineWeeks, PRODUCTION_OVER, reading } from './facts.ts';
import { written } from './written.ts';

const messageOf = (over: Partial<DigestFacts> = {}) =>
  written(composeDigest(factsFor(over)).message);

const threadOf = (over: Partial<DigestFacts> = {}) => {
  const { thread } = composeDigest(factsFor(over));
  return thread ? written(thread) : expect.fail('there is no thread');
};

test('an ordinary morning', () => {
  expect(messageOf()).toMatchInlineSnapshot(`
    "Tue 17 Nov: 142 credits (usual 109–181) · month heading for 3,625
    −1% vs Tue 10 Nov (143.3)
    chart of 14, the last 19*
    As of 2026-11-20 08:00 UTC · Not final: 18–19 Nov: 291.8 credits · days in UTC · Next digest 2026-11-23 08:30 UTC"
  `);
});

test('a digest of a tag shows how many services with costs have no known tags', () => {
  const { read, today, states } = factsFor();
  const data = {
    read,
    today,
    states,
    snapshots: { byDay: new Map(), fetches: [] },
    changes: [],
    services: [],
    budgets: [],
  };
  const { options } = digest({});
  const details = { ...factsFor(), lastPosted: null };
  const noteOf = (on: typeof options.on) =>
    messageOf(digestFacts({ options: { ...options, on } }, details, data))
      .split('\n')
      .at(-1);
  const tagged = { services: null, tags: ['prod'], warehouses: ['main'], teams: null };
  expect(noteOf(tagged)).toContain(' · 2 services left out: not in signalbox.yaml');
  expect(noteOf(null)).not.toContain('left out');
});

test('its thread has each service and the storage of the warehouse', () => {
  const { thread } = composeDigest(factsFor());
  expect(thread && written(thread)).toMatchInlineSnapshot(`
    "Details of Tue 17 Nov (UTC)
    Usual on Tue 17 Nov: 109–181 credits
    Month to date: 2,350.9 credits, not final · 1–17 Nov: 2,059.1, ±0% vs 1–17 Oct (2,060.4)
    Forecast: November 2026 about 3,625 (3,593–3,656, about 80% sure) if usage does not change
    Not final: 18–19 Nov: 291.8 credits
    Service | Tue 17 Nov | Tue 10 Nov | 7 days | Month | Share of month
    analytics-prod | 100.0 | 101.0 | 590.0 | 1,427.0 | 69%
    staging | 30.0 | 30.3 | 177.0 | 428.1 | 21%
    warehouse main: storage + backup | 12.0 | 12.0 | 84.0 | 204.0 | 10%
    offers
    As of 2026-11-20 08:00 UTC · 142.0 credits on Tue 17 Nov"
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
    anomalies: [{ text: 'analytics-prod · compute 320.0, expected 101.0', buttons: BUTTONS }],
    budgets: [PRODUCTION_OVER],
  };
  const posted = [{ day: '2026-11-13', total: microOf(90) }];
  expect(messageOf({ ...reading(spiked), changes, attention, posted })).toMatchInlineSnapshot(`
    "Tue 17 Nov: 362 credits, above the usual 109–181 · month heading for 3,850 · budget production heading over, 1 unusual cost
    ⚠ Budget production: heading for 5,812 of 5,500 (+6%)
    ⚠ analytics-prod · compute 320.0, expected 101.0
    actions
    +153% vs Tue 10 Nov (143.3)

    Top movers vs Tue 10 Nov:
    • analytics-prod · compute +219.0 (×3.2)

    Changes of these days:
    • Scale analytics-prod (7KQ2MX), Mon 16 Nov

    Revised:
    • Fri 13 Nov: 90.0 → 144.6 (+61%)
    chart of 14, the last 19*
    As of 2026-11-20 08:00 UTC · Not final: 18–19 Nov: 291.8 credits · days in UTC · Next digest 2026-11-23 08:30 UTC"
  `);
});

test('a digest on Monday lists each day of the weekend', () => {
  const today = '2026-11-23';
  const covers = { first: '2026-11-20', last: '2026-11-22' };
  const text = messageOf({ ...reading(nineWeeks(today)), today, covers });
  expect(text).toMatchInlineSnapshot(`
    "20–22 Nov: 273 credits, not final (−1% vs 13–15 Nov on 1 of 3 days) · month heading for 3,623
    Fri 20 Nov: 142.0 · −1% vs Fri 13 Nov (143.3)
    Sat 21 Nov: 65.0, not final
    Sun 22 Nov: 66.1, not final · already +2.1 vs Sun 15 Nov (64.0)
    chart of 14, the last 22*
    As of 2026-11-20 08:00 UTC · Not final: 21–22 Nov: 131.1 credits · days in UTC · Next digest 2026-11-23 08:30 UTC"
  `);
});

test('a channel of one service sees nothing of the others', () => {
  const selector = { services: ['s-2'] };
  const text = messageOf({ selector, scope: 'staging' });
  expect(text).toMatchInlineSnapshot(`
    "staging, Tue 17 Nov: 30 credits (usual 23–38) · month heading for 753
    −1% vs Tue 10 Nov (30.3)
    chart of 14, the last 19*
    As of 2026-11-20 08:00 UTC · Not final: 18–19 Nov: 61.8 credits · days in UTC · storage and backups are billed to warehouses and not included · Next digest 2026-11-23 08:30 UTC"
  `);
  expect(text).not.toContain('analytics-prod');
});

test('without final days nothing is compared', () => {
  const rows = nineWeeks().map((one) => ({ ...one, locked: false }));
  expect(messageOf(reading(rows))).toMatchInlineSnapshot(`
    "Thu 19 Nov: 147 credits, not final
    Not final yet, too early to compare
    chart of 14, the last 19*
    As of 2026-11-20 08:00 UTC · Not final: 30 Oct – 19 Nov: 2,562.6 credits · days in UTC · Next digest 2026-11-23 08:30 UTC"
  `);
});

test('days without data are listed and do not count as zero', () => {
  const rows = nineWeeks().filter(({ day }) => day < '2026-11-18');
  expect(messageOf(reading(rows))).toContain('No data: 18–19 Nov');
  const empty = composeDigest(factsFor(reading([])));
  expect(empty.thread).toBeNull();
  expect(written(empty.message)).toMatchInlineSnapshot(`
    "Thu 19 Nov: no data
    The usage report has no data for these days.
    As of 2026-11-20 08:00 UTC · days in UTC · Next digest 2026-11-23 08:30 UTC"
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
  // The reason is above the figures and is not repeated below them.
  const last = messageOf({ read: { ...read, gaps } })
    .split('\n')
    .at(-1);
  expect(last).toContain('2026-11 is from 2026-11-19 08:00 UTC · Not final: ');
  const nothing = {
    rows: [],
    fetchedAt: null,
    problems: [],
    gaps: [{ ...gaps[0], from: null }],
    lockAge: null,
  };
  const text = messageOf({ read: nothing as DigestFacts['read'] });
  expect(text).toMatchInlineSnapshot(`
    "Thu 19 Nov: no data
    ⚠ The usage report cannot be read now, and no older copy is stored: Too many requests.
    Nothing could be fetched · 2026-11 is missing · days in UTC · Next digest 2026-11-23 08:30 UTC"
  `);
  expect(text).not.toMatch(/\b0 credits/);
});

test('a week is compared with the week before, a month with the month before', () => {
  const { options } = factsFor();
  const week = { first: '2026-11-11', last: '2026-11-17' };
  expect(
    messageOf({ covers: week, options: { ...options, period: 'week', sections: ['movers'] } }),
  ).toMatchInlineSnapshot(`
    "11–17 Nov: 851 credits (−1% vs 4–10 Nov) · month heading for 3,625
    −1% vs 4–10 Nov (855.9).

    Top movers vs the days before:
    • analytics-prod · compute −3.8 (−1%)
    As of 2026-11-20 08:00 UTC · Not final: 18–19 Nov: 291.8 credits · days in UTC · Next digest 2026-11-23 08:30 UTC"
  `);
  const month = { first: '2026-10-01', last: '2026-10-31' };
  expect(
    messageOf({ covers: month, options: { ...options, period: 'month', sections: ['movers'] } }),
  ).toMatchInlineSnapshot(`
    "October 2026: 3,766 credits (+5% vs September 2026 on 13 of 31 days)
    +5% vs September 2026, on the 13 days final in both: 1,641.1, was 1,560.0. The weekdays differ.
    As of 2026-11-20 08:00 UTC · Not final: 18–19 Nov: 291.8 credits · days in UTC · Next digest 2026-11-23 08:30 UTC"
  `);
});

test('the first three anomalies have their buttons right below them', () => {
  const all = ['a', 'b', 'c', 'd'].map((text) => ({
    text,
    buttons: {
      kind: 'actions',
      actions: [{ id: 'incident.details', label: 'Details', value: text }],
    },
  })) satisfies DigestFacts['attention']['anomalies'];
  const { parts } = composeDigest(factsFor({ attention: { anomalies: all, budgets: [] } })).message;
  const first = parts.findIndex((part) => part.kind === 'actions');
  expect(
    parts.slice(first - 1, first + 5).map((part) => ('text' in part ? part.text : part.kind)),
  ).toMatchInlineSnapshot(`
    [
      "⚠ a",
      "actions",
      "⚠ b",
      "actions",
      "⚠ c
    1 more unusual cost",
      "actions",
    ]
  `);
});

test('with a month that could never be read the thread names it instead of a forecast', () => {
  const { read } = factsFor();
  const gap = { month: '2026-09', why: 'Too many requests', denied: false, from: null };
  const thread = (gaps: DigestFacts['read']['gaps']) => {
    const { thread: own } = composeDigest(factsFor({ read: { ...read, gaps } }));
    return written(own ?? expect.fail('there is no thread'));
  };
  expect(thread([gap])).toContain('Forecast: not available: 2026-09 could not be read');
  const older = { ...gap, from: new Date('2026-11-19T08:00:00Z') };
  expect(thread([older])).toContain('Forecast: November 2026 about ');
});

test('a digest with everything in it has twelve blocks at most', () => {
  const anomalies = ['a', 'b', 'c', 'd'].map((text) => ({ text, buttons: BUTTONS }));
  const { read } = reading(spiked);
  const gaps = [{ month: '2026-11', why: 'Too many requests', denied: false, from: null }];
  const { message } = composeDigest(
    factsFor({
      read: { ...read, gaps },
      attention: { anomalies, budgets: [PRODUCTION_OVER] },
      posted: [{ day: '2026-11-13', total: microOf(90) }],
      changes: [{ day: '2026-11-16', text: 'Scale analytics-prod (7KQ2MX)' }],
    }),
  );
  // The title is a block too.
  expect(message.parts.length + 1).toBe(11);
});

test('a month with a day that is not final shows the number of compared days', () => {
  const open = nineWeeks().map((one) =>
    one.day === '2026-11-12' ? { ...one, locked: false } : one,
  );
  expect(threadOf(reading(open))).toContain('1–17 Nov, on the 16 days final in both: 1,917.1, ');
  const { options } = factsFor();
  const week = { first: '2026-11-11', last: '2026-11-17' };
  const text = messageOf({
    ...reading(open),
    covers: week,
    options: { ...options, period: 'week' },
  });
  expect(text).toContain('Top movers vs the days before, on the 6 days final in both:');
});

test('months of different lengths show the number of compared days', () => {
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
  expect(message.parts.map(({ kind }) => kind)).toEqual(['text', 'note']);
  expect(thread?.parts.map(({ kind }) => kind)).toEqual(['facts', 'note']);
  const chart = { ...options, sections: ['chart' as const] };
  expect(composeDigest(factsFor({ options: chart })).thread).toBeNull();
});

test('a digest of increases only has no line for a decrease', () => {
  const { options } = factsFor();
  const fallen = spiked.map((one) =>
    one.day === '2026-11-10' && one.entityId === 's-2' ? { ...one, total: microOf(500) } : one,
  );
  const dropped = messageOf({ ...reading(fallen) });
  expect(dropped).toContain('• staging');
  const rises = { ...options, increasesOnly: true };
  expect(messageOf({ ...reading(fallen), options: rises })).not.toContain('• staging');
});

test('a quiet channel gets only digests with something notable', () => {
  expect(composeDigest(factsFor()).notable).toBe(false);
  expect(composeDigest(factsFor(reading(spiked))).notable).toBe(true);
});
