import { serviceTable, spanBefore } from '../cost-reports/breakdown.ts';
import { dayComparisonText, dayLineText } from '../cost-reports/compare-day.ts';
import { comparisonText } from '../cost-reports/compare-periods.ts';
import { chartPart } from '../cost-reports/cost-chart.ts';
import { keyFigures } from '../cost-reports/figures.ts';
import { footer, headline, notFinalText } from '../cost-reports/summary.ts';
import {
  addMonths,
  lengthOf,
  monthOf,
  monthSpan,
  type Span,
  startOf,
} from '../costs/calendar/calendar.ts';
import { addDays, type Day } from '../costs/calendar/day.ts';
import { dayLabel, spanLabel } from '../costs/calendar/span-label.ts';
import { creditsText, figure } from '../costs/ledger/numbers.ts';
import { creditsOf, type DayValue, microOf } from '../costs/ledger/row.ts';
import type { Answer, AnswerPart } from '../intent/answers/answer.ts';
import { utcStamp } from '../intent/answers/texts.ts';
import type { DigestFacts } from './facts.ts';
import { type FindingInputs, findings, hasSection } from './findings.ts';
import { type LastPostedFigures, toLastPosted } from './last-posted.ts';
import { measure } from './measure.ts';

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

/** One message of at most twelve blocks, and the table for its thread. Source: docs/digests.md#content. */
export function composeDigest(facts: DigestFacts): ComposedDigest {
  const measured = measure(facts);
  if (measured.day === null) return withoutData(facts);
  const { period } = facts.options;
  const isOneDay = period === 'day' && lengthOf(facts.covers) === 1;
  const span = isOneDay ? { first: measured.day.day, last: measured.day.day } : facts.covers;
  const inputs: FindingInputs = { facts, measured, day: measured.day, span };
  const found = findings(inputs);
  const parts: readonly (AnswerPart | null)[] = [
    { kind: 'text', text: [...gapLines(facts), ...openingLines(inputs)].join('\n') },
    hasSection(facts, 'figures') ? { kind: 'facts', facts: allFigures(inputs) } : null,
    ...found.parts,
    hasSection(facts, 'chart') ? chartOf(inputs) : null,
    { kind: 'note', text: footerText(facts) },
  ];
  const message = { title: titleOf(inputs), parts: parts.filter((part) => part !== null) };
  const lastPosted = toLastPosted(measured.states, facts.selector);
  return { message, thread: threadOf(inputs), notable: found.notable, lastPosted };
}

function titleOf({ facts, measured, span }: FindingInputs): string {
  const label = spanLabel(span, facts.today);
  return `${subject(facts)} · ${headline(label, measured.states, span)}`;
}

function subject({ scope }: DigestFacts): string {
  return scope === null ? 'Cost' : `Cost of ${scope}`;
}

/** Old or missing data is reported above all figures. */
function gapLines({ read }: DigestFacts): readonly string[] {
  const [gap] = read.gaps;
  if (!gap) return [];
  const from = gap.from ?? read.fetchedAt;
  const age = from ? `These figures are from ${utcStamp(from)}` : 'Figures are missing';
  return [`⚠ ${age}: the usage report cannot be read now (${gap.why}).`];
}

function openingLines({ facts, measured, day, span }: FindingInputs): readonly string[] {
  const { series, states, minimum } = measured;
  const { period } = facts.options;
  const own = dayComparisonText(series, day, creditsOf(minimum));
  if (period === 'day' && lengthOf(span) === 1) return [own];
  if (period === 'day') return dayByDay(series, span, { day, own });
  const before = period === 'month' ? monthSpan(previousMonth(span)) : spanBefore(span);
  const compared = comparisonText({ now: span, before, series }, facts.today);
  const open = notFinalText(states, span, facts.today);
  return open === null ? [compared] : [compared, open];
}

function previousMonth({ first }: Span): string {
  return monthOf(addMonths(first, -1));
}

/** One line per day of the span. The day of the headline has the full comparison. */
function dayByDay(
  series: readonly DayValue[],
  { first, last }: Span,
  { day, own }: { readonly day: DayValue; readonly own: string },
): readonly string[] {
  const within = series.filter((one) => one.day >= first && one.day <= last);
  const all = within.includes(day) ? within : [day, ...within];
  return all.map((one) => {
    const text = one === day ? `${figure(microOf(day.value))} · ${own}` : dayLineText(series, one);
    return `${dayLabel(one.day)}: ${text}`;
  });
}

function allFigures({ facts, measured }: FindingInputs) {
  const own = keyFigures(measured.series, measured.states, facts);
  const budgets = hasSection(facts, 'budgets') ? facts.attention.budgets : [];
  return [...own, ...budgets.map((text) => ['Budget', text] as const)];
}

function chartOf({ facts, measured }: FindingInputs): AnswerPart | null {
  const last = addDays(facts.today, -1);
  return chartPart(measured.states, { first: addDays(last, 1 - CHART_DAYS), last }, facts.today);
}

function footerText({ read, next, selector }: DigestFacts): string {
  const storage = selector.services
    ? ['storage and backups are billed to warehouses and not included']
    : [];
  const nextDigest = next ? [`next digest ${utcStamp(next)}`] : [];
  return [footer(read, read.gaps[0]?.why), ...storage, ...nextDigest].join(' · ');
}

function threadOf({ facts, measured, day }: FindingInputs): Answer | null {
  if (!hasSection(facts, 'table') || measured.rows.length === 0) return null;
  const title = `${subject(facts)} by service · ${dayLabel(day.day)} (UTC)`;
  const total = creditsText(microOf(day.value));
  const text = `${total} on ${dayLabel(day.day)}${day.final ? '' : ' so far, not final'}`;
  const table = serviceTable(measured.rows, day.day);
  return { title, parts: [table, ...csvOffer(facts, day.day), { kind: 'note', text }] };
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
    title: `${subject(facts)} · ${spanLabel(facts.covers, facts.today)} (UTC) · no data`,
    parts: [
      { kind: 'text', text },
      { kind: 'note', text: footerText(facts) },
    ],
  };
  return { message, thread: null, notable: true, lastPosted: null };
}
