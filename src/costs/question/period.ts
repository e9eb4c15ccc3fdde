import { formatSpan, lengthOf, type Span, type Unit } from '../../base/calendar.ts';
import type { Day } from '../../base/time.ts';
import { nearestForms } from './period-forms.ts';
import {
  LONGEST_DAYS,
  type PeriodDraft,
  type PeriodProblem,
  parsePeriod,
} from './period-grammar.ts';

/** A remark about a period. */
type PeriodNote =
  /** It contains today, which is incomplete. */
  | 'so-far'
  /** The requested end is in the future; the period ends today. */
  | 'cut-to-today';

export interface Period extends Span {
  /** The period as text, without "UTC". Its days are UTC days. */
  readonly label: string;
  readonly notes: readonly PeriodNote[];
  /** Selects the previous period: whole weeks for days, or the previous month, quarter or year. */
  readonly unit: Unit;
  /** Only the last final day of the period is requested; the rows show which day that is. */
  readonly lastFinalOnly: boolean;
}

export type PeriodReading =
  | { readonly ok: true; readonly period: Period }
  /** `nearest`: at most three valid suggestions, the best first. */
  | { readonly ok: false; readonly problem: PeriodProblem; readonly nearest: readonly string[] };

/**
 * Reads one word as a period: its UTC days, both ends included, as of the UTC day `today`.
 *
 * Periods of whole days (`7d`, `4w`, `mtd`, `a..`) end yesterday; on the first day of a week, month,
 * quarter or year, the current one is today only. A period with a future end ends today. At most 400
 * days. An unknown word is never guessed; the refusal has suggestions. Source: docs/costs.md#periods.
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

/** Resolves `final` to the last final day; null if no day of the period is final. */
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
  const label = lastFinalOnly ? 'last final day' : formatSpan(span, today);
  return { ...span, label, notes, unit, lastFinalOnly };
}

function refused(problem: PeriodProblem, word: string, today: Day): PeriodReading {
  return { ok: false, problem, nearest: nearestForms(word, today) };
}
