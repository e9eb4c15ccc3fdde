import { lengthOf, type Span } from '../costs/calendar.ts';
import { compare } from '../costs/comparison.ts';
import { seriesOf } from '../costs/daily.ts';
import type { Day } from '../costs/day.ts';
import { type By, isOfTime } from '../costs/grouping.ts';
import { type DayState, dayStates } from '../costs/ledger.ts';
import { changeText, creditsText, figure, shareText, signedFigure } from '../costs/numbers.ts';
import { paired, type Unpaired } from '../costs/pairing.ts';
import type { CostGap, CostsRead } from '../costs/read.ts';
import { mergedProblems, problemText } from '../costs/report-problem.ts';
import { type CostRow, creditsOf, type Micro } from '../costs/row.ts';
import { spanLabel } from '../costs/span-label.ts';
import { standing } from '../costs/standing.ts';
import { type Line, sumBy } from '../costs/summary.ts';
import type { Answer, Figure, Part } from '../intent/answer.ts';

const POINTS_MAX = 20;

export function figureCell(micro: number): Figure {
  return { value: creditsOf(micro), text: figure(micro) };
}

/** `1–19 Nov (UTC) · 4,182.6 credits so far` */
export function headline(label: string, states: readonly DayState[], span: Span): string {
  const { total, preliminaryDays, missing } = standing(states, span);
  const open = preliminaryDays + missing.length > 0;
  return `${label} (UTC) · ${creditsText(total)}${open ? ' so far' : ''}`;
}

/** How much of it is final; nothing is said where all of it is. */
export function openText(states: readonly DayState[], span: Span): string | null {
  const { days, preliminaryDays, share, missing } = standing(states, span);
  const part = share === null ? '' : ` (${shareText(share)} of the credits)`;
  const open =
    preliminaryDays > 0 ? [`${preliminaryDays} of ${days} days${part} are not final`] : [];
  const none =
    missing.length > 0
      ? [`${missing.length} ${missing.length === 1 ? 'day' : 'days'} without any data`]
      : [];
  const said = [...open, ...none].join(', ');
  return said === '' ? null : `${said}.`;
}

/** One sentence of comparison, on the days that are final in both, or why nothing compares. */
export function comparedText(
  rows: readonly CostRow[],
  now: Span,
  before: Span,
  today: Day,
): string {
  const comparison = compare(seriesOf(rows, {}, spanOfBoth(now, before)), now, before);
  if (!comparison.ok) return INCOMPARABLE[comparison.why];
  const { delta, relative, days, before: was } = comparison;
  const change = relative === null ? signedFigure(delta) : changeText(relative);
  const part = pairedText(days, now, before);
  return `${change} against ${spanLabel(before, today)} (${figure(was)})${part}.`;
}

/** On how many days two spans are held against each other; nothing where that is all of both. */
export function pairedText(days: number, now: Span, before: Span): string {
  if (days === Math.max(lengthOf(now), lengthOf(before))) return '';
  return `, on ${days} ${days === 1 ? 'day that is' : 'days that are'} final in both`;
}

const INCOMPARABLE: Readonly<Record<Unpaired, string>> = {
  'unequal-lengths': 'These periods do not compare: one is longer.',
  'unequal-weekdays': 'These periods do not compare: they have other weekdays.',
  'no-common-final-days': 'These periods do not compare yet: no day is final in both.',
};

function spanOfBoth(now: Span, before: Span): Span {
  return {
    first: before.first < now.first ? before.first : now.first,
    last: before.last > now.last ? before.last : now.last,
  };
}

/** What a line costs more or less, in millionths of a credit. */
export interface LineChange {
  readonly delta: Micro;
  /** No row at all on the days before: all that it costs is more. */
  readonly isNew: boolean;
}

/**
 * What each line costs more or less on the days that are final in both, so that the changes add up
 * to what the headline says. Null where nothing compares, and for days, weeks and months, of which
 * none is in both.
 */
export function changesBy(
  rows: readonly CostRow[],
  by: By,
  now: Span,
  before: Span,
): ReadonlyMap<string, LineChange> | null {
  if (isOfTime(by)) return null;
  const series = seriesOf(rows, {}, spanOfBoth(now, before));
  const final = new Set(series.filter((value) => value.final).map(({ day }) => day));
  const pairing = paired(now, before, (day) => final.has(day));
  if (!pairing.ok) return null;
  const on = (days: readonly Day[]) => {
    const among = new Set(days);
    return rows.filter(({ day }) => among.has(day));
  };
  const changes = new Map<string, LineChange>();
  for (const { key, total } of sumBy(on(pairing.pairs.map((pair) => pair.now)), by, now)) {
    changes.set(key, { delta: total, isNew: true });
  }
  for (const { key, total } of sumBy(on(pairing.pairs.map((pair) => pair.before)), by, before)) {
    changes.set(key, { delta: (changes.get(key)?.delta ?? 0) - total, isNew: false });
  }
  return changes;
}

/** Days as they are while they fit, else weeks or months; what can still change has a mark. */
export function chartPart(rows: readonly CostRow[], span: Span): Part | null {
  const states = dayStates(rows, span).filter(({ state }) => state !== 'no-data');
  if (states.length < 2) return null;
  const points = pointsOf(rows, span, states);
  const unit = points.some(({ label }) => label.endsWith('*')) ? 'credits, * not final' : 'credits';
  return { kind: 'chart', title: 'Credits', unit, points };
}

function pointsOf(rows: readonly CostRow[], span: Span, states: readonly DayState[]) {
  const open = new Set(states.filter(({ state }) => state !== 'final').map(({ day }) => day));
  const marked = (label: string, isOpen: boolean) => `${label}${isOpen ? '*' : ''}`;
  if (states.length <= POINTS_MAX) {
    return states.map(({ day, total }) => ({
      label: marked(day.slice(5), open.has(day)),
      value: creditsOf(total),
    }));
  }
  const by = states.length <= POINTS_MAX * 7 ? 'week' : 'month';
  return sumBy(rows, by, span).map(({ key, total, preliminary }) => ({
    label: marked(by === 'week' ? `w ${key.slice(5)}` : key, preliminary !== 0),
    value: creditsOf(total),
  }));
}

/** Credits, share and, where two spans compare, the change of each line. */
export function tablePart(
  heading: string,
  lines: readonly Line[],
  changes: ReadonlyMap<string, LineChange> | null,
): Part {
  const keys = new Set(lines.map(({ key }) => key));
  const others = [...(changes ?? [])].reduce(
    (sum, [key, { delta }]) => (keys.has(key) ? sum : sum + delta),
    0,
  );
  const rest = { delta: others, isNew: false };
  const changeOf = (key: string) => (key === 'other' ? rest : changes?.get(key));
  const columns = [heading, 'Credits', 'Share', ...(changes ? ['Change'] : [])];
  const rows = lines.map(({ key, name, total, share, preliminary }) => [
    `${name}${preliminary !== 0 ? ' *' : ''}`,
    figureCell(total),
    share === null ? null : { value: share, text: shareText(share) },
    ...(changes ? [changeCell(changeOf(key))] : []),
  ]);
  return { kind: 'table', columns, rows };
}

/** None where no day of the line is final in both. */
function changeCell(change: LineChange | undefined): Figure | null {
  if (!change) return null;
  const text = signedFigure(change.delta);
  return { value: creditsOf(change.delta), text: change.isNew ? `${text} (new)` : text };
}

/**
 * What a reader must know of the figures: their age, what is missing, what does not add up. A
 * reason that stands above them already, `toldWhy`, is not said again.
 */
export function footer(
  { fetchedAt, problems, gaps }: CostsRead,
  toldWhy: string | null = null,
): string {
  const age = fetchedAt ? `Fetched ${stamp(fetchedAt)}` : 'Nothing could be fetched';
  const alike = Map.groupBy(gaps, ({ why, from }) => `${from?.toISOString() ?? ''} ${why}`);
  const missing = [...alike.values()].map((each) => gapText(each, toldWhy));
  return [age, ...missing, ...mergedProblems(problems).map(problemText)].join(' · ');
}

/** Months that share a reason and an age are told together. */
function gapText(alike: readonly CostGap[], toldWhy: string | null): string {
  const [{ why, from } = { why: '', from: null }] = alike;
  const months = `${alike.map(({ month }) => month).join(', ')} ${alike.length > 1 ? 'are' : 'is'}`;
  if (from === null) return `${months} missing${why === toldWhy ? '' : `: ${why}`}`;
  const reason = why === toldWhy ? '' : `, for the report cannot be read now (${why})`;
  return `${months} from ${stamp(from)}${reason}`;
}

function stamp(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

/** Without a single row there is nothing to sum: the reason is said in its place. */
export function nothingRead(label: string, read: CostsRead): Answer {
  const [gap] = read.gaps;
  const text = gap ? unreadText(gap) : 'The usage report has no data for these days.';
  const parts: readonly Part[] = [
    { kind: 'text', text },
    { kind: 'note', text: footer(read, gap?.why) },
  ];
  return { title: `${label} (UTC)`, parts };
}

function unreadText({ why, denied }: CostGap): string {
  const now = denied ? '' : ' just now';
  const help = denied
    ? 'Whoever looks after Signalbox has to see to that key.'
    : 'Try again in a minute.';
  return `The usage report cannot be read${now}: ${withoutStop(why)}. ${help}`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
