import { previousMonth, type Span, spanOfBoth, within } from '../base/calendar.ts';
import { type Day, dayOf } from '../base/time.ts';
import {
  type Answer,
  type AnswerPart,
  type Caller,
  type CommandOffer,
  countWords,
} from '../domain/answer.ts';
import { compare } from '../maths/compare.ts';
import { type DayState, dayStates, statesWithin } from '../maths/days.ts';
import { seriesFrom } from '../maths/lines.ts';
import { creditsText } from '../maths/numbers.ts';
import { comparisonPeriod } from '../maths/period.ts';
import { type CostQuestion, wordsOfScope } from '../maths/question.ts';
import { type CostReading, problemsOf } from '../maths/report.ts';
import { type CostRow, creditsOf, METRICS, type Micro } from '../maths/rows.ts';
import { missingText } from './budgets.ts';
import { comparisonText, lineChanges, type PeriodComparison } from './comparison.ts';
import { isMonthSoFar, monthForecast } from './forecast.ts';
import { ofOrganizations } from './organizations.ts';
import {
  type AskedCosts,
  askCosts,
  type CostContext,
  questionWords,
  readCostQuestion,
} from './question.ts';
import { scopeNotes } from './scope.ts';
import { share, shareOffer } from './share.ts';
import { footerPart, headline, noDataAnswer, openDaysTexts } from './standing.ts';
import { chartPart, linesOf, tablePart } from './table.ts';
import { modelSpan } from './unusual.ts';

/** The answer of `/cost` to the typed words. */
export async function answerCosts(
  words: string,
  context: CostContext,
  asker: Pick<Caller, 'by' | 'channel'>,
): Promise<Answer> {
  const today = dayOf(context.now());
  const asked = readCostQuestion({ command: 'cost', words }, today, context);
  if (!asked.ok) return asked.answer;
  const { question } = asked;
  const { period } = question;
  const versus = question.versus ?? usualComparison(question, today);
  const before = versus && comparisonPeriod(period, versus, today);
  const all = before ? spanOfBoth(period, before) : period;
  const line = `cost ${questionWords(question)}`;
  const costs = await askCosts(question, all, { context, asker, line });
  if (!costs.ok) return costs.answer;
  const { read, rows, select } = costs;
  const states = statesWithin(dayStates(read.rows, all), rows);
  const own = within(states, period);
  // If only the compared days have rows, the cost of the period is unknown, not 0.
  if (own.every(({ state }) => state === 'no-data')) {
    const missing = read.gaps.length > 0 ? null : missingText(read, period);
    // What it is compared with is shown even so.
    const other = question.versus && before;
    const note = other ? ` ${headline(other.label, states, other)}.` : '';
    if (missing === null) return noDataAnswer(period.label, read, question.final, note);
    return { title: unknownText(period.label, missing), parts: [footerPart(read)] };
  }
  const prepared = before && { now: period, before, series: seriesFrom(states) };
  const isUseful = prepared && (question.versus || compare(prepared.series, period, before));
  // A part of a period would look like a change.
  const unread = isUseful ? missingText(read, all) : null;
  const compared = isUseful && unread === null ? prepared : null;
  const forecast = isMonthSoFar(period, today)
    ? monthForecast(
        ofOrganizations(await context.costs(modelSpan(today)), question.scope.organization),
        select,
        today,
      )
    : null;
  const answer = composeAnswer(question, {
    ...costs,
    today,
    states: own,
    compared,
    unread,
    forecast,
  });
  return question.share ? share(answer, line, context, asker) : answer;
}

/** The month so far is compared without being asked, as its forecast needs the same rows. */
function usualComparison({ period }: CostQuestion, today: Day): 'prev' | null {
  return period.unit === 'month' && isMonthSoFar(period, today) ? 'prev' : null;
}

interface ShownCosts extends Omit<AskedCosts & { ok: true }, 'select'> {
  readonly today: Day;
  /** The days of the period. */
  readonly states: readonly DayState[];
  readonly compared: PeriodComparison | null;
  /** What could not be read, so that nothing is compared. */
  readonly unread: string | null;
  readonly forecast: ReturnType<typeof monthForecast>;
}

function composeAnswer(question: CostQuestion, shown: ShownCosts): Answer {
  const { period, by } = question;
  const { today, read, rows, states, compared, unread, scope, label, forecast } = shown;
  const text = compared
    ? comparisonText(compared, today)
    : unread && `Not compared: ${unread} could not be read.`;
  const changes = compared ? lineChanges(rows, read.rows, by, compared) : null;
  const parts: (AnswerPart | null)[] = [
    text ? { kind: 'text', text } : null,
    chartPart(states, period, today),
    tablePart(by, linesOf(question, rows, states, changes), changes),
    ...offersFor(question, shown),
    footerPart(withProblemsOf(shown, period), null, [
      ...openDaysTexts(states, period, { today, final: question.final }),
      ...scopeNotes(scope),
    ]),
  ];
  const missing = missingText(read, period);
  const title =
    missing === null ? headlineOf(question, states) : unknownText(period.label, missing);
  return {
    title: [label, title, forecast?.title].filter(Boolean).join(' · '),
    parts: parts.filter((part) => part !== null),
  };
}

/** `1–21 Nov (UTC): 5,690 credits so far`, or on average per day. */
function headlineOf({ period, average }: CostQuestion, states: readonly DayState[]): string {
  const own = headline(period.label, states, period);
  const perDay = average ? averageOf(states) : null;
  return perDay === null ? own : `${own}, ${perDay} per day`;
}

function unknownText(label: string, missing: string): string {
  return `${label} (UTC): not known, ${missing} could not be read`;
}

/** `271.0 credits`: of the days with data. */
function averageOf(states: readonly DayState[]): string | null {
  const known = states.filter(({ state }) => state !== 'no-data');
  if (known.length < 2) return null;
  const total = known.reduce((sum, one) => sum + one.total, 0);
  return creditsText(Math.round(total / known.length));
}

/** Only the problems of the shown days: whole months are read. With the older copies of the forecast. */
function withProblemsOf({ read, compared, forecast }: ShownCosts, period: Span): CostReading {
  const spans = compared ? [period, compared.before] : [period];
  const gaps = new Map([...(forecast?.gaps ?? []), ...read.gaps].map((gap) => [gap.month, gap]));
  return { ...read, gaps: [...gaps.values()], problems: problemsOf(read.problems, spans) };
}

function offersFor(
  question: CostQuestion,
  { read: { isFinal = false }, compared, today, forecast }: ShownCosts,
): readonly AnswerPart[] {
  const { period } = question;
  const scope = wordsOfScope(question.scope).join(' ');
  const whole = { ...question, versus: null, top: null };
  const rows = { ...whole, average: false };
  const finer = period.first === period.last ? 'metric' : 'day';
  const other = question.by === finer ? 'service' : finer;
  const isLastMonth = period.unit === 'month' && period.first === previousMonth(today).first;
  const line = `cost ${questionWords(question)}`;
  const versus = question.versus ?? 'prev';
  const compare: CommandOffer = compared
    ? { label: 'Why', line: `cost why ${questionWords({ ...rows, by: 'service', versus })}` }
    : { label: 'Compare with previous', line: `cost ${questionWords({ ...question, versus })}` };
  const buttons = [
    { label: `By ${other}`, line: `cost ${questionWords({ ...whole, by: other })}` },
    compare,
    shareOffer(line),
    ...(isFinal ? [] : [{ label: 'Refresh', line: `${line} refresh` }]),
  ];
  const more = [
    { label: 'CSV', line: `cost csv ${questionWords(rows)}` },
    ...(forecast ? [{ label: 'Forecast', line: `cost forecast ${scope}`.trim() }] : []),
    ...(isLastMonth
      ? []
      : [{ label: 'Last month', line: `cost ${questionWords(whole, 'last-month')}` }]),
  ];
  return [
    { kind: 'offers', offers: buttons },
    { kind: 'menu', label: 'More…', offers: more },
  ];
}

/** The answer of `/cost csv` to the typed words: a file with one row per day and entity. */
export async function answerCsv(
  words: string,
  context: CostContext,
  asker: Pick<Caller, 'by'>,
): Promise<Answer> {
  const today = dayOf(context.now());
  const asked = readCostQuestion({ command: 'cost csv', words }, today, context);
  if (!asked.ok) return asked.answer;
  const { question } = asked;
  const { period } = question;
  const line = `cost csv ${questionWords(question)}`;
  const costs = await askCosts(question, period, { context, asker, line });
  if (!costs.ok) return costs.answer;
  const { read, scope } = costs;
  const rows = within(costs.rows, period);
  const text = `${countWords(rows.length, 'row')}, one per day and entity, in credits.`;
  const problems = problemsOf(read.problems, [period]);
  return {
    title: `Costs of ${scope.label ? `${scope.label} · ` : ''}${period.label} (UTC)`,
    parts: [
      { kind: 'text', text },
      footerPart({ ...read, problems }, null, scopeNotes(scope)),
      { kind: 'file', name: `costs-${period.first}-${period.last}.csv`, text: csvOf(rows) },
    ],
  };
}

const COLUMNS: Readonly<Record<string, (row: CostRow) => string | number>> = {
  day: ({ day }) => day,
  kind: ({ kind }) => kind,
  id: ({ entityId }) => entityId,
  name: ({ entityName }) => entityName,
  service: ({ serviceId }) => serviceId ?? '',
  warehouse: ({ warehouseId }) => warehouseId ?? '',
  final: ({ locked }) => (locked ? 'yes' : 'no'),
  total: ({ total }) => creditsOf(total),
};

function csvOf(rows: readonly CostRow[]): string {
  // Named where there are several.
  const named =
    rows[0]?.organization === undefined
      ? {}
      : { organization: ({ organization = '' }: CostRow) => organization };
  const columns = { ...named, ...COLUMNS };
  const sorted = rows.toSorted((a, b) => order(a).localeCompare(order(b)));
  // Those that Signalbox does not know follow, under the names of the report.
  const others = new Set(rows.flatMap(({ metrics }) => Object.keys(metrics)).toSorted());
  const metrics = [...new Set<string>([...METRICS, ...others])];
  const cell = (micro: Micro | undefined) => (micro === undefined ? '' : creditsOf(micro));
  const lines = sorted.map((row) => [
    ...Object.values(columns).map((read) => read(row)),
    ...metrics.map((name) => cell(row.metrics[name])),
  ]);
  // RFC 4180, with a header line.
  const all = [[...Object.keys(columns), ...metrics], ...lines];
  return all.map((line) => line.map(quoted).join(',')).join('\r\n');
}

function order({ day, entityName, entityId }: CostRow): string {
  return `${day} ${entityName} ${entityId}`;
}

// A name that begins like a formula would be evaluated by a spreadsheet; a plain number is not one.
function quoted(cell: string | number): string {
  if (typeof cell === 'number' || /^-?\d+(\.\d+)?$/.test(cell)) return String(cell);
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
