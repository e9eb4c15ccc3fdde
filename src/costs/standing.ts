/** How complete the figures of a period are, and the notes and answers that say so. */
import { formatDays, lengthOf, type Span, within } from '../base/calendar.ts';
import type { Day } from '../base/time.ts';
import { type Answer, type AnswerPart, countWords, utcStamp } from '../domain/answer.ts';
import { usualRange } from '../maths/anomalies.ts';
import type { DayState } from '../maths/days.ts';
import type { Forecast } from '../maths/forecast.ts';
import { type Money, moneyOf, roughMoneyText } from '../maths/money.ts';
import { creditsText, roundedFigure } from '../maths/numbers.ts';
import { type CostGap, type CostReading, mergeProblems, problemText } from '../maths/report.ts';
import type { DayValue } from '../maths/rows.ts';

/** The total of a span, the days that can still change, and those without data, which no sum includes. Source: docs/costs.md#standing. */
export function dayCountsOf(states: readonly DayState[], span: Span) {
  const own = within(states, span);
  const those = (wanted: DayState['state']) =>
    own.filter(({ state }) => state === wanted).map(({ day }) => day);
  return {
    total: own.reduce((sum, { total }) => sum + total, 0),
    money: moneyOf(own.map((state) => [state.price, state.total])),
    open: those('preliminary'),
    missing: those('no-data'),
  };
}

/** `1–19 Nov (UTC): 4,182.6 credits (€1,463.91) so far`. Missing days are reported by `notFinalText`. */
export function headline(label: string, states: readonly DayState[], span: Span): string {
  const { total, money, open, missing } = dayCountsOf(states, span);
  if (missing.length === lengthOf(span)) return `${label} (UTC): no data`;
  return `${label} (UTC): ${creditsText(total, money)}${open.length > 0 ? ' so far' : ''}`;
}

/** `not final 12–13, 16–26 Nov`, `no data for Sun 11 Oct`. */
export function openDaysTexts(
  states: readonly DayState[],
  span: Span,
  { today, final = false }: { readonly today: Day; readonly final?: boolean },
): readonly string[] {
  const { open, missing } = dayCountsOf(states, span);
  return [
    ...(open.length > 0 ? [`not final ${formatDays(open, today)}`] : []),
    ...(missing.length > 0
      ? [`${final ? 'not final or ' : ''}no data for ${formatDays(missing, today)}`]
      : []),
  ];
}

/**
 * The age of the figures, the missing months and the
 * inconsistencies of the report, and then `more`. `shownReason`: a reason that the message shows
 * already, and that the footer leaves out.
 */
export function footerPart(
  { fetchedAt, problems, gaps }: CostReading,
  shownReason: string | null = null,
  more: readonly string[] = [],
): AnswerPart & { kind: 'note' } {
  const alike = Map.groupBy(gaps, ({ why, from, organization }) =>
    [from?.toISOString(), organization, why].join(' '),
  );
  const texts = [
    fetchedAt ? null : 'Nothing could be fetched',
    ...[...alike.values()].map((each) => gapText(each, shownReason)),
    ...mergeProblems(problems).map(problemText),
    ...more,
  ];
  const text = texts.filter((each) => each !== null).join(' · ');
  return { kind: 'note', text, asOf: fetchedAt };
}

/** One text for all months of an organization with the same reason and age. */
function gapText(alike: readonly CostGap[], shownReason: string | null): string {
  const [{ why, from, organization } = { why: '', from: null }] = alike;
  const of = organization ? `${organization} ` : '';
  const months = `${of}${alike.map(({ month }) => month).join(', ')} ${alike.length > 1 ? 'are' : 'is'}`;
  if (from === null) return `${months} missing${why === shownReason ? '' : `: ${why}`}`;
  const reason = why === shownReason ? '' : `: the report cannot be read now (${why})`;
  return `${months} from ${utcStamp(from)}${reason}`;
}

/** The answer if there is no row at all: the reason, and no figures. */
export function noDataAnswer(label: string, read: CostReading, final = false, more = ''): Answer {
  const [gap] = read.gaps;
  const none = final
    ? 'None of these days is final.'
    : 'The usage report has no data for these days.';
  const text = `${gap ? unreadText(gap) : none}${more}`;
  const parts: readonly AnswerPart[] = [{ kind: 'text', text }, footerPart(read, gap?.why)];
  return { title: `${label} (UTC)`, parts };
}

function unreadText({ why, denied }: CostGap): string {
  const now = denied ? '' : ' now';
  const help = denied ? 'An operator of Signalbox must fix the API key.' : 'Try again in a minute.';
  return `The usage report cannot be read${now}: ${why.replace(/\.$/, '')}. ${help}`;
}

export function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
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

export type KnownForecast = Forecast & { ok: true };

/** `8,074`; a wide range replaces the point: `3,858–9,854`. */
export function pointText({ total, low, high, isWide }: KnownForecast): string {
  return isWide ? rangeText(low, high) : roundedCredits(total);
}

/** `heading for 8,074 credits (7,800–8,350) · €2,826`, or with a wide range `heading for 3,858–9,854 credits`. */
export function forecastText(forecast: KnownForecast, money: Money | null): string {
  const { low, high, isWide } = forecast;
  const point = `heading for ${pointText(forecast)} credits`;
  if (isWide) return point;
  return `${point} (${rangeText(low, high)})${money ? ` · ${roughMoneyText(money)}` : ''}`;
}

export function noForecastText({ why, days }: Forecast & { ok: false }): string {
  return why === 'too-few-days'
    ? `Only ${countWords(days, 'day is', 'days are')} known. A forecast needs 3.`
    : 'The last known day is too long ago.';
}

/** `as usual`, `above the usual 233–310`, `more by your changes`; null while it is not known. */
export function usualText(
  series: readonly DayValue[],
  day: Day,
  isExplained: boolean,
): string | null {
  const own = series.find((one) => one.day === day);
  const usual = own && usualRange(series, own);
  if (!own || !usual) return null;
  // Of a day that was seen once, only a cost that is above usual already is known.
  if (usual.side === 'within') return isJudged(own) ? 'as usual' : null;
  if (isExplained) return `${usual.side === 'above' ? 'more' : 'less'} by your changes`;
  return `${usual.side} the usual ${rangeText(usual.low, usual.high)}`;
}

export function isJudged({ final, openDay }: DayValue): boolean {
  return final || (openDay?.completeness ?? null) !== null;
}
