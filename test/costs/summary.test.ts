import { expect, test } from 'vitest';
import { footerPart, noDataAnswer } from '../../src/costs/standing.ts';
import type { CostGap, CostReading } from '../../src/maths/report.ts';
import { written } from './written.ts';

const FROM = new Date('2026-11-20T08:00:00Z');

function unread(why: string, denied = false, from: Date | null = null): CostReading {
  const gaps = ['2026-09', '2026-10', '2026-11'].map(
    (month): CostGap => ({ month, why, denied, from }),
  );
  return { rows: [], fetchedAt: from, problems: [], gaps };
}

test('a missing permission is shown once for all months, without a hint to try again', () => {
  const why = 'the API key may not read it: FORBIDDEN: not allowed';
  expect(written(noDataAnswer('1–19 Nov', unread(why, true)))).toMatchInlineSnapshot(`
    "1–19 Nov (UTC)
    The usage report cannot be read: the API key may not read it: FORBIDDEN: not allowed. An operator of Signalbox must fix the API key.
    Nothing could be fetched · 2026-09, 2026-10, 2026-11 are missing"
  `);
});

test('a temporary error has a hint to try again in a minute', () => {
  expect(written(noDataAnswer('1–19 Nov', unread('The server asks to wait.')))).toContain(
    'cannot be read now: The server asks to wait. Try again in a minute.',
  );
});

test('months of the same age and reason share one text in the footer', () => {
  const { gaps, ...read } = unread('Too many requests', false, FROM);
  const other: CostGap = { month: '2026-08', why: 'no connection', denied: false, from: null };
  const note = footerPart({ ...read, gaps: [other, ...gaps] });
  expect(note.asOf).toEqual(FROM);
  expect(note.text).toBe(
    '2026-08 is missing: no connection · 2026-09, 2026-10, 2026-11 ' +
      'are from 2026-11-20 08:00 UTC: the report cannot be read now (Too many requests)',
  );
});
