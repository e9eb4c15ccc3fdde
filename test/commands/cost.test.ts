import { expect, test } from 'vitest';
import type { UserId } from '../../src/changes/change.ts';
import { cost } from '../../src/commands/cost.ts';
import { costCsv } from '../../src/commands/cost-csv.ts';
import { commands } from '../../src/commands/index.ts';
import { COST_SUBCOMMANDS } from '../../src/cost-reports/cost-question.ts';
import type { Span } from '../../src/costs/calendar/calendar.ts';
import { addDays } from '../../src/costs/calendar/day.ts';
import type { Service } from '../../src/directory/directory.ts';
import type { CommandContext } from '../../src/intent/ports/command-context.ts';
import { row } from '../costs/rows.ts';

const NOW = new Date('2026-11-20T12:00:00Z');
const ASKER = { by: 'U0ANA00001' as UserId, channel: null };

/** What is answered where every day costs a credit more than the day before, and what was read. */
async function answered(words: string, services: readonly Service[] = []) {
  const asked: Span[] = [];
  const days = Array.from({ length: 30 }, (_, index) => addDays('2026-10-20', index));
  const rows = days.map((day, index) => row({ day, credits: 100 + index }));
  const costs = async (span: Span) => {
    asked.push(span);
    const within = rows.filter(({ day }) => day >= span.first && day <= span.last);
    return { rows: within, fetchedAt: NOW, problems: [], gaps: [] };
  };
  // The whole of what this command asks for; it throws where it asks for more.
  const reach = { costs, services, now: () => NOW } as unknown as CommandContext;
  const { parts } = await cost.answer({ words }, reach, ASKER);
  return { asked, text: JSON.stringify(parts) };
}

test('the last final day is compared with the same weekday before it', async () => {
  const { text } = await answered('final vs prev');
  expect(text).toContain('vs Wed 11 Nov (122.0)');
  expect(text).toContain('{"value":7,"text":"+7.0"}');
});

test('a period that would end in the future says that it was cut, any other does not', async () => {
  const said = 'Ends today (UTC, incomplete); future days left out';
  expect((await answered('2026-11-01..2026-12-15')).text).toContain(said);
  expect((await answered('2026-11')).text).toContain(said);
  expect((await answered('mtd')).text).not.toContain(said);
});

test('a comparison that goes back too far is refused before anything is read', async () => {
  const { asked, text } = await answered('2026-11-14..2026-11-20 vs 2020-11-14..2020-11-20');
  expect(text).toContain('more than 800 days');
  expect(asked).toEqual([]);
});

test('a service that is called like a month stays one in what is offered', async () => {
  const october = { id: 's-1', name: 'october', aliases: [] } as unknown as Service;
  const { text } = await answered('7d only october', [october]);
  expect(text).toContain('"cost 2026-11-13..2026-11-19 by day only october"');
  expect(text).toContain('"cost csv 2026-11-13..2026-11-19 by service only october"');
});

test('each cost subcommand is offered for a mistyped verb', () => {
  const verbs = commands.flatMap(({ name }) => (name.startsWith('cost ') ? [name.slice(5)] : []));
  expect([...COST_SUBCOMMANDS].sort()).toEqual(verbs.sort());
});

test('a file of the last final day has the rows of that day alone', async () => {
  const final = row({ day: '2026-11-17', credits: 3 });
  const rows = [row({ day: '2026-11-16' }), final, row({ day: '2026-11-18', locked: false })];
  const costs = async () => ({ rows, fetchedAt: NOW, problems: [], gaps: [] });
  // The whole of what this command asks for; it throws where it asks for more.
  const reach = { costs, services: [], now: () => NOW } as unknown as CommandContext;
  const { title, parts } = await costCsv.answer({ words: 'final' }, reach, ASKER);
  expect(title).toContain('Tue 17 Nov');
  expect(JSON.stringify(parts)).toContain('1 row,');
});
