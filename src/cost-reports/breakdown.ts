import { lengthOf, type Span, startOf } from '../costs/calendar/calendar.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import { type Mover, moversOf } from '../costs/comparison/movers.ts';
import type { DayState } from '../costs/ledger/ledger.ts';
import { changeText, figure, shareText, signedFigure } from '../costs/ledger/numbers.ts';
import { type PostedDay, revisions } from '../costs/ledger/revision.ts';
import type { CostRow, Micro } from '../costs/ledger/row.ts';
import { sumBy } from '../costs/ledger/summary.ts';
import type { RanChange } from '../digests/facts.ts';
import type { AnswerPart } from '../intent/answers/answer.ts';
import { pairedText } from './compare-periods.ts';
import { figureCell } from './cost-table.ts';

const WEEK = 7;
const CHANGES_MAX = 5;

interface MoversWanted {
  readonly minimum: Micro;
  readonly increasesOnly: boolean;
}

export interface MoverLines {
  readonly lines: readonly string[];
  /** On how many days they are held against each other, where that is not all of them. */
  readonly on: string;
}

/** `analytics-us · compute +55.1 (×3.1)`; none while the days are not final. */
export function moverLines(
  rows: readonly CostRow[],
  span: Span,
  before: Span,
  { minimum, increasesOnly }: MoversWanted,
): MoverLines {
  const found = moversOf(rows, span, before, { by: 'entity-metric', minimum });
  if (!found.ok) return { lines: [], on: '' };
  const told = found.movers.filter(({ delta }) => delta > 0 || !increasesOnly);
  return { lines: told.map(moverText), on: pairedText(found.days, span, before) };
}

function moverText({ name, kind, delta, relative }: Mover): string {
  const change = relative === null ? '' : ` (${changeText(relative)})`;
  const news = kind === 'changed' ? change : kind === 'new' ? ' (new)' : ' (gone)';
  return `${name} ${signedFigure(delta)}${news}`;
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

/** The changes that ran on the days in question, the latest first. */
export function changeLines(
  changes: readonly RanChange[],
  { first, last }: Span,
): readonly string[] {
  const own = changes.filter(({ day }) => day >= first && day <= last);
  const shown = own.slice(0, CHANGES_MAX).map(({ day, text }) => `${text}, ${dayLabel(day)}`);
  const more = own.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

/** Service by service, for the thread: the day, its weekday before, the week and the month. */
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

/** The days before that a span is held against: a week back, or as many days as it has. */
export function spanBefore(span: Span): Span {
  const back = Math.ceil(lengthOf(span) / WEEK) * WEEK;
  return { first: addDays(span.first, -back), last: addDays(span.last, -back) };
}
