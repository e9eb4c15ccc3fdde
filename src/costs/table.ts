import { dayOfMonth, formatSpan, isDay, lengthOf, type Span, within } from '../base/calendar.ts';
import { type Day, dayNumber } from '../base/time.ts';
import type { AnswerPart, Figure } from '../domain/answer.ts';
import type { Mover } from '../maths/compare.ts';
import type { DayState } from '../maths/days.ts';
import {
  type Grouping,
  isOfTime,
  OTHER_LINES,
  onCalendar,
  type SummaryLine,
  sumBy,
} from '../maths/lines.ts';
import { figure, shareText, signedFigure } from '../maths/numbers.ts';
import type { CostQuestion } from '../maths/question.ts';
import { type CostRow, creditsOf, type Micro } from '../maths/rows.ts';
import { capitalized } from './standing.ts';

/** The change of one line, or of several together. */
type LineChange = Pick<Mover, 'delta' | 'kind'>;
/** The change of each line; null without two compared periods. */
type LineChanges = ReadonlyMap<string, Mover> | null;

/** What one table of a message may have: fewer rows and characters than Slack allows. */
const ROWS_MAX = 150;
const TEXT_MAX = 8_500;

interface LineQuestion extends Pick<CostQuestion, 'by' | 'top'> {
  readonly period: Span;
}

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
  const sums = sumBy(rows, by, period);
  const all = isOfTime(by)
    ? onCalendar(sums, states, by)
    : withVanished(sums, changes, lengthOf(period));
  // Of days, weeks and months the last ones fit; `top` has the most expensive ones.
  const isByTime = isOfTime(by) && top === null;
  const ranked = isByTime ? all.toReversed() : all.toSorted((a, b) => b.total - a.total);
  const most = Math.min(top ?? all.length, fittingLines(ranked, changes));
  const shown = ranked.slice(0, most);
  const left = ranked.slice(most);
  const others = left.length > 0 ? [combined(left)] : [];
  return isByTime ? [...others, ...shown.toReversed()] : [...shown, ...others];
}

/** How many of the first lines fit into a table. */
function fittingLines(lines: readonly SummaryLine[], changes: LineChanges): number {
  // The most characters of credits and share, and of a change.
  const figures = changes ? 40 : 20;
  let size = 0;
  const end = lines.findIndex(({ name }, index) => {
    size += name.length + figures;
    return index >= ROWS_MAX || size > TEXT_MAX;
  });
  return end < 0 ? lines.length : end;
}

/** With the lines that have costs on the compared days only: they cost 0 now. */
function withVanished(
  lines: readonly SummaryLine[],
  changes: LineChanges,
  days: number,
): readonly SummaryLine[] {
  if (changes === null) return lines;
  const known = new Set(lines.map(({ key }) => key));
  const nothing = { total: 0, share: 0, days };
  const vanished = [...changes.values()].filter(({ key }) => !known.has(key));
  return [...lines, ...vanished.map(({ key, name }) => ({ key, name, ...nothing }))];
}

/** One line for several. */
function combined(lines: readonly SummaryLine[]): SummaryLine {
  const shares = lines.flatMap(({ share }) => share ?? []);
  return {
    key: OTHER_LINES,
    name: `Other (${lines.length})`,
    total: lines.reduce((all, { total }) => all + total, 0),
    share: shares.length > 0 ? shares.reduce((all, share) => all + share, 0) : null,
    days: Math.max(...lines.map(({ days }) => days)),
  };
}

/** The change of several lines together; undefined if none of them can be compared. */
function combinedChange(changes: readonly LineChange[]): LineChange | undefined {
  if (changes.length === 0) return undefined;
  return { delta: changes.reduce((sum, { delta }) => sum + delta, 0), kind: 'changed' };
}

function figureCell(micro: Micro): Figure {
  return { value: creditsOf(micro), text: figure(micro) };
}

/** Credits, share and, for two compared spans, the change of each line. */
export function tablePart(
  by: Grouping,
  lines: readonly SummaryLine[],
  changes: LineChanges,
): AnswerPart {
  const keys = new Set(lines.map(({ key }) => key));
  const others = [...(changes ?? [])].flatMap(([key, one]) => (keys.has(key) ? [] : [one]));
  const changeOf = (key: string) =>
    key === OTHER_LINES ? combinedChange(others) : changes?.get(key);
  return {
    kind: 'table',
    caption: `Credits by ${by}`,
    columns: [capitalized(by), 'Credits', 'Share', ...(changes ? ['Change'] : [])],
    rows: lines.map((line) => [
      isOfTime(by) ? dateCell(line) : line.name,
      line.days === 0 ? NO_DATA : figureCell(line.total),
      line.share === null ? null : { value: line.share, text: shareText(line.share) },
      ...(changes ? [changeCell(changeOf(line.key))] : []),
    ]),
  };
}

const NO_DATA: Figure = { value: null, text: 'no data' };

/** Days, weeks and months sort by date: by name, April would be the first month. The others sort last. */
function dateCell({ key, name }: SummaryLine): Figure {
  const day = key.length === 7 ? `${key}-01` : key;
  return { value: isDay(day) ? dayNumber(day) : null, text: name };
}

const NOTES = { changed: '', new: ' (new)', vanished: ' (gone)' } as const;

/** Null if no day of the line is final in both spans. */
function changeCell(change: LineChange | undefined): Figure | null {
  if (!change) return null;
  const text = signedFigure(change.delta);
  return { value: creditsOf(change.delta), text: `${text}${NOTES[change.kind]}` };
}

const POINTS_MAX = 20;

/**
 * Bars by day: the last 20 of a longer period, because Slack accepts no more. A day without data has no
 * bar, because Slack needs a number and 0 would mean that the day cost nothing.
 */
export function chartPart(states: readonly DayState[], span: Span, today: Day): AnswerPart | null {
  const whole = within(states, span);
  const own = whole.slice(-POINTS_MAX);
  const known = own.filter(({ state }) => state !== 'no-data');
  const [first] = own;
  if (!first || known.length < 2) return null;
  const part = own.length < whole.length ? `, last ${own.length} of ${whole.length} days` : '';
  return {
    kind: 'chart',
    title: `Credits per day${part}`,
    unit: 'credits',
    axis: `${formatSpan({ first: first.day, last: span.last }, today)} (UTC)`,
    // As short as possible, because Slack hides labels that do not fit. The axis shows the rest.
    points: known.map(({ day, total }) => ({
      label: String(dayOfMonth(day)),
      value: creditsOf(total),
    })),
  };
}
