/** How complete the figures of a period are, and the notes and answers that say so. */
import { formatDays, type Span, within } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import { type Answer, type AnswerPart, utcStamp } from '../domain/answer.ts';
import type { DayState } from '../maths/days.ts';
import { type Money, moneyOf } from '../maths/money.ts';
import { creditsText, roundedFigure, shareText } from '../maths/numbers.ts';
import { type CostGap, type CostReading, mergeProblems, problemText } from '../maths/report.ts';
import type { Micro } from '../maths/rows.ts';

/** The preliminary and missing days of a span; amounts in millionths of a credit. */
interface DayCounts {
  readonly total: Micro;
  readonly money: Money | null;
  readonly preliminary: Micro;
  /** `preliminary / total`, from 0 to 1; null if the total is 0. */
  readonly share: number | null;
  readonly days: number;
  readonly preliminaryDays: number;
  /** The days without data. No data is not zero: no sum and no average includes them. */
  readonly missing: readonly Day[];
}

/** Counts the days of a span by state. Source: docs/costs.md#standing. */
export function dayCountsOf(states: readonly DayState[], span: Span): DayCounts {
  const own = within(states, span);
  const sum = (key: 'total' | 'preliminary') => own.reduce((all, state) => all + state[key], 0);
  const those = (wanted: DayState['state']) => own.filter(({ state }) => state === wanted);
  const total = sum('total');
  const preliminary = sum('preliminary');
  return {
    total,
    money: moneyOf(own.map((state) => [state.price, state.total])),
    preliminary,
    share: total > 0 ? preliminary / total : null,
    days: own.length,
    preliminaryDays: those('preliminary').length,
    missing: those('no-data').map(({ day }) => day),
  };
}

/** `1–19 Nov (UTC): 4,182.6 credits (€1,463.91) so far`. Missing days are reported by `notFinalText`. */
export function headline(label: string, states: readonly DayState[], span: Span): string {
  const { total, money, preliminaryDays } = dayCountsOf(states, span);
  const open = preliminaryDays > 0 ? ' so far' : '';
  return `${label} (UTC): ${creditsText(total, money)}${open}`;
}

/** `not final 12–13, 16–26 Nov (53% of the credits)`, `no data for Sun 11 Oct, which the totals leave out`. */
export function openDaysTexts(
  states: readonly DayState[],
  span: Span,
  { today, final = false }: { readonly today: Day; readonly final?: boolean },
): readonly string[] {
  const { days, preliminaryDays, share, missing } = dayCountsOf(states, span);
  const open = within(states, span).flatMap((one) => (one.state === 'preliminary' ? one.day : []));
  const part =
    share === null || preliminaryDays === days ? '' : ` (${shareText(share)} of the credits)`;
  return [
    ...(open.length > 0 ? [`not final ${formatDays(open, today)}${part}`] : []),
    ...(missing.length > 0
      ? [
          `${final ? 'not final or ' : ''}no data for ${formatDays(missing, today)}, which the totals leave out`,
        ]
      : []),
  ];
}

/**
 * The age of the figures, the missing months and the
 * inconsistencies of the report, and then `more`. `shownReason`: a reason that the message shows
 * already, and that the footer leaves out.
 */
export function footerPart(
  { fetchedAt, isFinal = false, problems, gaps }: CostReading,
  shownReason: string | null = null,
  more: readonly string[] = [],
): AnswerPart & { kind: 'note' } {
  const alike = Map.groupBy(gaps, ({ why, from }) => `${from?.toISOString() ?? ''} ${why}`);
  const texts = [
    fetchedAt ? null : 'Nothing could be fetched',
    isFinal ? 'final, never fetched again' : null,
    ...[...alike.values()].map((each) => gapText(each, shownReason)),
    ...mergeProblems(problems).map(problemText),
    ...more,
  ];
  const text = texts.filter((each) => each !== null).join(' · ');
  return { kind: 'note', text, asOf: fetchedAt };
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
export function noDataAnswer(label: string, read: CostReading, final = false): Answer {
  const [gap] = read.gaps;
  const none = final ? 'None of these days is final.' : NO_DATA;
  const text = gap ? unreadText(gap) : none;
  const parts: readonly AnswerPart[] = [{ kind: 'text', text }, footerPart(read, gap?.why)];
  return { title: `${label} (UTC)`, parts };
}

const NO_DATA = 'The usage report has no data for these days.';

function unreadText({ why, denied }: CostGap): string {
  const now = denied ? '' : ' now';
  const help = denied ? 'An operator of Signalbox must fix the API key.' : 'Try again in a minute.';
  return `The usage report cannot be read${now}: ${withoutStop(why)}. ${help}`;
}

function withoutStop(sentence: string): string {
  return sentence.replace(/\.$/, '');
}

/** `7,800–8,350`, rounded alike. */
export function rangeText(low: number, high: number): string {
  const isClose = Math.abs(high) < 10 || Math.round(low) === Math.round(high);
  return [low, high].map((end) => roundedFigure(end, isClose)).join('–');
}

/** Credits of a month or longer, without decimals from 10 on. */
export function roundedCredits(credits: number): string {
  return roundedFigure(credits, Math.abs(credits) < 10);
}
