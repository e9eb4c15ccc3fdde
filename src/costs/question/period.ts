import { lengthOf, type Span, type Unit } from '../calendar/calendar.ts';
import type { Day } from '../calendar/day.ts';
import { spanLabel } from '../calendar/span-label.ts';
import { nearestForms } from './period-forms.ts';
import {
  LONGEST_DAYS,
  type PeriodDraft,
  type PeriodProblem,
  parsePeriod,
} from './period-grammar.ts';

/** What people should know of a period beside its days. */
export type PeriodNote =
  /** Today is in it, and today has only begun. */
  | 'so-far'
  /** It was asked to end later than today, and ends today. */
  | 'cut-to-today';

export interface Period extends Span {
  /** As people say it, without the words "UTC"; its days are UTC days nonetheless. */
  readonly label: string;
  readonly notes: readonly PeriodNote[];
  /** What the period before it is: a span of days in whole weeks, or the month, quarter, year. */
  readonly unit: Unit;
  /** Only the latest final day of it is meant, which is known once the rows are. */
  readonly lastFinalOnly: boolean;
}

export type PeriodReading =
  | { readonly ok: true; readonly period: Period }
  /** `nearest`: accepted words that may have been meant, three at most, the likeliest first. */
  | { readonly ok: false; readonly problem: PeriodProblem; readonly nearest: readonly string[] };

/**
 * One word for a period → its UTC days, both ends included, as of the UTC day `today`.
 *
 * Periods of whole days (`7d`, `4w`, `mtd`, `a..`) end yesterday; on the very first day of a week,
 * month, quarter or year there is no yesterday in it, and it is today so far. One that is asked to
 * end in the future ends today. At most 400 days. A word that is not understood is never guessed:
 * the nearest accepted forms come with the refusal. Source: docs/costs.md#periods.
 */
export function readPeriod(text: string, today: Day): PeriodReading {
  const word = text.trim().toLowerCase();
  const read = parsePeriod(word, today);
  if (typeof read === 'string') return refused(read, word, today);
  if (read.first > today) return refused('in-the-future', word, today);

  const last = read.last > today ? today : read.last;
  if (lengthOf({ first: read.first, last }) > LONGEST_DAYS) return refused('too-long', word, today);
  return { ok: true, period: periodOf(read, today) };
}

/** Once the rows are there, `final` is one day of them; null where none of its days is final. */
export function finalPeriod(period: Period, lastFinal: Day | null, today: Day): Period | null {
  if (!period.lastFinalOnly) return period;
  if (lastFinal === null || lastFinal < period.first || lastFinal > period.last) return null;
  return periodOf({ first: lastFinal, last: lastFinal }, today);
}

function periodOf(draft: PeriodDraft, today: Day): Period {
  const last = draft.last > today ? today : draft.last;
  const span = { first: draft.first, last };
  const notes: PeriodNote[] = [];
  if (draft.last > today) notes.push('cut-to-today');
  if (last === today) notes.push('so-far');
  const { unit = 'day', lastFinalOnly = false } = draft;
  const label = lastFinalOnly ? 'last final day' : spanLabel(span, today);
  return { ...span, label, notes, unit, lastFinalOnly };
}

function refused(problem: PeriodProblem, word: string, today: Day): PeriodReading {
  return { ok: false, problem, nearest: nearestForms(word, today) };
}
