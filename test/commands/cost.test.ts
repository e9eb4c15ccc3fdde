import { expect, test } from 'vitest';
import type { UserId } from '../../src/changes/change.ts';
import { cost } from '../../src/commands/cost.ts';
import type { Span } from '../../src/costs/calendar.ts';
import { addDays } from '../../src/costs/day.ts';
import type { Reach } from '../../src/intent/define.ts';
import { row } from '../costs/rows.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const ASKER = { by: 'U0ANA00001' as UserId, channel: null };

/** What is answered where every day costs a credit more than the day before, and what was read. */
async function answered(words: string) {
  const asked: Span[] = [];
  const days = Array.from({ length: 30 }, (_, index) => addDays('2026-10-20', index));
  const rows = days.map((day, index) => row({ day, credits: 100 + index }));
  const costs = async (span: Span) => {
    asked.push(span);
    const within = rows.filter(({ day }) => day >= span.first && day <= span.last);
    return { rows: within, fetchedAt: NOW, problems: [], gaps: [] };
  };
  // The whole of what this command asks for; it throws where it asks for more.
  const reach = { costs, services: [], now: () => NOW } as unknown as Reach;
  const { parts } = await cost.answer({ words }, reach, ASKER);
  return { asked, text: JSON.stringify(parts) };
}

test('the last final day is compared with the same weekday before it', async () => {
  const { text } = await answered('final vs prev');
  expect(text).toContain('against Wed 11 Nov (122.0)');
  expect(text).toContain('{"value":7,"text":"7.0"}');
});

test('a comparison that lies years back is refused before anything is read', async () => {
  const { asked, text } = await answered('2026-11-14..2026-11-20 vs 2020-11-14..2020-11-20');
  expect(text).toContain('more than 800 days back');
  expect(asked).toEqual([]);
});
