import { lengthOf, type Span, startOf } from '../costs/calendar/calendar.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import { type Mover, moversOf } from '../costs/comparison/movers.ts';
import type { DayState } from '../costs/ledger/ledger.ts';
import { changeText, figure, shareText, signedFigure } from '../costs/ledger/numbers.ts';
import { type PostedDay, revisions } from '../costs/ledger/revision.ts';
import type { CostRow, Micro } from '../costs/ledger/row.ts';
import { sumBy } from '../costs/ledger/summary.ts';
import type { AnswerPart } from '../intent/answers/answer.ts';
import { pairedDaysText } from './compare-periods.ts';
import { figureCell } from './cost-table.ts';

const WEEK = 7;

interface MoverFilter {
  readonly minimum: Micro;
  readonly increasesOnly: boolean;
}

export interface MoverLines {
  readonly lines: readonly string[];
  /** The number of compared days, if some days are left out. */
  readonly on: string;
}

/** `analytics-us · compute +55.1 (×3.1)`; empty until days of both spans are final. */
export function moverLines(
  rows: readonly CostRow[],
  span: Span,
  before: Span,
  { minimum, increasesOnly }: MoverFilter,
): MoverLines {
  const found = moversOf(rows, span, before, { by: 'entity-metric', minimum });
  if (!found.ok) return { lines: [], on: '' };
  const shown = found.movers.filter(({ delta }) => delta > 0 || !increasesOnly);
  return { lines: shown.map(moverText), on: pairedDaysText(found.days, span, before) };
}

function moverText({ name, kind, delta, relative }: Mover): string {
  const change = relative === null ? '' : ` (${changeText(relative)})`;
  const note = kind === 'changed' ? change : kind === 'new' ? ' (new)' : ' (gone)';
  return `${name} ${signedFigure(delta)}${note}`;
}

export function revisedLines(
  posted: readonly PostedDay[],
  states: readonly DayState[],
  minimum: Micro,
): readonly string[] {
  return revisions(posted, states, minimum).map(({ day, posted: was, final, relative, delta }) => {
    const change = relative === null ? signedFigure(delta) : changeText(relative);
    return `${dayLabel(day)}: ${figure(was)} → ${figure(final)} (${change})`;
  });
}

/** The costs by service: the day, the same weekday of the previous week, 7 days, the month. */
export function serviceTable(rows: readonly CostRow[], day: Day): AnswerPart {
  const sums = (span: Span) =>
    new Map(sumBy(rows, 'service', span).map(({ key, total }) => [key, total]));
  const weekday = addDays(day, -WEEK);
  const now = sums({ first: day, last: day });
  const before = sums({ first: weekday, last: weekday });
  const week = sums({ first: addDays(day, 1 - WEEK), last: day });
  const month = sumBy(rows, 'service', { first: startOf('month', day), last: day });
  const cell = (of: ReadonlyMap<string, Micro>, key: string) =>
    of.has(key) ? figureCell(of.get(key) ?? 0) : null;
  return {
    kind: 'table',
    columns: ['Service', dayLabel(day), dayLabel(weekday), '7 days', 'Month', 'Share of month'],
    rows: month.map(({ key, name, total, share }) => [
      name,
      cell(now, key),
      cell(before, key),
      cell(week, key),
      figureCell(total),
      share === null ? null : { value: share, text: shareText(share) },
    ]),
  };
}

/** The days to compare a span with: as many whole weeks earlier as the span is long. */
export function spanBefore(span: Span): Span {
  const back = Math.ceil(lengthOf(span) / WEEK) * WEEK;
  return { first: addDays(span.first, -back), last: addDays(span.last, -back) };
}
