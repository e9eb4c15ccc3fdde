import type { Span } from '../costs/calendar/calendar.ts';
import type { Day } from '../costs/calendar/day.ts';
import { daysLabel } from '../costs/calendar/span-label.ts';
import { standing } from '../costs/comparison/standing.ts';
import type { CostGap, CostsRead } from '../costs/ledger/costs-read.ts';
import type { DayState } from '../costs/ledger/ledger.ts';
import { creditsText, shareText } from '../costs/ledger/numbers.ts';
import { mergedProblems, problemText } from '../costs/ledger/report-problem.ts';
import type { Answer, AnswerPart } from '../intent/answers/answer.ts';

/** `1–19 Nov (UTC) · 4,182.6 credits so far`; what is missing is another matter, and said below. */
export function headline(label: string, states: readonly DayState[], span: Span): string {
  const { total, preliminaryDays } = standing(states, span);
  return `${label} (UTC) · ${creditsText(total)}${preliminaryDays > 0 ? ' so far' : ''}`;
}

/** How much of it is final and which days are missing; nothing where all is final and there. */
export function openText(states: readonly DayState[], span: Span, today: Day): string | null {
  const { days, preliminaryDays, share, missing } = standing(states, span);
  const part =
    share === null || preliminaryDays === days ? '' : ` (${shareText(share)} of the credits)`;
  const open = preliminaryDays > 0 ? [`${notFinal(preliminaryDays, days)}${part}.`] : [];
  const none =
    missing.length > 0 ? [`No data for ${daysLabel(missing, today)}: not in the sums.`] : [];
  const said = [...open, ...none].join(' ');
  return said === '' ? null : said;
}

function notFinal(open: number, days: number): string {
  if (days === 1) return 'This day is not final yet';
  if (open === days) return `None of the ${days} days is final yet`;
  return `${open} of ${days} days ${open === 1 ? 'is' : 'are'} not final`;
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
  const parts: readonly AnswerPart[] = [
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
