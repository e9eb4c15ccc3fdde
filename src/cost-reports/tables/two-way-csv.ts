import type { Span } from '../../costs/calendar/calendar.ts';
import { type Grouping, isOfTime } from '../../costs/ledger/grouping.ts';
import { type CostRow, creditsOf } from '../../costs/ledger/row.ts';
import type { SummaryLine } from '../../costs/ledger/summary.ts';
import { sumByTwo, type TwoGroupings } from '../../costs/ledger/two-groupings.ts';
import type { Money } from '../../costs/money/money.ts';
import { exactMoney } from '../../costs/money/money-text.ts';
import { moneyOfLines } from './cost-lines.ts';
import { type CsvCell, csvText } from './csv-text.ts';

interface TwoWayFile {
  readonly text: string;
  readonly lines: number;
  /** The sum of all lines, in millionths of a credit. */
  readonly total: number;
  readonly money: Money | null;
}

/**
 * A line for each pair of the two groupings, without subtotals, so that the column adds up to the
 * total. Names may change or be shared, so each line has its keys as well.
 */
export function twoWayFile(
  groupings: TwoGroupings,
  rows: readonly CostRow[],
  span: Span,
): TwoWayFile {
  const [by, thenBy] = groupings;
  const pairs = sumByTwo(rows, groupings, span).flatMap(({ line, parts }) =>
    parts.map((part) => ({ line, part })),
  );
  const currency = pairs.find(({ part }) => part.money)?.part.money?.currency;
  const money = (line: SummaryLine) =>
    currency ? [currency, line.money ? exactMoney(line.money) : ''] : [];
  const lines = pairs.map(({ line, part }): readonly CsvCell[] => [
    nameOf(line, by),
    nameOf(part, thenBy),
    creditsOf(part.total),
    creditsOf(part.preliminary),
    ...money(part),
    line.key,
    part.key,
  ]);
  const header = [by, thenBy, 'credits', 'notFinal', ...(currency ? ['currency', 'money'] : [])];
  return {
    text: csvText([...header, `${by}Key`, `${thenBy}Key`], lines),
    lines: lines.length,
    total: pairs.reduce((sum, { part }) => sum + part.total, 0),
    money: moneyOfLines(pairs.map(({ part }) => part)),
  };
}

/** A day as `2026-11-19`, a week as its Monday, a month as `2026-11`; anything else by its name. */
function nameOf({ key, name }: SummaryLine, by: Grouping): string {
  return isOfTime(by) ? key : name;
}
