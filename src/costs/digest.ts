/** The text of a digest: its title, its message and the details for the thread. */
import {
  addMonths,
  formatDay,
  formatDays,
  formatSpan,
  lengthOf,
  monthOf,
  monthSpan,
  previousMonth,
  type Span,
  startOf,
  within,
} from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import { type Answer, type AnswerPart, countWords, utcStamp } from '../domain/answer.ts';
import { type Range, usualRange } from '../maths/anomalies.ts';
import { compare, monthToDate, moversOf } from '../maths/compare.ts';
import { type DayState, isSettled, type LockAge, longestWait } from '../maths/days.ts';
import { forecastMoney, forecastMonth } from '../maths/forecast.ts';
import { type SummaryLine, sumBy } from '../maths/lines.ts';
import {
  moneyDifference,
  moneyOf,
  moneyText,
  type PriceList,
  roughMoneyText,
} from '../maths/money.ts';
import {
  bracketed,
  changeText,
  creditsText,
  figure,
  figureNote,
  roundedFigure,
  shareText,
  signedFigure,
} from '../maths/numbers.ts';
import { spanBefore } from '../maths/period.ts';
import { type PostedDay, revisions, unreadMonths } from '../maths/report.ts';
import {
  type CostRow,
  creditsOf,
  type DayValue,
  type Micro,
  microOf,
  moneyOfDay,
} from '../maths/rows.ts';
import { settledDays } from '../maths/statistics.ts';
import { moneyOfWhole, overText } from './budget-answer.ts';
import { changeOf, compareDay, comparisonText, moverText, pairedDaysText } from './comparison.ts';
import type { DigestSection } from './config.ts';
import {
  type AnomalyItem,
  type DigestBudget,
  type DigestFacts,
  type DigestMeasures,
  type ExecutedChange,
  type LastPostedFigures,
  measure,
  toLastPosted,
} from './digest-data.ts';
import { scopeNotes } from './scope.ts';
import { dayCountsOf, footerPart, notFinalText } from './standing.ts';
import { chartPart, figureCell } from './table.ts';

export interface ComposedDigest {
  readonly message: Answer;
  /** The table for the thread; null without rows or without that section. */
  readonly thread: Answer | null;
  /** Whether a quiet digest is posted today. */
  readonly notable: boolean;
  /** The figures that the next digest is compared with; null without data. */
  readonly lastPosted: LastPostedFigures | null;
}

/** One message of at most twelve blocks, and the details for its thread. Source: docs/digests.md#content. */
export function composeDigest(facts: DigestFacts): ComposedDigest {
  const measured = measure(facts);
  if (measured.day === null) return withoutData(facts);
  const { period } = facts.options;
  const covered = period === 'day' && lengthOf(facts.covers) === 1;
  const span = covered ? { first: measured.day.day, last: measured.day.day } : facts.covers;
  const inputs: FindingInputs = { facts, measured, day: measured.day, span };
  const needed = neededAttention(inputs);
  const found = findings(inputs);
  const summary = [needed.normalText, ...comparedLines(inputs)].filter((line) => line !== null);
  const parts: readonly (AnswerPart | null)[] = [
    ...attentionParts(inputs, needed, gapLines(facts)),
    { kind: 'text', text: [summary.join('\n'), ...found.lists].join('\n\n') },
    hasSection(facts, 'chart') ? chartOf(inputs) : null,
    footerOf(facts, openTexts(inputs)),
  ];
  return {
    message: {
      title: digestTitle(inputs, needed),
      parts: parts.filter((part) => part !== null),
    },
    thread: threadOf(inputs),
    notable: needed.isNeeded || found.isRevised,
    lastPosted: toLastPosted(measured.states, facts.selector),
  };
}

/** The facts of a digest with what is computed from them, and the day and days of its title. */
interface FindingInputs {
  readonly facts: DigestFacts;
  readonly measured: DigestMeasures;
  readonly day: DayValue;
  readonly span: Span;
}

function hasSection({ options }: DigestFacts, section: DigestSection): boolean {
  return options.sections.includes(section);
}

/** Whether the digest reports a single day, and not the days of a weekend, a week or a month. */
function isOneDay({ facts, span }: Pick<FindingInputs, 'facts' | 'span'>): boolean {
  return facts.options.period === 'day' && lengthOf(span) === 1;
}

/** What needs attention in a digest. Its title and its body are written from this one value. */
interface NeededAttention {
  /** Budgets that are exceeded or heading over, worst first. */
  readonly over: readonly DigestBudget[];
  /** The budget of exactly the costs of this digest. */
  readonly ownBudget: DigestBudget | null;
  readonly anomalies: readonly AnomalyItem[];
  readonly usual: UsualText;
  /** `Within budget, nothing unusual.`; null if something needs attention or nothing is known. */
  readonly normalText: string | null;
  /** Whether a quiet digest is posted for this. */
  readonly isNeeded: boolean;
}

function neededAttention({ facts, measured, day }: FindingInputs): NeededAttention {
  const { attention, read } = facts;
  const usual = usualText(measured.series, day, creditsOf(measured.minimum));
  const budgets = hasSection(facts, 'budgets') ? attention.budgets : [];
  const found = hasSection(facts, 'unusual') ? attention.anomalies : null;
  const over = budgets
    .filter(({ state }) => state === 'over')
    .toSorted((one, other) => other.ratio - one.ratio);
  const isUnusual = usual.side !== 'within';
  const isNeeded = over.length > 0 || isUnusual || (found ?? []).length > 0;
  const claims = [
    ...(budgets.length > 0 && budgets.every(({ state }) => state === 'within')
      ? ['within budget']
      : []),
    ...(found === null ? [] : ['nothing unusual']),
  ];
  return {
    over,
    ownBudget: budgets.find(({ isOwn }) => isOwn) ?? null,
    anomalies: found ?? [],
    usual,
    // Figures that are too old support no claim.
    normalText: isNeeded || read.gaps.length > 0 ? null : sentenceOf(claims),
    isNeeded,
  };
}

function sentenceOf(claims: readonly string[]): string | null {
  const text = claims.join(', ');
  return text === '' ? null : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Slack cuts the header of a message here. */
const TITLE_MAX = 150;
const NAME_MAX = 30;

/**
 * The conclusion, which is also the text of the notification: the cost of the days, where the month is
 * heading, and what needs attention. Where these do not fit, the month is left out, then the names and
 * comparisons.
 */
function digestTitle(inputs: FindingInputs, needed: NeededAttention): string {
  const head = headText(inputs, needed);
  const month = monthText(inputs, needed);
  const { ownBudget, over } = needed;
  const others = month === null ? over : over.filter((one) => one !== ownBudget);
  const [full, withoutMonth, short] = [
    [`${head}${contextText(inputs, needed)}`, month, attentionText(needed, others)],
    [`${head}${contextText(inputs, needed)}`, attentionText(needed, over)],
    [head, countsText(needed, over)],
  ].map((clauses) => clauses.filter((text) => text !== null && text !== '').join(' · '));
  const fits = (title = '') => title.length <= TITLE_MAX;
  return (fits(full) ? full : fits(withoutMonth) ? withoutMonth : short) ?? head;
}

/** `staging, ` as the beginning of a title; empty for all costs. */
function subjectText({ scope }: Pick<DigestFacts, 'scope'>): string {
  return scope === null ? '' : `${shortened(scope)}, `;
}

function shortened(name: string): string {
  return name.length <= NAME_MAX ? name : `${name.slice(0, NAME_MAX - 1)}…`;
}

/** `staging, Thu 19 Nov: 317 credits, not final` */
function headText(inputs: FindingInputs, { usual }: NeededAttention): string {
  const { facts, measured, span } = inputs;
  const { total, preliminaryDays } = dayCountsOf(measured.states, span);
  const open = preliminaryDays > 0 ? ', not final' : '';
  const sum = isOneDay(inputs) ? usual.value : credits(creditsOf(total));
  return `${subjectText(facts)}${formatSpan(span, facts.today)}: ${sum} credits${open}`;
}

/** ` (usual 233–388)`, ` (€111), usual 233–388 (€82–€136)`, or for several days ` (€95, +3% vs 13–15 Nov on 1 of 3 days)`. */
function contextText(inputs: FindingInputs, { usual }: NeededAttention): string {
  if (!isOneDay(inputs)) return bracketed(...comparedNotes(inputs));
  const { money, range, rangeMoney, side } = usual;
  if (range === null) return bracketed(money);
  const around = `${range}${bracketed(rangeMoney)}`;
  if (side !== 'within') return `${bracketed(money)}, ${side} the usual ${around}`;
  return money === null ? bracketed(`usual ${around}`) : `${bracketed(money)}, usual ${around}`;
}

function comparedNotes({ facts, measured, span }: FindingInputs): readonly (string | null)[] {
  const { money } = dayCountsOf(measured.states, span);
  const cost = money && roughMoneyText(money);
  const before = spanToCompare(facts, span);
  const compared = compare(measured.series, span, before);
  if (!compared.ok) return [cost];
  const days = lengthOf(span);
  const part = compared.days < days ? ` on ${compared.days} of ${days} days` : '';
  return [cost, `${changeOf(compared)} vs ${formatSpan(before, facts.today)}${part}`];
}

function spanToCompare({ options }: DigestFacts, span: Span): Span {
  return options.period === 'month' ? previousMonth(span.first) : spanBefore(span);
}

/** `month heading for 8,074 of 9,000 (€2,826 of €3,150)`; null without a forecast, and for the report of a past month. */
function monthText(
  { facts, measured }: FindingInputs,
  { ownBudget }: NeededAttention,
): string | null {
  if (facts.options.period === 'month' || unreadMonths(facts.read).length > 0) return null;
  const forecast = forecastMonth(measured.series, facts.today, facts.read.lockAge);
  if (!forecast.ok) return null;
  const { total } = forecast;
  const span = monthSpan(monthOf(facts.today));
  const money = forecastMoney(total, measured.series, span, facts.read.prices ?? null);
  if (!ownBudget) return `month heading for ${roundedFigure(total, total < 10, money)}`;
  const { amount, amountMoney, state, ratio } = ownBudget;
  const over = state === 'over' ? overText(ratio - 1) : null;
  const notes = bracketed(over, moneyOfWhole(money, amountMoney));
  return `month heading for ${credits(total)} of ${credits(amount)}${notes}`;
}

/** `budget production heading over, 2 unusual costs`; empty if nothing needs attention. */
function attentionText(needed: NeededAttention, over: readonly DigestBudget[]): string {
  const [first, ...more] = over;
  if (!first || more.length > 0) return countsText(needed, over);
  const counts = countsText(needed, []);
  const named = `budget ${shortened(first.name)} heading over`;
  return counts === '' ? named : `${named}, ${counts}`;
}

function countsText({ anomalies }: NeededAttention, over: readonly DigestBudget[]): string {
  const budgets = over.length > 0 ? [`${countWords(over.length, 'budget')} heading over`] : [];
  const unusual = anomalies.length > 0 ? [countWords(anomalies.length, 'unusual cost')] : [];
  return [...budgets, ...unusual].join(', ');
}

function credits(amount: number): string {
  return roundedFigure(amount, amount < 10);
}

/** Old or missing data is reported above all figures. */
function gapLines({ read }: DigestFacts): readonly string[] {
  const [gap] = read.gaps;
  if (!gap) return [];
  const from = gap.from ?? read.fetchedAt;
  const age = from ? `These figures are from ${utcStamp(from)}` : 'Figures are missing';
  return [`⚠ ${age}: the usage report cannot be read now (${gap.why}).`];
}

const ANOMALIES_MAX = 3;

/** The budgets as one text, then each anomaly with its own buttons below it. */
function attentionParts(
  inputs: FindingInputs,
  { over, anomalies, usual }: NeededAttention,
  gaps: readonly string[],
): readonly AnswerPart[] {
  const unusual = isOneDay(inputs) ? [] : unusualDay(inputs, usual);
  const lines = [...gaps, ...over.map(({ name, text }) => `⚠ Budget ${name}: ${text}`), ...unusual];
  const first: readonly AnswerPart[] =
    lines.length === 0 ? [] : [{ kind: 'text', text: lines.join('\n') }];
  const shown = anomalies.slice(0, ANOMALIES_MAX);
  const more = anomalies.length - shown.length;
  const own = shown.flatMap(({ text, buttons }, index): readonly AnswerPart[] => {
    const rest = more > 0 && index === shown.length - 1;
    const line = rest ? `⚠ ${text}\n${countWords(more, 'more unusual cost')}` : `⚠ ${text}`;
    return [{ kind: 'text', text: line }, buttons];
  });
  return [...first, ...own];
}

/** The title shows the total of several days, so that an unusual one of them needs a line. */
function unusualDay({ day }: FindingInputs, usual: UsualText): readonly string[] {
  const { value, money, range, rangeMoney, side } = usual;
  if (side === 'within') return [];
  return [
    `⚠ ${formatDay(day.day)}: ${value} credits${bracketed(money)}, ${side} the usual ${range}${bracketed(rangeMoney)}`,
  ];
}

function comparedLines({ facts, measured, day, span }: FindingInputs): readonly string[] {
  const { series, states } = measured;
  if (isOneDay({ facts, span })) return [dayComparisonText(series, day)];
  if (facts.options.period === 'day') return dayByDay(series, span, day);
  const before = spanToCompare(facts, span);
  const compared = comparisonText({ now: span, before, series }, facts.today);
  const open = notFinalText(states, span, facts.today);
  return open === null ? [compared] : [compared, open];
}

/** One line per day of the span, and one for the day of the headline. */
function dayByDay(series: readonly DayValue[], span: Span, day: DayValue): readonly string[] {
  const covered = within(series, span);
  const all = covered.includes(day) ? covered : [day, ...covered];
  return all.map((one) => `${formatDay(one.day)}: ${dayLineText(series, one)}`);
}

const WEEK = 7;

/** One day compared with the same weekday a week ago. */
function dayComparisonText(series: readonly DayValue[], day: DayValue): string {
  const compared = againstWeekday(series, day);
  if (compared !== null) return compared;
  return isSettled(day)
    ? 'No comparison: the same weekday of the week before is not final'
    : 'Not final yet, too early to compare';
}

/** `238.4 · +4% vs Tue 10 Nov (229.1)`, for a list of days. */
function dayLineText(series: readonly DayValue[], day: DayValue): string {
  const compared = againstWeekday(series, day);
  const value = figure(microOf(day.value), moneyOfDay(day));
  return `${value}${openText(day)}${compared ? ` · ${compared}` : ''}`;
}

/** The label of a day that is not final; a settled one can still change as well. */
function openText({ final }: Pick<DayValue, 'final'>): string {
  return final ? '' : ', not final';
}

/** Null if the same weekday of the week before is not settled, or if it is too early to compare. */
function againstWeekday(series: readonly DayValue[], day: DayValue): string | null {
  const before = series.find((one) => one.day === addDays(day.day, -WEEK));
  if (!before || !isSettled(before)) return null;
  const verdict = compareDay(day, before.value);
  if (verdict.state === 'not-settled') return null;
  const [value, money] = [microOf(before.value), moneyOfDay(before)];
  const was = `${formatDay(before.day)}${figureNote(value, money)}`;
  const now = moneyOf([[day.price, value + verdict.delta]]);
  const difference = signedFigure(verdict.delta, moneyDifference(now, money));
  if (verdict.state === 'already-above') return `already ${difference} vs ${was}`;
  const change = verdict.relative === null ? difference : changeText(verdict.relative);
  return `${verdict.state === 'settled' ? change : `heading for ${change}`} vs ${was}`;
}

interface Findings {
  /** One text, because a digest has at most twelve blocks and each anomaly takes two. */
  readonly lists: readonly string[];
  /** Whether a day was revised, so that a quiet digest is posted. */
  readonly isRevised: boolean;
}

const MOVERS_MAX = 3;
const CHANGES_MAX = 5;

/** The movers, the changes that ran and the revised days. */
function findings(inputs: FindingInputs): Findings {
  const { facts, measured } = inputs;
  const revised = hasSection(facts, 'revisions')
    ? revisedLines(facts.posted, measured.states, measured.minimum)
    : [];
  return {
    lists: [...moverLists(inputs), ...listed('Revised', revised)],
    isRevised: revised.length > 0,
  };
}

function moverLists({ facts, measured, day, span }: FindingInputs): readonly string[] {
  const { rows, series, minimum } = measured;
  const { changes, options, covers } = facts;
  const isLong = options.period !== 'day';
  const compared = isLong ? span : { first: day.day, last: day.day };
  const before = spanBefore(compared);
  const wanted = { minimum, increasesOnly: options.increasesOnly };
  const movers = moverLines(rows, compared, before, wanted);
  const hasRisen = isLong || isRise(series, day, creditsOf(minimum));
  const executed = hasRisen ? changeLines(changes, { first: before.first, last: covers.last }) : [];
  const baseline = isLong ? 'the days before' : formatDay(before.first);
  return [
    ...listed(
      `Top movers vs ${baseline}${movers.on}`,
      hasSection(facts, 'movers') ? movers.lines.slice(0, MOVERS_MAX) : [],
    ),
    ...listed('Changes of these days', executed),
  ];
}

/** The changes that ran in the span, latest first. */
function changeLines(changes: readonly ExecutedChange[], span: Span): readonly string[] {
  const own = within(changes, span);
  const shown = own.slice(0, CHANGES_MAX).map(({ day, text }) => `${text}, ${formatDay(day)}`);
  const more = own.length - shown.length;
  return more > 0 ? [...shown, `and ${more} more`] : shown;
}

function listed(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0
    ? []
    : [[`${heading}:`, ...lines.map((line) => `• ${line}`)].join('\n')];
}

/**
 * The text of each mover; empty until days of both spans are settled. `on`: the number of compared
 * days, if some days are left out.
 */
function moverLines(
  rows: readonly CostRow[],
  span: Span,
  before: Span,
  { minimum, increasesOnly }: { readonly minimum: Micro; readonly increasesOnly: boolean },
): { readonly lines: readonly string[]; readonly on: string } {
  const found = moversOf(rows, span, before, { by: 'entity-metric', minimum });
  if (!found.ok) return { lines: [], on: '' };
  const shown = found.movers.filter(({ delta }) => delta > 0 || !increasesOnly);
  return { lines: shown.map(moverText), on: pairedDaysText(found, span, before) };
}

function revisedLines(
  posted: readonly PostedDay[],
  states: readonly DayState[],
  minimum: Micro,
): readonly string[] {
  return revisions(posted, states, minimum).map((revision) => {
    const { day, price, posted: was, final, relative, delta } = revision;
    const change = relative === null ? signedFigure(delta) : changeText(relative);
    const money = [was, final].map((micro) => moneyOf([[price, micro]]));
    const inMoney = money.map((each) => each && moneyText(each)).join(' → ');
    const notes = bracketed(price ? inMoney : null, change);
    return `${formatDay(day)}: ${figure(was)} → ${figure(final)}${notes}`;
  });
}

/** Whether the day cost at least `minimum` credits more than the same weekday a week ago. */
function isRise(series: readonly DayValue[], day: DayValue, minimum: number): boolean {
  const before = series.find((one) => one.day === addDays(day.day, -WEEK));
  return before !== undefined && day.value - before.value >= minimum;
}

const CHART_DAYS = 14;

function chartOf({ facts, measured }: FindingInputs): AnswerPart | null {
  const last = addDays(facts.today, -1);
  return chartPart(measured.states, { first: addDays(last, 1 - CHART_DAYS), last }, facts.today);
}

/** The days that are not final, because the title shows their figures like others. */
function openTexts({ facts, measured }: FindingInputs): readonly string[] {
  const { today, read } = facts;
  return openDays(measured.states, today, read.lockAge).map(([label, text]) => `${label}: ${text}`);
}

/** The lock age and the price of a credit are in the thread. */
function footerOf(
  { read, next, selector, untagged }: DigestFacts,
  open: readonly string[] = [],
): AnswerPart {
  const more = [...open, 'days in UTC', ...scopeNotes({ selector, untagged })];
  const footer = footerPart({ ...read, lockAge: null, prices: null }, read.gaps[0]?.why, more);
  return next ? { ...footer, next: { label: 'Next digest', at: next } } : footer;
}

/** The figures and the table by service, without rows or these sections null. */
function threadOf(inputs: FindingInputs): Answer | null {
  const { facts, measured, day } = inputs;
  const [hasFigures, hasTable] = [hasSection(facts, 'figures'), hasSection(facts, 'table')];
  if (measured.rows.length === 0 || !(hasFigures || hasTable)) return null;
  const total = creditsText(microOf(day.value), moneyOfDay(day));
  const table = hasTable ? [serviceTable(measured.rows, day.day), ...csvOffer(facts, day.day)] : [];
  return {
    title: `Details of ${subjectText(facts)}${formatDay(day.day)} (UTC)`,
    parts: [
      ...(hasFigures ? [{ kind: 'facts', facts: allFigures(inputs) } as const] : []),
      ...table,
      footerPart(facts.read, null, [`${total} on ${formatDay(day.day)}${openText(day)}`]),
    ],
  };
}

function allFigures({ facts, measured, day }: FindingInputs) {
  const usual = usualCreditsText(measured.series, day, creditsOf(measured.minimum));
  const own = keyFigures(measured.series, measured.states, {
    ...facts,
    lockAge: facts.read.lockAge,
    prices: facts.read.prices ?? null,
    unread: unreadMonths(facts.read),
  });
  const budgets = hasSection(facts, 'budgets') ? facts.attention.budgets : [];
  return [
    ...(usual === null ? [] : [[`Usual on ${formatDay(day.day)}`, usual] as const]),
    ...own,
    ...budgets.map(({ name, bar }) => ['Budget', `${name} ${bar}`] as const),
  ];
}

/** A day and its usual range, rounded alike, so that the texts show on which side of it the day is. */
interface UsualText {
  /** `317` */
  readonly value: string;
  /** `€111`, if prices are known. */
  readonly money: string | null;
  /** `233–388`; null for a line that is new or rarely has costs. */
  readonly range: string | null;
  /** `€82–€136`, if prices are known. */
  readonly rangeMoney: string | null;
  /** A day that is not settled can still rise, so that it is never below. */
  readonly side: 'within' | 'above' | 'below';
}

/** In whole credits, with decimals for small ranges and near the ends of a range. */
function usualText(series: readonly DayValue[], day: DayValue, minimum: number): UsualText {
  const range = usualRange(settledDays(series), day.day, minimum);
  const cost = moneyOfDay(day);
  const money = cost && roughMoneyText(cost);
  if (!range) {
    const value = roundedFigure(day.value, day.value < 10);
    return { value, money, range: null, rangeMoney: null, side: 'within' };
  }
  const { low, high } = range;
  const side = sideOf(day, range);
  const isClose =
    side !== 'within' && [low, high].some((end) => Math.round(end) === Math.round(day.value));
  const text = (credits: number) => roundedFigure(credits, isClose || high < 10);
  const ends = `${text(low)}–${text(high)}`;
  return { value: text(day.value), money, range: ends, rangeMoney: rangeMoney(range, day), side };
}

/** `€82–€136` at the price of the day; null without one. */
function rangeMoney({ low, high }: Range, { price }: DayValue): string | null {
  const ends = [low, high].flatMap((value) => moneyOfDay({ value, price }) ?? []);
  return ends.length > 0 ? ends.map(roughMoneyText).join('–') : null;
}

/** `109–181 credits (€37.99–€63.32)`: the usual range of the day; null if none is known. */
function usualCreditsText(
  series: readonly DayValue[],
  day: DayValue,
  minimum: number,
): string | null {
  const range = usualRange(settledDays(series), day.day, minimum);
  if (!range) return null;
  const ends = [range.low, range.high];
  const text = ends.map((end) => roundedFigure(end, range.high < 10)).join('–');
  return `${text} credits${bracketed(rangeMoney(range, day))}`;
}

/** A difference that no figure can show is none. */
function sideOf(day: DayValue, { low, high }: Range): UsualText['side'] {
  const isShown = (end: number) => roundedFigure(end, true) !== roundedFigure(day.value, true);
  if (day.value > high && isShown(high)) return 'above';
  return isSettled(day) && day.value < low && isShown(low) ? 'below' : 'within';
}

type Fact = readonly [string, string];

interface KeyFigureInputs {
  readonly today: Day;
  readonly covers: Span;
  readonly lockAge: LockAge | null;
  readonly prices: PriceList | null;
  /** The months without any copy of the report. */
  readonly unread: readonly string[];
}

/** The month to date, the forecast of the month, and the days that are not final. */
function keyFigures(
  series: readonly DayValue[],
  states: readonly DayState[],
  inputs: KeyFigureInputs,
): readonly Fact[] {
  const { today, covers, lockAge } = inputs;
  return [
    ['Month to date', monthToDateText(series, states, covers.last)],
    ['Forecast', forecastText(series, inputs)],
    ...openDays(states, today, lockAge),
  ];
}

function monthToDateText(
  series: readonly DayValue[],
  states: readonly DayState[],
  last: Day,
): string {
  const first = startOf('month', last);
  const { total, money, preliminaryDays, missing, days } = dayCountsOf(states, { first, last });
  if (missing.length === days) return 'no data yet';
  const open = preliminaryDays > 0 ? ', not final' : '';
  const count = countWords(missing.length, 'day');
  const none = missing.length > 0 ? `, ${count} without data` : '';
  return `${creditsText(total, money)}${open}${none}${againstLastMonth(series, last)}`;
}

function againstLastMonth(series: readonly DayValue[], last: Day): string {
  const { through, comparison } = monthToDate(series, last);
  if (through === null || !comparison.ok) return '';
  const { before, now, money } = comparison;
  const month = { first: startOf('month', through), last: through };
  const was = { first: addMonths(month.first, -1), last: addMonths(through, -1) };
  const change = changeOf(comparison);
  const days = `${formatSpan(month, last)}${pairedDaysText(comparison, month, was)}`;
  const sum = figureNote(before, money.before);
  return ` · ${days}: ${figure(now, money.now)}, ${change} vs ${formatSpan(was, last)}${sum}`;
}

function forecastText(
  series: readonly DayValue[],
  { today, lockAge, prices, unread }: KeyFigureInputs,
): string {
  if (unread.length > 0) return `not available: ${unread.join(', ')} could not be read`;
  const forecast = forecastMonth(series, today, lockAge);
  if (!forecast.ok) {
    return forecast.why === 'too-few-settled-days'
      ? 'not available: too few final days'
      : 'not available: the last final day is too long ago';
  }
  const { total, low, high } = forecast;
  const span = monthSpan(monthOf(today));
  const month = formatSpan(span, today);
  const range = `${roundedFigure(low)}–${roundedFigure(high)}`;
  const text = `${month} about ${roundedFigure(total)} (${range}, about 80% sure) if usage does not change`;
  const money = [total, low, high].map((end) => forecastMoney(end, series, span, prices));
  const [inMoney, from, to] = money.flatMap((end) => (end ? [roughMoneyText(end)] : []));
  return inMoney ? `${text} · ${inMoney} (${from}–${to})` : text;
}

/** The days before today that are not final or have no data, the former with their sum. */
function openDays(
  states: readonly DayState[],
  today: Day,
  lockAge: LockAge | null,
): readonly Fact[] {
  const first = addDays(today, -longestWait(lockAge));
  const recent = states.filter(({ day }) => day < today && day >= first);
  const open = recent.filter(({ state }) => state === 'preliminary');
  const none = recent.filter(({ state }) => state === 'no-data');
  return [
    ...sumFact('Not final', open, today),
    ...(none.length > 0 ? [['No data', formatDays(daysOf(none), today)] as const] : []),
  ];
}

function sumFact(label: string, states: readonly DayState[], today: Day): readonly Fact[] {
  if (states.length === 0) return [];
  const sum = states.reduce((all, { total }) => all + total, 0);
  const money = moneyOf(states.map(({ price, total }) => [price, total]));
  return [[label, `${formatDays(daysOf(states), today)}: ${creditsText(sum, money)}`]];
}

function daysOf(states: readonly DayState[]): readonly Day[] {
  return states.map(({ day }) => day);
}

/** The costs by service: the day, the same weekday of the previous week, 7 days, the month. */
function serviceTable(rows: readonly CostRow[], day: Day): AnswerPart {
  const sums = (span: Span) =>
    new Map(sumBy(rows, 'service', span).map((line) => [line.key, line]));
  const weekday = addDays(day, -WEEK);
  const now = sums({ first: day, last: day });
  const before = sums({ first: weekday, last: weekday });
  const week = sums({ first: addDays(day, 1 - WEEK), last: day });
  const month = sumBy(rows, 'service', { first: startOf('month', day), last: day });
  const cell = (of: ReadonlyMap<string, SummaryLine>, key: string) => {
    const line = of.get(key);
    return line ? figureCell(line.total, line.money) : null;
  };
  return {
    kind: 'table',
    columns: ['Service', formatDay(day), formatDay(weekday), '7 days', 'Month', 'Share of month'],
    rows: month.map(({ key, name, total, money, share }) => [
      name,
      cell(now, key),
      cell(before, key),
      cell(week, key),
      figureCell(total, money),
      share === null ? null : { value: share, text: shareText(share) },
    ]),
  };
}

/** A button for the rows of the month. No command covers a digest of several services. */
function csvOffer({ scope }: DigestFacts, day: Day): readonly AnswerPart[] {
  if (scope !== null) return [];
  const line = `cost csv ${startOf('month', day)}..${day}`;
  return [{ kind: 'offers', offers: [{ label: 'CSV of the month', line }] }];
}

/** The message without any figure: no data is not a cost of 0, so it shows only the reason. */
function withoutData(facts: DigestFacts): ComposedDigest {
  const why = facts.read.gaps[0]?.why;
  const text = why
    ? `⚠ The usage report cannot be read now, and no older copy is stored: ${why}.`
    : 'The usage report has no data for these days.';
  const message: Answer = {
    title: `${subjectText(facts)}${formatSpan(facts.covers, facts.today)}: no data`,
    parts: [{ kind: 'text', text }, footerOf(facts)],
  };
  return { message, thread: null, notable: true, lastPosted: null };
}
