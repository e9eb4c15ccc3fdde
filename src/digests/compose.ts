import { serviceTable, spanBefore } from '../cost-reports/breakdown.ts';
import { dayText, shortDayText } from '../cost-reports/compare-day.ts';
import { comparedText } from '../cost-reports/compare-periods.ts';
import { chartPart } from '../cost-reports/cost-chart.ts';
import { figures } from '../cost-reports/figures.ts';
import { measure } from '../cost-reports/measure.ts';
import { footer, headline, openText } from '../cost-reports/summary.ts';
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
import type { DigestFacts } from './facts.ts';
import { type FindingInputs, findings, shows } from './findings.ts';
import { type LastPosted, saidOf } from './last-posted.ts';

export interface Composed {
  readonly message: Answer;
  /** What stands below the message; null where there is nothing to tell line by line. */
  readonly thread: Answer | null;
  /** Whether a digest that is quiet otherwise should speak. */
  readonly notable: boolean;
  /** What a later digest is held against; null where it has no figures. */
  readonly said: LastPosted | null;
}

const CHART_DAYS = 14;

/** One message of at most twelve blocks, and its details. Source: docs/digests.md#content. */
export function composeDigest(facts: DigestFacts): Composed {
  const measured = measure(facts);
  if (measured.day === null) return withoutData(facts);
  const { period } = facts.options;
  const isOneDay = period === 'day' && lengthOf(facts.covers) === 1;
  const span = isOneDay ? { first: measured.day.day, last: measured.day.day } : facts.covers;
  const told: FindingInputs = { facts, measured, day: measured.day, span };
  const found = findings(told);
  const parts: readonly (AnswerPart | null)[] = [
    { kind: 'text', text: [...gapLines(facts), ...openingLines(told)].join('\n') },
    shows(facts, 'figures') ? { kind: 'facts', facts: allFigures(told) } : null,
    ...found.parts,
    shows(facts, 'chart') ? chartOf(told) : null,
    { kind: 'note', text: footerText(facts) },
  ];
  const message = { title: titleOf(told), parts: parts.filter((part) => part !== null) };
  const said = saidOf(measured.states, facts.selector);
  return { message, thread: threadOf(told), notable: found.notable, said };
}

function titleOf({ facts, measured, span }: FindingInputs): string {
  const label = spanLabel(span, facts.today);
  return `${subject(facts)} · ${headline(label, measured.states, span)}`;
}

function subject({ scope }: DigestFacts): string {
  return scope === null ? 'Cost' : `Cost of ${scope}`;
}

/** What is old or missing stands above all figures, where nobody can overlook it. */
function gapLines({ read }: DigestFacts): readonly string[] {
  const [gap] = read.gaps;
  if (!gap) return [];
  const from = gap.from ?? read.fetchedAt;
  const age = from ? `These figures are from ${stamp(from)}` : 'Figures are missing';
  return [`⚠ ${age}: the usage report cannot be read now (${gap.why}).`];
}

function openingLines({ facts, measured, day, span }: FindingInputs): readonly string[] {
  const { series, states, minimum } = measured;
  const { period } = facts.options;
  const own = dayText(series, day, creditsOf(minimum));
  if (period === 'day' && lengthOf(span) === 1) return [own];
  if (period === 'day') return dayByDay(series, span, { day, own });
  const before = period === 'month' ? monthSpan(previousMonth(span)) : spanBefore(span);
  const compared = comparedText({ now: span, before, series }, facts.today);
  const open = openText(states, span, facts.today);
  return open === null ? [compared] : [compared, open];
}

function previousMonth({ first }: Span): string {
  return monthOf(addMonths(first, -1));
}

/** Each day of the span in a line; the one of which most is known for good has the most to say. */
function dayByDay(
  series: readonly DayValue[],
  { first, last }: Span,
  { day, own }: { readonly day: DayValue; readonly own: string },
): readonly string[] {
  const within = series.filter((one) => one.day >= first && one.day <= last);
  const all = within.includes(day) ? within : [day, ...within];
  return all.map((one) => {
    const text = one === day ? `${figure(microOf(day.value))} · ${own}` : shortDayText(series, one);
    return `${dayLabel(one.day)}: ${text}`;
  });
}

function allFigures({ facts, measured }: FindingInputs) {
  const own = figures(measured.series, measured.states, facts);
  const budgets = shows(facts, 'budgets') ? facts.watched.budgets : [];
  return [...own, ...budgets.map((text) => ['Budget', text] as const)];
}

function chartOf({ facts, measured }: FindingInputs): AnswerPart | null {
  const last = addDays(facts.today, -1);
  return chartPart(measured.states, { first: addDays(last, 1 - CHART_DAYS), last }, facts.today);
}

function footerText({ read, next, selector }: DigestFacts): string {
  const storage = selector.services
    ? ['storage and backups are billed to warehouses and not in it']
    : [];
  const coming = next ? [`next digest ${stamp(next)}`] : [];
  return [footer(read, read.gaps[0]?.why), ...storage, ...coming].join(' · ');
}

function stamp(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function threadOf({ facts, measured, day }: FindingInputs): Answer | null {
  if (!shows(facts, 'table') || measured.rows.length === 0) return null;
  const title = `${subject(facts)} by service · ${dayLabel(day.day)} (UTC)`;
  const total = creditsText(microOf(day.value));
  const text = `${total} on ${dayLabel(day.day)}${day.final ? '' : ' so far, not final'}`;
  const table = serviceTable(measured.rows, day.day);
  return { title, parts: [table, ...csvOffer(facts, day.day), { kind: 'note', text }] };
}

/** The rows behind the table, into its thread. No line of words asks for a scope of many services. */
function csvOffer({ scope }: DigestFacts, day: Day): readonly AnswerPart[] {
  if (scope !== null) return [];
  const line = `cost csv ${startOf('month', day)}..${day}`;
  return [{ kind: 'offers', offers: [{ label: 'CSV of the month', line }] }];
}

/** No data is not zero: it is said why there is nothing, and no figure stands anywhere. */
function withoutData(facts: DigestFacts): Composed {
  const why = facts.read.gaps[0]?.why;
  const text = why
    ? `⚠ The usage report cannot be read now, and nothing of it was kept: ${why}.`
    : 'The usage report has no data for these days.';
  const message: Answer = {
    title: `${subject(facts)} · ${spanLabel(facts.covers, facts.today)} (UTC) · not known`,
    parts: [
      { kind: 'text', text },
      { kind: 'note', text: footerText(facts) },
    ],
  };
  return { message, thread: null, notable: true, said: null };
}
