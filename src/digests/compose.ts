import { formatDay, formatSpan, lengthOf, type Span, startOf, within } from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import { serviceTable } from '../cost-reports/breakdown.ts';
import {
  dayComparisonText,
  dayLineText,
  openText,
  usualCreditsText,
} from '../cost-reports/compare-day.ts';
import { comparisonText } from '../cost-reports/compare-periods.ts';
import { chartPart } from '../cost-reports/cost-chart.ts';
import { keyFigures, openDays } from '../cost-reports/figures.ts';
import { scopeNotes } from '../cost-reports/scope.ts';
import { footerPart, notFinalText } from '../cost-reports/summary.ts';
import type { Answer, AnswerPart } from '../domain/answer.ts';
import { utcStamp } from '../domain/answer.ts';
import { creditsText } from '../maths/numbers.ts';
import { unreadMonths } from '../maths/report.ts';
import { creditsOf, type DayValue, microOf, moneyOfDay } from '../maths/rows.ts';
import type { DigestFacts } from './facts.ts';
import { type FindingInputs, findings, hasSection, isOneDay } from './findings.ts';
import { type LastPostedFigures, toLastPosted } from './last-posted.ts';
import { measure } from './measure.ts';
import { attentionParts, neededAttention } from './needed-attention.ts';
import { digestTitle, spanToCompare, subjectText } from './title.ts';

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
