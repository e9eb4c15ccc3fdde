import {
  formatDay,
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
import { compare } from '../maths/compare.ts';
import { forecastMoney, forecastMonth } from '../maths/forecast.ts';
import { roughMoneyText } from '../maths/money.ts';
import { bracketed, creditsText, roundedFigure } from '../maths/numbers.ts';
import { spanBefore } from '../maths/period.ts';
import { unreadMonths } from '../maths/report.ts';
import { creditsOf, type DayValue, microOf, moneyOfDay } from '../maths/rows.ts';
import { moneyOfWhole, overText } from './budget-answer.ts';
import { changeOf, comparisonText, keyFigures, openDays } from './compare-text.ts';
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
import { scopeNotes } from './question-scope.ts';
import {
  dayComparisonText,
  dayCountsOf,
  dayLineText,
  footerPart,
  isRise,
  notFinalText,
  openText,
  type UsualText,
  usualCreditsText,
  usualText,
} from './summary.ts';
import { chartPart, moverLines, revisedLines, serviceTable } from './table.ts';

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

export interface ComposedDigest {
  readonly message: Answer;
  /** The table for the thread; null without rows or without that section. */
  readonly thread: Answer | null;
  /** Whether a quiet digest is posted today. */
  readonly notable: boolean;
  /** The figures that the next digest is compared with; null without data. */
  readonly lastPosted: LastPostedFigures | null;
}

const CHART_DAYS = 14;

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

/** Old or missing data is reported above all figures. */
function gapLines({ read }: DigestFacts): readonly string[] {
  const [gap] = read.gaps;
  if (!gap) return [];
  const from = gap.from ?? read.fetchedAt;
  const age = from ? `These figures are from ${utcStamp(from)}` : 'Figures are missing';
  return [`⚠ ${age}: the usage report cannot be read now (${gap.why}).`];
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
