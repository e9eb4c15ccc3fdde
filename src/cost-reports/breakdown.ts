import { formatDay, type Span, startOf } from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import type { AnswerPart } from '../domain/answer.ts';
import { type Mover, moversOf } from '../maths/compare.ts';
import type { DayState } from '../maths/days.ts';
import { type SummaryLine, sumBy } from '../maths/lines.ts';
import { moneyOf, moneyText, signedMoneyText } from '../maths/money.ts';
import { bracketed, changeText, figure, shareText, signedFigure } from '../maths/numbers.ts';
import { type PostedDay, revisions } from '../maths/report.ts';
import type { CostRow, Micro } from '../maths/rows.ts';
import { pairedDaysText } from './compare-periods.ts';
import { figureCell } from './tables/cost-table.ts';

const WEEK = 7;

interface MoverFilter {
  readonly minimum: Micro;
  readonly increasesOnly: boolean;
}

interface MoverLines {
  readonly lines: readonly string[];
  /** The number of compared days, if some days are left out. */
  readonly on: string;
}

/** The text of each mover; empty until days of both spans are settled. */
export function moverLines(
  rows: readonly CostRow[],
  span: Span,
  before: Span,
  { minimum, increasesOnly }: MoverFilter,
): MoverLines {
  const found = moversOf(rows, span, before, { by: 'entity-metric', minimum });
  if (!found.ok) return { lines: [], on: '' };
  const shown = found.movers.filter(({ delta }) => delta > 0 || !increasesOnly);
  return { lines: shown.map(moverText), on: pairedDaysText(found, span, before) };
}

/** `analytics-us · compute +55.1 (+€19.29, ×3.1)` */
export function moverText({ name, kind, delta, money, relative }: Mover): string {
  const change = relative === null ? null : changeText(relative);
  const note = kind === 'changed' ? change : kind === 'new' ? 'new' : 'gone';
  return `${name} ${signedFigure(delta)}${bracketed(money && signedMoneyText(money), note)}`;
}

export function revisedLines(
  posted: readonly PostedDay[],
  states: readonly DayState[],
  minimum: Micro,
): readonly string[] {
  return revisions(posted, states, minimum).map((revision) => {
    const { day, price, posted: was, final, relative, delta } = revision;
    const change = relative === null ? signedFigure(delta) : changeText(relative);
    const money = [was, final].map((micro) => moneyOf([[price, micro]]));
    const inMoney = money.map((each) => each && moneyText(each)).join(' → ');
    const notes = bracketed(price ? inMoney : null, change);
    return `${formatDay(day)}: ${figure(was)} → ${figure(final)}${notes}`;
  });
}

/** The costs by service: the day, the same weekday of the previous week, 7 days, the month. */
export function serviceTable(rows: readonly CostRow[], day: Day): AnswerPart {
  const sums = (span: Span) =>
    new Map(sumBy(rows, 'service', span).map((line) => [line.key, line]));
  const weekday = addDays(day, -WEEK);
  const now = sums({ first: day, last: day });
  const before = sums({ first: weekday, last: weekday });
  const week = sums({ first: addDays(day, 1 - WEEK), last: day });
  const month = sumBy(rows, 'service', { first: startOf('month', day), last: day });
  const cell = (of: ReadonlyMap<string, SummaryLine>, key: string) => {
    const line = of.get(key);
    return line ? figureCell(line.total, line.money) : null;
  };
  return {
    kind: 'table',
    columns: ['Service', formatDay(day), formatDay(weekday), '7 days', 'Month', 'Share of month'],
    rows: month.map(({ key, name, total, money, share }) => [
      name,
      cell(now, key),
      cell(before, key),
      cell(week, key),
      figureCell(total, money),
      share === null ? null : { value: share, text: shareText(share) },
    ]),
  };
}
