import { expect, test } from 'vitest';
import type { Span } from '../../src/base/calendar.ts';
import { addDays } from '../../src/base/time.ts';
import { cost, costCsv } from '../../src/commands/cost.ts';
import type { CommandContext } from '../../src/commands/define.ts';
import { commands } from '../../src/commands/registry.ts';
import { COST_VERBS } from '../../src/costs/question.ts';
import type { Service } from '../../src/domain/targets.ts';
import { ASKER, costContext, NOW } from '../costs/asking.ts';
import { written } from '../costs/written.ts';
import { row } from '../maths/rows.ts';

/** The answer and the read spans, with costs that rise by one credit per day. */
async function answered(words: string, services: readonly Service[] = []) {
  const asked: Span[] = [];
  const days = Array.from({ length: 30 }, (_, index) => addDays('2026-10-20', index));
  const rows = days.map((day, index) => row({ day, credits: 100 + index }));
  const context = costContext(rows, { services });
  const costs = async (span: Span) => {
    asked.push(span);
    return context.costs(span);
  };
  const { parts } = await cost.answer({ words }, { ...context, costs }, ASKER);
  return { asked, text: JSON.stringify(parts) };
}

test('a period is compared with a later one', async () => {
  const { asked, text } = await answered('2026-11-02..2026-11-08 vs 2026-11-09..2026-11-15');
  expect(asked).toEqual([{ first: '2026-11-02', last: '2026-11-15' }]);
  expect(text).toContain('−6% vs 9–15 Nov (861.0)');
});

test('a comparison that goes back too far is refused before anything is read', async () => {
  const { asked, text } = await answered('2026-11-14..2026-11-20 vs 2020-11-14..2020-11-20');
  expect(text).toContain('more than 806 days');
  expect(asked).toEqual([]);
});

test.for(['400d', '393d', '2025-10-17..2026-11-20', '2026'])(
  'the offered comparison of %s is not refused',
  async (period) => {
    const refused = await answered(`${period} vs 2020-01`);
    const [, offered = ''] = /"line":"cost ([^"]*vs prev)"/.exec(refused.text) ?? [];
    expect(offered).toMatch(/vs prev$/);
    expect((await answered(offered)).asked).toHaveLength(1);
    expect((await answered(`${period} vs prev`)).asked).toHaveLength(1);
  },
);

const CAN_CHANGE = { rows: [row({ day: '2026-11-19' })], problems: [], gaps: [] };

/** A context in which the stored copy is four minutes old, and a refresh gets a new one. */
function refreshing(again: Date | null = null) {
  const refreshed: string[] = [];
  const stored = { ...CAN_CHANGE, fetchedAt: new Date(NOW.getTime() - 240_000) };
  const refreshCosts: CommandContext['refreshCosts'] = async ({ first, last }, by) => {
    refreshed.push(`${first}..${last} ${by}`);
    return again ? { ok: false, again } : { ok: true, read: { ...CAN_CHANGE, fetchedAt: NOW } };
  };
  return { refreshed, context: costContext([], { costs: async () => stored, refreshCosts }) };
}

test.for([
  [cost, '2026-11-19 refresh'],
  [costCsv, 'refresh 2026-11-19'],
] as const)('%o with “refresh” shows when the report was read again', async ([command, words]) => {
  const { refreshed, context } = refreshing();
  expect(written(await command.answer({ words }, context, ASKER))).toContain(
    'As of 2026-11-20 12:00 UTC',
  );
  expect(refreshed).toEqual(['2026-11-19..2026-11-19 U0ANA00001']);
  const usual = await command.answer({ words: '2026-11-19' }, context, ASKER);
  expect(written(usual)).toContain('As of 2026-11-20 11:56 UTC');
  expect(refreshed).toHaveLength(1);
});

test('a refused refresh shows when it is possible again, and offers the stored costs', async () => {
  const again = new Date('2026-11-20T12:10:00Z');
  const { context } = refreshing(again);
  const { title, parts } = await cost.answer({ words: 'mtd Refresh by day' }, context, ASKER);
  expect(title).toBe('Not refreshed');
  expect(parts).toEqual([
    {
      kind: 'lines',
      lines: [[expect.stringContaining('You can refresh again'), { at: again }, '.']],
    },
    {
      kind: 'offers',
      offers: [{ label: 'Show stored costs', line: 'cost 2026-11-01..2026-11-19 by day' }],
    },
  ]);
});

test('final months have no button to refresh', async () => {
  const offered = async (isFinal: boolean) => {
    const { context } = refreshing();
    const costs = async () => ({ ...CAN_CHANGE, fetchedAt: NOW, isFinal });
    const answer = await cost.answer({ words: '2026-11-19' }, { ...context, costs }, ASKER);
    return JSON.stringify(answer.parts);
  };
  expect(await offered(false)).toContain('"line":"cost 2026-11-19..2026-11-19 by service refresh"');
  expect(await offered(true)).not.toContain('refresh');
});

test('offers keep the service whose name equals a month', async () => {
  const october = { id: 's-1', name: 'october', aliases: [] } as unknown as Service;
  const { text } = await answered('7d only october', [october]);
  expect(text).toContain('"cost 2026-11-13..2026-11-19 by day only october"');
  expect(text).toContain('"cost csv 2026-11-13..2026-11-19 by service only october"');
});

test('each cost subcommand is offered for a mistyped verb', () => {
  const verbs = commands.flatMap(({ name }) => (name.startsWith('cost ') ? [name.slice(5)] : []));
  expect([...COST_VERBS].sort()).toEqual(verbs.sort());
});

test('a file has a column for each metric of the report, also for an unknown one', async () => {
  const known = row({ day: '2026-11-16' });
  const rows = [{ ...known, metrics: { ...known.metrics, vectorSearchCHC: 2_500_000 } }];
  const { parts } = await costCsv.answer({ words: '7d' }, costContext(rows), ASKER);
  const [header = '', line = ''] = parts.flatMap((part) =>
    part.kind === 'file' ? part.text.split('\r\n') : [],
  );
  const column = header.split(',').indexOf('vectorSearchCHC');
  expect(line.split(',')[column]).toBe('2.5');
});
