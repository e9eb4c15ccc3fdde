import type { Span } from '../costs/calendar/calendar.ts';
import type { Day } from '../costs/calendar/day.ts';
import { daysLabel } from '../costs/calendar/span-label.ts';
import { dayCountsOf } from '../costs/comparison/standing.ts';
import type { CostGap, CostReading } from '../costs/ledger/costs-read.ts';
import type { DayState } from '../costs/ledger/ledger.ts';
import { creditsText, shareText } from '../costs/ledger/numbers.ts';
import { mergedProblems, problemText } from '../costs/ledger/report-problem.ts';
import type { Answer, AnswerPart } from '../intent/answers/answer.ts';
import { utcStamp } from '../intent/answers/texts.ts';

/** `1–19 Nov (UTC) · 4,182.6 credits so far`. Missing days are reported by `notFinalText`. */
export function headline(label: string, states: readonly DayState[], span: Span): string {
  const { total, preliminaryDays } = dayCountsOf(states, span);
  return `${label} (UTC) · ${creditsText(total)}${preliminaryDays > 0 ? ' so far' : ''}`;
}

/** How many days are not final or missing; null if all days are final. */
export function notFinalText(states: readonly DayState[], span: Span, today: Day): string | null {
  const { days, preliminaryDays, share, missing } = dayCountsOf(states, span);
  const part =
    share === null || preliminaryDays === days ? '' : ` (${shareText(share)} of the credits)`;
  const open = preliminaryDays > 0 ? [`${notFinal(preliminaryDays, days)}${part}.`] : [];
  const none =
    missing.length > 0 ? [`No data for ${daysLabel(missing, today)}; not in the totals.`] : [];
  return [...open, ...none].join(' ') || null;
}

function notFinal(open: number, days: number): string {
  if (days === 1) return 'This day is not final yet';
  if (open === days) return `None of the ${days} days is final yet`;
  return `${open} of ${days} days ${open === 1 ? 'is' : 'are'} not final`;
}

/**
 * The age of the figures, the missing months and the inconsistencies of the report. `shownReason`:
 * a reason that the message shows already, and that the footer leaves out.
 */
export function footer(
  { fetchedAt, problems, gaps }: CostReading,
  shownReason: string | null = null,
): string {
  const age = fetchedAt ? `Fetched ${utcStamp(fetchedAt)}` : 'Nothing could be fetched';
  const alike = Map.groupBy(gaps, ({ why, from }) => `${from?.toISOString() ?? ''} ${why}`);
  const missing = [...alike.values()].map((each) => gapText(each, shownReason));
  return [age, ...missing, ...mergedProblems(problems).map(problemText)].join(' · ');
}

/** One text for all months with the same reason and age. */
function gapText(alike: readonly CostGap[], shownReason: string | null): string {
  const [{ why, from } = { why: '', from: null }] = alike;
  const months = `${alike.map(({ month }) => month).join(', ')} ${alike.length > 1 ? 'are' : 'is'}`;
  if (from === null) return `${months} missing${why === shownReason ? '' : `: ${why}`}`;
  const reason = why === shownReason ? '' : `: the report cannot be read now (${why})`;
  return `${months} from ${utcStamp(from)}${reason}`;
}

/** The answer if there is no row at all: the reason, and no figures. */
export function noDataAnswer(label: string, read: CostReading): Answer {
  const [gap] = read.gaps;
  const text = gap ? unreadText(gap) : 'The usage report has no data for these days.';
  const parts: readonly AnswerPart[] = [
    { kind: 'text', text },
    { kind: 'note', text: footer(read, gap?.why) },
  ];
  return { title: `${label} (UTC)`, parts };
}

function unreadText({ why, denied }: CostGap): string {
  const now = denied ? '' : ' now';
  const help = denied ? 'An operator of Signalbox must fix the API key.' : 'Try again in a minute.';
  return `The usage report cannot be read${now}: ${withoutStop(why)}. ${help}`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}
