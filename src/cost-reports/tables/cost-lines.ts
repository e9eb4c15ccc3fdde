import { lengthOf } from '../../base/calendar.ts';
import type { Mover } from '../../maths/compare.ts';
import type { DayState } from '../../maths/days.ts';
import { isOfTime, OTHER_LINES, onCalendar, type SummaryLine, sumBy } from '../../maths/lines.ts';
import { type Money, moneySum } from '../../maths/money.ts';
import type { CostQuestion } from '../../maths/question.ts';
import type { CostRow } from '../../maths/rows.ts';

/** The change of one line, or of several together. */
export type LineChange = Pick<Mover, 'delta' | 'money' | 'kind'>;
/** The change of each line; null without two compared periods. */
export type LineChanges = ReadonlyMap<string, Mover> | null;

/** What one table of a message may have: fewer rows and characters than Slack allows. */
const ROWS_MAX = 150;
const TEXT_MAX = 8_500;

type LineQuestion = Pick<CostQuestion, 'by' | 'period' | 'top'>;

/**
 * The lines of a table with one grouping. The lines that do not fit are one line, so that the table
 * adds up to its total. `rows`: with those of the compared days, if there are changes.
 */
export function linesOf(
  question: LineQuestion,
  rows: readonly CostRow[],
  states: readonly DayState[],
  changes: LineChanges,
): readonly SummaryLine[] {
  const { by, period, top } = question;
  if (isOfTime(by)) {
    const lines = onCalendar(sumBy(rows, by, period, top), states, by);
    const left = lines.length - fittingLines(lines.toReversed(), changes);
    if (left === 0 || top !== null) return lines;
    const earlier = combined(lines.slice(0, left), {
      key: 'earlier',
      name: `${left} earlier ${by}s`,
    });
    return [earlier, ...lines.slice(left)];
  }
  const all = withVanished(sumBy(rows, by, period), changes, lengthOf(period));
  const most = Math.min(top ?? all.length, fittingLines(all, changes));
  if (all.length <= most) return all;
  const others = all.slice(most);
  const name = `Other (${others.length})`;
  return [...all.slice(0, most), combined(others, { key: OTHER_LINES, name })];
}

/** How many of the first lines fit into a table. */
function fittingLines(lines: readonly SummaryLine[], changes: LineChanges): number {
  const figures = figuresLength(lines, changes);
  let size = 0;
  const end = lines.findIndex(({ name }, index) => {
    size += name.length + figures;
    return index >= ROWS_MAX || size > TEXT_MAX;
  });
  return end < 0 ? lines.length : end;
}

/** The most characters of the figures of a row: credits and share, and their changes, in money as well. */
function figuresLength(lines: readonly SummaryLine[], changes: LineChanges): number {
  const money = lines.some((line) => line.money !== null) ? 16 : 0;
  return 20 + money + (changes ? 20 + money : 0);
}

/** With the lines that have costs on the compared days only: they cost 0 now. */
function withVanished(
  lines: readonly SummaryLine[],
  changes: LineChanges,
  days: number,
): readonly SummaryLine[] {
  if (changes === null) return lines;
  const known = new Set(lines.map(({ key }) => key));
  const nothing = { total: 0, money: null, share: 0, days, preliminary: 0, isOpen: false };
  const vanished = [...changes.values()].filter(({ key }) => !known.has(key));
  return [...lines, ...vanished.map(({ key, name }) => ({ key, name, ...nothing }))];
}

/** One line for several. */
export function combined(
  lines: readonly SummaryLine[],
  { key, name }: Pick<SummaryLine, 'key' | 'name'>,
): SummaryLine {
  const sum = (of: 'total' | 'preliminary') => lines.reduce((all, line) => all + line[of], 0);
  const shares = lines.flatMap(({ share }) => share ?? []);
  return {
    key,
    name,
    total: sum('total'),
    money: moneyOfLines(lines),
    share: shares.length > 0 ? shares.reduce((all, share) => all + share, 0) : null,
    days: Math.max(...lines.map(({ days }) => days)),
    preliminary: sum('preliminary'),
    isOpen: lines.some(({ isOpen }) => isOpen),
  };
}

/** A line without credits needs no price; one whose refunds add up to 0 may have money. */
function moneyOfLines(lines: readonly Pick<SummaryLine, 'total' | 'money'>[]): Money | null {
  return moneySum(lines.map(({ money, total }) => money ?? (total === 0 ? undefined : null)));
}

/** The change of several lines together; undefined if none of them can be compared. */
export function combinedChange(
  changes: readonly (LineChange | undefined)[],
): LineChange | undefined {
  const known = changes.filter((change) => change !== undefined);
  if (known.length === 0) return undefined;
  const delta = known.reduce((sum, change) => sum + change.delta, 0);
  return { delta, money: moneySum(known.map(({ money }) => money)), kind: 'changed' };
}
