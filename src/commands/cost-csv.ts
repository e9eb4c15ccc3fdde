import { z } from 'zod';
import { readCostQuestion } from '../cost-reports/cost-question.ts';
import { noDataAnswer } from '../cost-reports/summary.ts';
import type { Span } from '../costs/calendar/calendar.ts';
import { dayOf } from '../costs/calendar/day.ts';
import { dayStates, finalRows, lastFinalDay, selected } from '../costs/ledger/ledger.ts';
import { type CostRow, creditsOf, METRICS } from '../costs/ledger/row.ts';
import { finalPeriod } from '../costs/question/period.ts';
import { findByName } from '../directory/directory.ts';
import { countWords } from '../intent/answers/texts.ts';
import { textField } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';

const Words = z.string().max(200, 'is too long: at most 200 characters');

export const costCsv = queryCommand({
  name: 'cost csv',
  summary: 'Get the rows of a period as a CSV file',
  examples: ['cost csv last-month'],
  args: z.strictObject({ words: textField(Words, { label: 'Question', rest: true }) }),

  target: () => null,
  answer: async ({ words = '' }, context) => {
    const today = dayOf(context.now());
    const asked = readCostQuestion({ command: 'cost csv', words }, today, context.services);
    if (!asked.ok) return asked.answer;
    const { period: wanted, only, finalOnly, versus, top } = asked.question;
    const read = await context.costs(wanted);
    const [service] = only === null ? [] : findByName(context.services, only);
    const own = service ? selected(read.rows, { services: [service.id] }) : read.rows;
    const states = dayStates(own, wanted);
    // Only now is it known which day is meant by “final”.
    const period = finalPeriod(wanted, lastFinalDay(states), today);
    if (!period) return noDataAnswer(wanted.label, read);
    const rows = (finalOnly ? finalRows(own, states) : own).filter(isWithin(period));
    const name = `costs-${period.first}-${period.last}.csv`;
    return {
      title: `Costs of ${period.label} (UTC)`,
      parts: [
        {
          kind: 'text',
          text: `${countWords(rows.length, 'row')}, one per day and entity, in credits.`,
        },
        ...(versus || top ? [{ kind: 'text', text: EVERY_ROW } as const] : []),
        { kind: 'file', name, text: csvOf(rows) },
      ],
    };
  },
});

const EVERY_ROW = 'The file contains every row of the period: “vs” and “top” do not apply to it.';

function isWithin({ first, last }: Span) {
  return ({ day }: CostRow) => day >= first && day <= last;
}

const COLUMNS = [
  'day',
  'kind',
  'id',
  'name',
  'service',
  'warehouse',
  'locked',
  'total',
  ...METRICS,
];

function csvOf(rows: readonly CostRow[]): string {
  const sorted = rows.toSorted((a, b) => order(a).localeCompare(order(b)));
  return [COLUMNS.join(','), ...sorted.map((row) => cells(row).map(quoted).join(','))].join('\r\n');
}

function order({ day, entityName, entityId }: CostRow): string {
  return `${day} ${entityName} ${entityId}`;
}

function cells(row: CostRow): readonly (string | number)[] {
  const metrics = METRICS.map((metric) => {
    const micro = row.metrics[metric];
    return micro === undefined ? '' : creditsOf(micro);
  });
  const { day, kind, entityId, entityName, serviceId, warehouseId, locked, total } = row;
  const own = [day, kind, entityId, entityName, serviceId ?? '', warehouseId ?? ''];
  return [...own, locked ? 'yes' : 'no', creditsOf(total), ...metrics];
}

// A name that begins like a formula would be one in a spreadsheet.
function quoted(cell: string | number): string {
  if (typeof cell === 'number') return String(cell);
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
