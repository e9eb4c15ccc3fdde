import { minImpactOf } from '../costs/anomaly.ts';
import { addMonths, lengthOf, monthOf, monthSpan, type Span } from '../costs/calendar.ts';
import { seriesOf } from '../costs/daily.ts';
import { addDays, type Day } from '../costs/day.ts';
import { type DayState, dayStates, selected } from '../costs/ledger.ts';
import { creditsText, figure } from '../costs/numbers.ts';
import { type CostRow, creditsOf, type DayValue, type Micro, microOf } from '../costs/row.ts';
import { dayLabel, spanLabel } from '../costs/span-label.ts';
import { headlineDay } from '../costs/standing.ts';
import type { Answer, Part } from '../intent/answer.ts';
import { changeLines, moverLines, revisedLines, serviceTable, spanBefore } from './breakdown.ts';
import { dayText, isNotable, isRise, shortDayText, valueOn } from './comparing.ts';
import type { DigestFacts } from './facts.ts';
import { figures } from './figures.ts';
import type { Section } from './options.ts';
import { chartPart, comparedText, footer, headline, openText } from './summary.ts';

export interface Composed {
  readonly message: Answer;
  /** What stands below the message; null where there is nothing to tell line by line. */
  readonly thread: Answer | null;
  /** Whether a digest that is quiet otherwise should speak. */
  readonly notable: boolean;
}

/** How far back the rows must reach: eight weeks of history, and the whole month before. */
export function rowsNeeded(today: Day): Span {
  const history = addDays(today, -63);
  const month = `${monthOf(addMonths(today, -2))}-01`;
  return { first: history < month ? history : month, last: today };
}

const CHART_DAYS = 14;
const UNUSUAL_MAX = 3;

interface Measured {
  readonly rows: readonly CostRow[];
  readonly states: readonly DayState[];
  readonly series: readonly DayValue[];
  readonly minimum: Micro;
  /** The day that is spoken of; null where the report has nothing at all. */
  readonly day: DayValue | null;
}

function measure({ read, today, selector, options }: DigestFacts): Measured {
  const span = rowsNeeded(today);
  const states = dayStates(read.rows, span);
  const series = seriesOf(read.rows, selector, span);
  const minimum = microOf(options.minimumCredits ?? minImpactOf(series));
  const headlined = headlineDay(states, today);
  const rows = selected(read.rows, selector);
  const own = dayStates(rows, span).map((one) => asOfReport(one, states));
  const day = headlined ? valueOn(series, headlined.day) : null;
  return { rows, states: own, series, minimum, day };
}

// A day is final when all its rows are, those outside of the scope too: until then another row of
// the scope may come. A day without rows of the scope cost it nothing, if the report has others.
function asOfReport(own: DayState, states: readonly DayState[]): DayState {
  const whole = states.find(({ day }) => day === own.day);
  return whole && whole.state !== 'no-data' ? { ...own, state: whole.state } : own;
}

/** One message of at most twelve blocks, and its details. Source: cost.md §8.1. */
export function composeDigest(facts: DigestFacts): Composed {
  const measured = measure(facts);
  if (measured.day === null) return withoutData(facts);
  const { period } = facts.options;
  const isOneDay = period === 'day' && lengthOf(facts.covers) === 1;
  const span = isOneDay ? { first: measured.day.day, last: measured.day.day } : facts.covers;
  const told = { facts, measured, day: measured.day, span };
  const { lines, notable } = findings(told);
  const parts: readonly (Part | null)[] = [
    gapText(facts),
    { kind: 'text', text: openingLines(told).join('\n') },
    shows(facts, 'figures') ? { kind: 'facts', facts: allFigures(told) } : null,
    ...lines,
    shows(facts, 'chart') ? chartOf(told) : null,
    { kind: 'note', text: footerText(facts) },
  ];
  const message = { title: titleOf(told), parts: parts.filter((part) => part !== null) };
  return { message, thread: threadOf(told), notable };
}

interface Told {
  readonly facts: DigestFacts;
  readonly measured: Measured;
  readonly day: DayValue;
  /** The days of the header. */
  readonly span: Span;
}

function shows({ options }: DigestFacts, section: Section): boolean {
  return options.sections.includes(section);
}

function titleOf({ facts, measured, span }: Told): string {
  const label = spanLabel(span, facts.today);
  return `${subject(facts)} · ${headline(label, measured.states, span)}`;
}

function subject({ scope }: DigestFacts): string {
  return scope === null ? 'Cost' : `Cost of ${scope}`;
}

/** What is old or missing stands above all figures, where nobody can overlook it. */
function gapText({ read }: DigestFacts): Part | null {
  const [gap] = read.gaps;
  if (!gap) return null;
  const from = gap.from ?? read.fetchedAt;
  const age = from ? `These figures are from ${stamp(from)}` : 'Figures are missing';
  const text = `! ${age}: the usage report cannot be read now (${gap.why}).`;
  return { kind: 'text', text };
}

function openingLines({ facts, measured, day, span }: Told): readonly string[] {
  const { series, states, minimum, rows } = measured;
  const { period } = facts.options;
  const own = dayText(series, day, creditsOf(minimum));
  if (period === 'day' && lengthOf(span) === 1) return [own];
  if (period === 'day') return dayByDay(series, span, { day, own });
  const before = period === 'month' ? monthSpan(previousMonth(span)) : spanBefore(span);
  const compared = comparedText(rows, span, before, facts.today);
  const open = openText(states, span);
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

function allFigures({ facts, measured }: Told) {
  const own = figures(measured.series, measured.states, facts);
  const budgets = shows(facts, 'budgets') ? facts.watched.budgets : [];
  return [...own, ...budgets.map((text) => ['Budget', text] as const)];
}

interface Findings {
  readonly lines: readonly Part[];
  readonly notable: boolean;
}

function findings({ facts, measured, day, span }: Told): Findings {
  const { rows, states, series, minimum } = measured;
  const { posted, changes, watched, options } = facts;
  const isLong = options.period !== 'day';
  const held = isLong ? span : { first: day.day, last: day.day };
  const wanted = { minimum, increasesOnly: options.increasesOnly };
  const movers = shows(facts, 'movers') ? moverLines(rows, held, spanBefore(held), wanted) : [];
  const revised = shows(facts, 'revisions') ? revisedLines(posted, states, minimum) : [];
  const rises = isLong || isRise(series, day, creditsOf(minimum));
  const during = { first: spanBefore(held).first, last: facts.covers.last };
  const behind = rises ? changeLines(changes, during) : [];
  const against = isLong ? 'the time before' : dayLabel(spanBefore(held).first);
  return {
    lines: [
      ...listed(`Moved most, against ${against}`, movers),
      ...unusualPart(facts),
      ...listed('Revised', revised),
      ...listed('Changes of these days', behind),
    ],
    notable:
      isNotable(series, day, creditsOf(minimum)) ||
      revised.length > 0 ||
      (watched.unusual ?? []).length > 0,
  };
}

function unusualPart(facts: DigestFacts): readonly Part[] {
  const { unusual } = facts.watched;
  if (unusual === null || !shows(facts, 'unusual')) return [];
  if (unusual.length === 0) return [{ kind: 'text', text: 'Nothing unusual.' }];
  const more = unusual.length - UNUSUAL_MAX;
  const shown = unusual.slice(0, UNUSUAL_MAX);
  return listed('Unusual', more > 0 ? [...shown, `and ${more} more`] : shown);
}

function listed(heading: string, lines: readonly string[]): readonly Part[] {
  if (lines.length === 0) return [];
  return [{ kind: 'text', text: [`${heading}:`, ...lines.map((line) => `• ${line}`)].join('\n') }];
}

function chartOf({ facts, measured }: Told): Part | null {
  const last = addDays(facts.today, -1);
  return chartPart(measured.rows, { first: addDays(last, 1 - CHART_DAYS), last });
}

function footerText({ read, next, selector }: DigestFacts): string {
  const storage = selector.services
    ? ['storage and backups are billed to warehouses and not in it']
    : [];
  const coming = next ? [`next digest ${stamp(next)}`] : [];
  return [footer(read), ...storage, ...coming].join(' · ');
}

function stamp(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function threadOf({ facts, measured, day }: Told): Answer | null {
  if (!shows(facts, 'table') || measured.rows.length === 0) return null;
  const title = `${subject(facts)} by service · ${dayLabel(day.day)} (UTC)`;
  const total = creditsText(microOf(day.value));
  const text = `${total} on ${dayLabel(day.day)}${day.final ? '' : ' so far, not final'}`;
  return { title, parts: [serviceTable(measured.rows, day.day), { kind: 'note', text }] };
}

/** No data is not zero: it is said why there is nothing, and no figure stands anywhere. */
function withoutData(facts: DigestFacts): Composed {
  const why = facts.read.gaps[0]?.why;
  const text = why
    ? `! The usage report cannot be read now, and nothing of it was kept: ${why}.`
    : 'The usage report has no data for these days.';
  const message: Answer = {
    title: `${subject(facts)} · ${spanLabel(facts.covers, facts.today)} (UTC) · not known`,
    parts: [
      { kind: 'text', text },
      { kind: 'note', text: footerText(facts) },
    ],
  };
  return { message, thread: null, notable: true };
}
