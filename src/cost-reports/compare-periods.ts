import { lengthOf, type Span } from '../costs/calendar/calendar.ts';
import type { Day } from '../costs/calendar/day.ts';
import { spanLabel } from '../costs/calendar/span-label.ts';
import { type Comparison, compare } from '../costs/comparison/comparison.ts';
import { paired, type Unpaired } from '../costs/comparison/pairing.ts';
import { dayAgainst } from '../costs/comparison/standing.ts';
import { seriesOf } from '../costs/ledger/daily.ts';
import { type By, isOfTime } from '../costs/ledger/grouping.ts';
import type { RowSelector } from '../costs/ledger/ledger.ts';
import { changeText, figure, signedFigure } from '../costs/ledger/numbers.ts';
import { type CostRow, type DayValue, type Micro, microOf } from '../costs/ledger/row.ts';
import { sumBy } from '../costs/ledger/summary.ts';
import { countWords } from '../intent/answers/counted.ts';

/** Two spans that are held against each other, and what each day of both came to. */
export interface Held {
  readonly now: Span;
  readonly before: Span;
  readonly series: readonly DayValue[];
}

/** All rows, of which the selector takes its own: a day is as final as all of them. */
export function heldOf(
  rows: readonly CostRow[],
  selector: RowSelector,
  now: Span,
  before: Span,
): Held {
  const first = before.first < now.first ? before.first : now.first;
  const last = before.last > now.last ? before.last : now.last;
  return { now, before, series: seriesOf(rows, selector, { first, last }) };
}

/** One sentence of comparison, on the days that are final in both, or why nothing compares. */
export function comparedText(held: Held, today: Day): string {
  const { now, before, series } = held;
  const comparison = compare(series, now, before);
  if (!comparison.ok) return alreadyAbove(held, today) ?? INCOMPARABLE[comparison.why];
  const weekdays = comparison.sameWeekdays ? '' : ' Their weekdays differ.';
  return `${changeOf(comparison)} against ${sumsText(comparison, held, today)}.${weekdays}`;
}

type Compared = Extract<Comparison, { ok: true }>;

function changeOf({ delta, relative }: Compared): string {
  return relative === null ? signedFigure(delta) : changeText(relative);
}

/** Where only some of the days count, both sums are told: neither is that of the headline. */
function sumsText({ days, now: is, before: was }: Compared, held: Held, today: Day): string {
  const label = spanLabel(held.before, today);
  const part = pairedText(days, held.now, held.before);
  return part === ''
    ? `${label} (${figure(was)})`
    : `${label}${part}: ${figure(is)}, was ${figure(was)}`;
}

/** On how many days two spans are held against each other; nothing where that is all of both. */
export function pairedText(days: number, now: Span, before: Span): string {
  if (days === Math.max(lengthOf(now), lengthOf(before))) return '';
  return `, on ${countWords(days, 'day that is', 'days that are')} final in both`;
}

const INCOMPARABLE: Readonly<Record<Unpaired, string>> = {
  'unequal-lengths': 'These periods do not compare: one is longer.',
  'unequal-weekdays': 'These periods do not compare: they have other weekdays.',
  'no-common-final-days': 'These periods do not compare yet: no day is final in both.',
};

/** Of a single day an increase is told before it is final. Source: docs/costs.md#single-days. */
function alreadyAbove({ now, before, series }: Held, today: Day): string | null {
  const on = (wanted: Day) => series.find(({ day }) => day === wanted);
  const [is, was] = [on(now.first), on(before.first)];
  if (lengthOf(now) !== 1 || lengthOf(before) !== 1 || !is || !was?.final) return null;
  const verdict = dayAgainst(is, was.value);
  if (verdict.state !== 'already-above') return null;
  const sum = figure(microOf(was.value));
  return `Already ${signedFigure(verdict.delta)} against ${spanLabel(before, today)} (${sum}).`;
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
  { now, before, series }: Held,
): ReadonlyMap<string, LineChange> | null {
  if (isOfTime(by)) return null;
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
