/** The text of a digest: one conclusion as its title, what to act on, and the details for the thread. */
import {
  formatDay,
  formatDays,
  formatMonthName,
  formatSpan,
  lengthOf,
  monthOf,
  monthSpan,
  type Span,
  startOf,
  within,
} from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import { type Answer, type AnswerPart, utcStamp } from '../domain/answer.ts';
import { type UsualRange, usualRange } from '../maths/anomalies.ts';
import { compare, explainChange, pairsOf } from '../maths/compare.ts';
import { completed, type DayState } from '../maths/days.ts';
import { type Forecast, forecastMoney, forecastMonth } from '../maths/forecast.ts';
import { type SummaryLine, sumBy } from '../maths/lines.ts';
import { roughMoneyText } from '../maths/money.ts';
import {
  bracketed,
  changeText,
  creditsText,
  figure,
  roundedFigure,
  shareText,
  signedFigure,
} from '../maths/numbers.ts';
import { spanBefore } from '../maths/period.ts';
import { type CostRow, type DayValue, microOf } from '../maths/rows.ts';
import { headingText, moneyOfWhole, progressBar } from './budget-answer.ts';
import { type BudgetMemory, stepText } from './budget-notices.ts';
import { type BudgetStanding, missingText } from './budgets.ts';
import { changeOf, moverText } from './comparison.ts';
import {
  type DigestBudget,
  type DigestFacts,
  type DigestMeasures,
  type LastPosted,
  measure,
  toLastPosted,
  totalsPosted,
} from './digest-data.ts';
import { varyingTexts } from './incident-answers.ts';
import { decreaseText, effectText, incidentButtons, incidentId, unusualText } from './incidents.ts';
import { scopeNotes } from './scope.ts';
import { dayCountsOf, footerPart, rangeText } from './standing.ts';
import { chartPart, figureCell } from './table.ts';

export interface ComposedDigest {
  readonly message: Answer;
  /** The details for the thread; null without rows. */
  readonly thread: Answer | null;
  /** Whether something needs attention, so that a quiet digest is posted. */
  readonly notable: boolean;
  /** What the next digest is compared with. */
  readonly lastPosted: LastPosted;
}

/** One message of at most twelve blocks, and the details for its thread. Source: docs/costs.md#digest-content. */
export function composeDigest(facts: DigestFacts): ComposedDigest {
  const measured = measure(facts);
  const inputs: Inputs = { facts, measured, ...attentionOf(facts, measured) };
  const { unusual, over } = inputs;
  const { title, rest } = headlineOf(inputs);
  const parts: readonly (AnswerPart | null)[] = [
    ...actionParts(inputs, rest),
    ...changeParts(facts),
    chartOf(inputs),
    greyLine(inputs),
  ];
  return {
    message: { title, parts: parts.filter((part) => part !== null) },
    thread: measured.rows.length === 0 ? null : threadOf(inputs),
    notable: unusual.length > 0 || over.length > 0 || facts.read.gaps.length > 0,
    lastPosted: toLastPosted(facts, measured.states, unusual.map(incidentId)),
  };
}

/** What needs attention. The title and the body are written from this one value. */
interface Inputs {
  readonly facts: DigestFacts;
  readonly measured: DigestMeasures;
  /** Unusual costs of the reported day, and those that the last digest could not show yet. */
  readonly unusual: DigestFacts['judged']['unusual'];
  /** Budgets that are over, or likely to be, the worst first. */
  readonly over: readonly DigestBudget[];
  /** What could not be read, so that no total is known; null for nothing. */
  readonly missing: string | null;
}

const STEPS: readonly BudgetMemory['step'][] = ['over', 'almost', 'likely'];

function attentionOf(
  facts: DigestFacts,
  { day }: DigestMeasures,
): Omit<Inputs, 'facts' | 'measured'> {
  const { judged, budgets, covers, lastPosted, read, today } = facts;
  const missing = missingText(read, covers);
  const reported = new Set(lastPosted?.reported);
  const isNews = (one: (typeof judged.unusual)[number]) =>
    one.last >= covers.last || (one.last >= covers.first && !reported.has(incidentId(one)));
  const month = missingText(read, monthSpan(monthOf(today)));
  return {
    unusual: missing === null && day !== null ? judged.unusual.filter(isNews) : [],
    over:
      month === null
        ? STEPS.flatMap((step) => budgets.filter(({ memory }) => memory.step === step))
        : [],
    missing,
  };
}

function shortened(name: string, most: number): string {
  return name.length <= most ? name : `${name.slice(0, most - 1)}…`;
}

/** Two lines on a phone: of 390 px, of which the sandbox leaves 318 px to a title. */
const TITLE_MAX = 56;
/** Names are shortened as far as the title needs it. */
const NAME_MAX = [30, 16, 7];

/** A title, and the sentences that it has no room for. */
type Headline = readonly [title: string, ...rest: readonly (string | null)[]];

/**
 * One conclusion: over a budget, likely over it, unusual, or as usual. It is also the text of the
 * notification. What does not fit, such as the month or the cost of the day, is the first line of the message.
 */
function headlineOf(inputs: Inputs): { readonly title: string; readonly rest: string | null } {
  const all = NAME_MAX.flatMap((most) => headlines(inputs, most));
  const [title = '', ...rest] = all.find(([{ length }]) => length <= TITLE_MAX) ?? all.at(-1) ?? [];
  const texts = rest.flatMap((text) => (text === null ? [] : [capitalized(text)]));
  return { title, rest: texts.length > 0 ? `${texts.join('. ')}.` : null };
}

/** From the one with everything in its title to the shortest one. */
function headlines(inputs: Inputs, nameMax: number): readonly Headline[] {
  const { facts, over, unusual, missing } = inputs;
  const heads = headTexts(inputs);
  const [long = ''] = heads;
  const verdict = verdictText(inputs, nameMax);
  const [worst] = over;
  if (worst) {
    const day = [long, verdict].filter(Boolean).join(', ');
    const [conclusion, amount] = budgetConclusion(worst, facts.scope !== null, nameMax);
    return [
      ...heads.map(
        (head) => [`${conclusion}: ${amount} · ${uncapitalized(head)}`, verdict] as const,
      ),
      [`${conclusion}: ${amount}`, day],
      [conclusion, amount, day],
    ];
  }
  const subject = facts.scope === null ? '' : `${shortened(facts.scope, nameMax)}: `;
  const month = monthText(inputs);
  if (missing !== null)
    return heads.map((head) => [`${subject}${head}`, `${missing} could not be read`, month]);
  const titles = heads.map((head) => [subject + head, verdict].filter(Boolean).join(', '));
  return [
    ...titles.flatMap((title): readonly Headline[] =>
      month === null ? [[title]] : [[`${title} · ${month}`], [title, month]],
    ),
    ...(unusual.length > 0
      ? ([[`${subject}${capitalized(verdict ?? '')}`, long, month]] as const)
      : []),
    ...(nameMax === NAME_MAX.at(-1)
      ? heads.map((head) => [subject + head, verdict, month] as const)
      : []),
  ];
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** The name of a weekday keeps its letter. */
function uncapitalized(head: string): string {
  return head.replace(/^Yesterday/, 'yesterday');
}

/** `November over budget` and `9,260 of 9,000`; of a part of the costs always with the name of the budget. */
function budgetConclusion(
  { standing, memory: { step }, isOwn }: DigestBudget,
  isPart: boolean,
  nameMax: number,
): readonly [string, string] {
  const { budget, spent, forecast, period } = standing;
  const words = {
    over: 'over',
    almost: 'almost certainly over',
    likely: 'likely over',
    within: 'within',
  };
  const name = isOwn && !isPart ? 'budget' : `budget ${shortened(budget.name, nameMax)}`;
  const amount = step === 'over' || !forecast.ok ? credits(spent) : pointText(forecast);
  return [
    `${formatMonthName(period.first)} ${words[step]} ${name}`,
    `${amount} of ${credits(budget.credits)}`,
  ];
}

/** `Yesterday, Thu 19 Nov: 317 credits so far`, and the same without the date, and without money. */
function headTexts(inputs: Inputs): readonly string[] {
  const { covers, today, period } = inputs.facts;
  const date = period === 'day' ? formatDay(covers.last) : formatSpan(covers, today);
  const isYesterday = period === 'day' && covers.last === addDays(today, -1);
  const names = isYesterday ? [`Yesterday, ${date}`, 'Yesterday'] : [date];
  return costTexts(inputs).flatMap((cost) => names.map((name) => `${name}: ${cost}`));
}

/** `317 credits (€111) so far`, and without money. */
function costTexts({ facts: { covers, period }, measured, missing }: Inputs): readonly string[] {
  const { states } = measured;
  if (missing !== null) return ['not known'];
  const { total, money, preliminaryDays, missing: none } = dayCountsOf(states, covers);
  if (none.length === lengthOf(covers)) return [period === 'day' ? 'no data yet' : 'no data'];
  const open = preliminaryDays > 0 ? ' so far' : '';
  const inCredits = `${credits(total / 1e6)} credits`;
  return [...(money ? [`${inCredits} (${roughMoneyText(money)})`] : []), inCredits].map(
    (text) => `${text}${open}`,
  );
}

/** `unusual: ml-features +61%`, `as usual`, `more by your changes`, `above the usual 233–310`, or for a week `+3% vs 9–15 Nov`. */
function verdictText({ facts, measured, unusual }: Inputs, nameMax: number): string | null {
  const { covers, period, today } = facts;
  if (period !== 'day') {
    const before = spanBefore(covers);
    const compared = compare(measured.series, covers, before);
    // Days that still grow would look like a decrease.
    if (!compared?.isFinal || missingText(facts.read, before) !== null) return null;
    return `${changeOf(compared)} vs ${formatSpan(before, today)}`;
  }
  const [first] = unusual;
  if (first) {
    const change = first.relative === null ? first.kind : changeText(first.relative);
    return `unusual: ${shortened(first.name, nameMax)} ${change}`;
  }
  const usual = measured.day && usualRange(measured.series, measured.day);
  if (!usual) return null;
  if (usual.side === 'within') return canBeJudged(measured.day) ? 'as usual' : null;
  if (facts.judged.isExplained)
    return `${usual.side === 'above' ? 'more' : 'less'} by your changes`;
  return `${usual.side} the usual ${rangeOf(usual)}`;
}

/** Of a day that was seen once, only a cost that is above usual already is known. */
function canBeJudged(day: DayValue | null): boolean {
  return day !== null && (day.final || (day.openDay?.completeness ?? null) !== null);
}

function rangeOf({ low, high }: UsualRange): string {
  return rangeText(low, high);
}

/** `November 8,074 of 9,000`, or with a wide range `November 3,858–9,854 of 9,000`. */
function monthText({ facts, measured }: Inputs): string | null {
  const span = monthSpan(monthOf(facts.today));
  const month = formatMonthName(span.first);
  const missing = missingText(facts.read, span);
  if (missing !== null) return `${month} not known`;
  const own = facts.budgets.find(({ isOwn }) => isOwn)?.standing;
  const forecast = own?.forecast ?? forecastOf(facts, measured.series);
  if (!forecast.ok) return null;
  const money = forecastMoney(forecast.total, measured.series, span, facts.read.prices ?? null);
  if (!own) {
    const inMoney = bracketed(forecast.isWide ? null : money && roughMoneyText(money));
    return `${month} heading for ${pointText(forecast)}${inMoney}`;
  }
  const inMoney = bracketed(forecast.isWide ? null : moneyOfWhole(money, own.money?.amount));
  return `${month} ${pointText(forecast)} of ${credits(own.budget.credits)}${inMoney}`;
}

function forecastOf({ today, judged }: DigestFacts, series: readonly DayValue[]): Forecast {
  const { isExplained } = judged;
  return forecastMonth(series, today, isExplained);
}

function pointText({ total, low, high, isWide }: Forecast & { ok: true }): string {
  return isWide ? rangeText(low, high) : credits(total);
}

function credits(amount: number): string {
  return roundedFigure(amount, Math.abs(amount) < 10);
}

const LINES_MAX = 3;

/** At most three lines to act on, unusual costs with their buttons; or that there is nothing to do. */
function actionParts(inputs: Inputs, rest: string | null): readonly AnswerPart[] {
  const { facts, over, unusual, missing } = inputs;
  const { read, budgets } = facts;
  const [gap] = read.gaps;
  const age = gap?.from ? `These figures are from ${utcStamp(gap.from)}` : 'Figures are missing';
  const lines = [
    ...(gap ? [`⚠ ${age}: the usage report cannot be read now (${gap.why}).`] : []),
    // The worst one is the title.
    ...over.slice(1).map((one) => `⚠ Budget ${one.standing.budget.name}: ${budgetText(one)}`),
  ].slice(0, LINES_MAX);
  const shown = unusual.slice(0, LINES_MAX - lines.length);
  const more = unusual.length - shown.length;
  const isCalm = lines.length === 0 && unusual.length === 0 && missing === null;
  const isNothing = isCalm && over.length === 0;
  const first = [rest, isNothing ? nothingText(budgets, isOutside(inputs)) : null].filter(
    (text) => text !== null,
  );
  return [
    ...(first.length > 0 ? [{ kind: 'text', text: first.join(' ') } as const] : []),
    ...(lines.length > 0 ? [{ kind: 'text', text: lines.join('\n') } as const] : []),
    ...shown.flatMap((one, index): readonly AnswerPart[] => {
      const rest =
        more > 0 && index === shown.length - 1 ? ` (and ${more} more in the thread)` : '';
      const text = `⚠ ${unusualText(one)}${rest}`;
      return [{ kind: 'text', text }, incidentButtons(one)];
    }),
  ];
}

/** A forecast above a budget is news on its second morning, and never *within budget*. */
function nothingText(budgets: readonly DigestBudget[], isDayOutside: boolean): string {
  const nothing = isDayOutside ? 'No single line is unusual' : 'Nothing unusual';
  const near = budgets.find(
    ({ standing: { forecast, budget } }) => forecast.ok && forecast.total > budget.credits,
  );
  if (near)
    return `${nothing}. Budget ${near.standing.budget.name}: ${headingText(near.standing)}.`;
  const isKnown = budgets.length > 0 && budgets.every(({ standing }) => standing.missing === null);
  return isKnown
    ? `Within budget, ${nothing.charAt(0).toLowerCase()}${nothing.slice(1)}.`
    : `${nothing}.`;
}

/** The day is above or below its usual range, and no change explains it. */
function isOutside({ facts, measured: { day, series } }: Inputs): boolean {
  const usual = facts.period === 'day' && day ? usualRange(series, day) : null;
  return usual !== null && usual.side !== 'within' && !facts.judged.isExplained;
}

function budgetText({ memory, standing }: DigestBudget): string {
  return stepText(memory.step, standing);
}

const SHOWN_EFFECT_DAYS = 3;

/** `By your changes: analytics-prod stopped (ADHZMF) −13.8 credits per day` */
function changeParts({ judged, covers }: DigestFacts): readonly AnswerPart[] {
  const recent = judged.effects.filter(
    ({ change }) => change.day >= addDays(covers.first, -SHOWN_EFFECT_DAYS),
  );
  const [first] = recent;
  if (!first) return [];
  const texts = recent.slice(0, LINES_MAX).map(effectText);
  const { id } = first.change;
  return [
    { kind: 'text', text: `By your changes: ${texts.join('; ')}` },
    { kind: 'offers', offers: [{ label: `Show ${id}`, line: `change show ${id}` }] },
  ];
}

const CHART_DAYS = 14;

function chartOf({ facts, measured }: Inputs): AnswerPart | null {
  const { last } = facts.covers;
  return chartPart(measured.states, { first: addDays(last, 1 - CHART_DAYS), last }, facts.today);
}

/** Not final days, what changed until days became final, skipped days, decreases, and the age. */
function greyLine(inputs: Inputs): AnswerPart {
  const { facts, measured } = inputs;
  const { read, today, covers, selector, untagged, next, judged } = facts;
  const shown = within(measured.states, {
    first: addDays(covers.last, 1 - CHART_DAYS),
    last: covers.last,
  });
  const daysIn = (state: DayState['state']) =>
    shown.flatMap((one) => (one.state === state ? [one.day] : []));
  const [open, none] = [daysIn('preliminary'), daysIn('no-data')];
  const texts = [
    ...(open.length > 0 ? [`not final ${formatDays(open, today)}`] : []),
    ...(measured.day && !canBeJudged(measured.day) ? [`${formatDay(covers.last)} seen once`] : []),
    ...(none.length > 0 ? [`no data for ${formatDays(none, today)}`] : []),
    ...finalTexts(facts, measured.states),
    ...skippedTexts(facts, measured.states),
    ...judged.decreased.map(decreaseText),
    'days in UTC',
    ...scopeNotes({ selector, untagged }),
  ];
  const footer = footerPart(read, read.gaps[0]?.why, texts);
  return next ? { ...footer, next: { label: 'Next digest', at: next } } : footer;
}

const LEAST_REVISION = microOf(0.05);
const REVISIONS_MAX = 3;

/** `became final: Mon 9 Nov +0.4` */
function finalTexts(facts: DigestFacts, states: readonly DayState[]): readonly string[] {
  const posted = totalsPosted(facts);
  const texts = states.flatMap(({ day, state, total }) => {
    const delta = total - (posted.get(day) ?? total);
    if (state !== 'final' || Math.abs(delta) < LEAST_REVISION) return [];
    return [`${formatDay(day)} ${signedFigure(delta)}`];
  });
  return texts.length === 0 ? [] : [`became final: ${texts.slice(-REVISIONS_MAX).join(', ')}`];
}

/** `not reported before: Fri 27 Nov 310.2, Sat 28 Nov 120.4` */
function skippedTexts({ skipped }: DigestFacts, states: readonly DayState[]): readonly string[] {
  const texts = states.flatMap(({ day, state, total }) => {
    if (!skipped.includes(day)) return [];
    return [`${formatDay(day)} ${state === 'no-data' ? 'no data' : figure(total)}`];
  });
  return texts.length === 0 ? [] : [`not reported before: ${texts.join(', ')}`];
}

/** The figures, the lines that changed most and the table by service. */
function threadOf(inputs: Inputs): Answer {
  const { facts, measured } = inputs;
  const { covers, today, read, scope, judged } = facts;
  const label = facts.period === 'day' ? formatDay(covers.last) : formatSpan(covers, today);
  const subject = scope === null ? '' : `${scope}, `;
  const movers = moverLines(inputs);
  const shown = { first: startOf('month', covers.last), last: covers.last };
  const isWhole = missingText(read, shown) === null;
  return {
    title: `Details of ${subject}${label} (UTC)`,
    parts: [
      { kind: 'facts', facts: figuresOf(inputs) },
      ...(movers === null ? [] : [{ kind: 'text', text: movers } as const]),
      ...(isWhole ? [serviceTable(measured.rows, covers.last)] : []),
      footerPart(read, null, varyingTexts(judged)),
    ],
  };
}

type Fact = readonly [string, string];

/** What a day costs when it is final is shown if it is known and more. */
const KNOWN_ERROR = 0.1;
const LEAST_GROWTH = 1.02;

function figuresOf({ facts, measured, missing }: Inputs): readonly Fact[] {
  const { series, states, day } = measured;
  const { covers, budgets, judged, today } = facts;
  if (missing !== null) return [['Not known', `${missing} could not be read`]];
  const usual = day && usualRange(series, day);
  const whole = day && !day.final && completed(day);
  const month = { first: startOf('month', covers.last), last: covers.last };
  const { total, money } = dayCountsOf(states, month);
  const forecast = forecastOf(facts, series);
  return [
    ...(usual
      ? [[`Usual on ${formatDay(covers.last)}`, `${rangeOf(usual)} credits`] as const]
      : []),
    ...(day && whole && whole.error <= KNOWN_ERROR && whole.value >= LEAST_GROWTH * day.value
      ? [['When final', `about ${credits(whole.value)} credits`] as const]
      : []),
    [formatSpan(month, today), creditsText(total, money)],
    ...(forecast.ok
      ? [[formatMonthName(today), forecastText(forecast, facts, series)] as const]
      : []),
    ...budgets.map(({ standing }) => ['Budget', budgetBar(standing)] as const),
    ...judged.unusual.map((one) => ['Unusual', unusualText(one)] as const),
  ];
}

function forecastText(
  { total, low, high }: Forecast & { ok: true },
  { today, read }: DigestFacts,
  series: readonly DayValue[],
): string {
  const span = monthSpan(monthOf(today));
  const text = `about ${credits(total)} (${rangeText(low, high)}, about 80% sure) if usage does not change`;
  const money = forecastMoney(total, series, span, read.prices ?? null);
  return money ? `${text} · ${roughMoneyText(money)}` : text;
}

/** `production █████░░░ 59% · November heading for 5,812 of 5,500 (+6%)` */
function budgetBar(standing: BudgetStanding): string {
  return `${standing.budget.name} ${progressBar(standing.share)} · ${headingText(standing)}`;
}

const WEEK = 7;

/** The lines that changed most against the same days of the week before. */
function moverLines({ facts, measured }: Inputs): string | null {
  const { covers, read, today } = facts;
  const before = spanBefore(covers);
  const { pairs, isFinal } = pairsOf(read.rows, covers, before);
  const { movers } = explainChange(measured.rows, pairs, LINES_MAX);
  const isKnown = [covers, before].every((span) => missingText(read, span) === null);
  if (movers.length === 0 || !isKnown) return null;
  const part = isFinal ? '' : ', as reported so far';
  const heading = `Changed most vs ${formatSpan(before, today)}${part}:`;
  return [heading, ...movers.map((one) => `• ${moverText(one)}`)].join('\n');
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
    return line ? figureCell(line.total) : null;
  };
  const name = formatMonthName(day);
  return {
    kind: 'table',
    columns: ['Service', formatDay(day), formatDay(weekday), '7 days', name, `Share of ${name}`],
    rows: month.map(({ key, name: service, total, share }) => [
      service,
      cell(now, key),
      cell(before, key),
      cell(week, key),
      figureCell(total),
      share === null ? null : { value: share, text: shareText(share) },
    ]),
  };
}
