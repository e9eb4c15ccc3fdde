import {
  formatSpan,
  lengthOf,
  monthOf,
  monthSpan,
  previousMonth,
  type Span,
} from '../base/calendar.ts';
import { moneyOfWhole, overText } from '../budgets/budget-text.ts';
import { changeOf } from '../cost-reports/compare-periods.ts';
import { dayCountsOf } from '../costs/comparison/day-counts.ts';
import { countWords } from '../domain/answer.ts';
import { compare } from '../maths/compare.ts';
import { forecastMoney, forecastMonth } from '../maths/forecast.ts';
import { roughMoneyText } from '../maths/money.ts';
import { bracketed, roundedFigure } from '../maths/numbers.ts';
import { spanBefore } from '../maths/period.ts';
import { unreadMonths } from '../maths/report.ts';
import { creditsOf } from '../maths/rows.ts';
import type { DigestBudget, DigestFacts } from './facts.ts';
import { type FindingInputs, isOneDay } from './findings.ts';
import type { NeededAttention } from './needed-attention.ts';

/** Slack cuts the header of a message here. */
const TITLE_MAX = 150;
const NAME_MAX = 30;

/**
 * The conclusion, which is also the text of the notification: the cost of the days, where the month is
 * heading, and what needs attention. Where these do not fit, the month is left out, then the names and
 * comparisons.
 */
export function digestTitle(inputs: FindingInputs, needed: NeededAttention): string {
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
export function subjectText({ scope }: Pick<DigestFacts, 'scope'>): string {
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

export function spanToCompare({ options }: DigestFacts, span: Span): Span {
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
