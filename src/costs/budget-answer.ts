import { formatDay, formatSpan, type Span, startOf } from '../base/calendar.ts';
import { dayOf } from '../base/time.ts';
import { type Answer, type AnswerPart, countWords, textAnswer } from '../domain/answer.ts';
import type { Service } from '../domain/targets.ts';
import { type Money, roughMoneyText } from '../maths/money.ts';
import { bracketed, changeText, shareText } from '../maths/numbers.ts';
import type { CostReading } from '../maths/report.ts';
import {
  type Budget,
  type BudgetStanding,
  type Burn,
  budgetSpan,
  budgetStandings,
} from './budgets.ts';
import { untaggedText } from './scope.ts';
import { footerPart, noDataAnswer, roundedCredits } from './standing.ts';

interface BudgetContext {
  readonly budgets: readonly Budget[];
  readonly costs: (span: Span) => Promise<CostReading>;
  readonly services: () => readonly Service[];
  readonly now: () => Date;
}

/** The answer of `/cost budget`: where each budget stands in the current UTC month. */
export async function listBudgets(context: BudgetContext): Promise<Answer> {
  const today = dayOf(context.now());
  if (context.budgets.length === 0) {
    const text = 'signalbox.yaml defines no budgets. An operator of Signalbox can add one.';
    return textAnswer('No budgets', text);
  }
  const read = await context.costs(budgetSpan(today));
  if (read.rows.length === 0) return noDataAnswer('Budgets', read);
  const sources = { ...context, services: context.services(), today };
  const standings = budgetStandings(sources, read);
  const parts = standings.flatMap((standing): readonly AnswerPart[] => [
    { kind: 'text', text: headingOf(standing) },
    { kind: 'facts', facts: budgetFacts(standing) },
  ]);
  const month = formatSpan({ first: startOf('month', today), last: today }, today);
  return {
    title: `Budgets · ${month} (UTC)`,
    parts: [...parts, footerPart(read)],
  };
}

/** `⚠ production: heading for 5,812 of 5,500 (+6%)` */
function headingOf(standing: BudgetStanding): string {
  const { name, state, text } = budgetSummary(standing);
  return `${state === 'over' ? '⚠ ' : ''}${name}: ${text}`;
}

/** A budget as a line of a digest. */
export interface BudgetSummary {
  readonly name: string;
  /** In credits, of the whole month. */
  readonly amount: number;
  readonly amountMoney: Money | null;
  /** `unknown`: not spent yet, and without a forecast or a part of the report. */
  readonly state: 'within' | 'over' | 'unknown';
  /** The expected spend relative to the amount; without a forecast, the spend so far. */
  readonly ratio: number;
  /** `heading for 5,812 of 5,500 (+6%)` */
  readonly text: string;
  /** `█████░░░ 59% · heading for 5,812 of 5,500 (+6%)` */
  readonly bar: string;
}

export function budgetSummary(standing: BudgetStanding): BudgetSummary {
  const { budget, share, forecast, money, unread } = standing;
  const amount = budget.credits;
  const ratio = Math.max(share, forecast.ok ? forecast.total / amount : 0);
  const isKnown = forecast.ok && unread.length === 0;
  const heading = headingText(standing);
  const spent = `${spentText(standing)}${bracketed(moneyOfWhole(money?.spent, money?.amount))}`;
  const [first = spent, ...rest] = [
    ...(share > 1 ? [`${spent} spent`] : []),
    ...(heading === null ? [] : [heading]),
  ];
  const text = [first, ...rest].join(', ');
  const bar = `${progressBar(share)} · ${text}`;
  const state = ratio > 1 || share >= 1 ? 'over' : isKnown ? 'within' : 'unknown';
  const amountMoney = money?.amount ?? null;
  return { name: budget.name, amount, amountMoney, ratio, state, text, bar };
}

/** `heading for 5,812 of 5,500 (+6%)`; null without a forecast. */
export function headingText({ budget, forecast, money }: BudgetStanding): string | null {
  if (!forecast.ok) return null;
  const { total } = forecast;
  const change = overText(total / budget.credits - 1);
  const note = bracketed(change, moneyOfWhole(money?.forecast?.[0], money?.amount));
  return `heading for ${roundedCredits(total)} of ${roundedCredits(budget.credits)}${note}`;
}

/** A budget that is exceeded by less than half a percent is not shown as met. */
export function overText(fraction: number): string {
  return fraction > 0 && fraction < 0.005 ? '+<1%' : changeText(fraction);
}

/** `1,739 of 5,500` */
function spentText({ budget, spent }: BudgetStanding): string {
  return `${roundedCredits(spent)} of ${roundedCredits(budget.credits)}`;
}

/** `€609 of €1,925`; null without prices. */
export function moneyOfWhole(
  part: Money | null | undefined,
  whole: Money | null | undefined,
): string | null {
  return part && whole ? `${roughMoneyText(part)} of ${roughMoneyText(whole)}` : null;
}

/** The state of a budget. */
export function budgetFacts(standing: BudgetStanding): readonly (readonly [string, string])[] {
  const leftOut = untaggedText(standing.untagged);
  const { preliminary, share, burn, money, unread } = standing;
  const openMoney = bracketed(money?.preliminary ? roughMoneyText(money.preliminary) : null);
  const open =
    preliminary > 0 ? `, ${roundedCredits(preliminary)}${openMoney} of it not final` : '';
  const spent = `${spentText(standing)}${bracketed(moneyOfWhole(money?.spent, money?.amount))}`;
  return [
    ['Spent', `${progressBar(share)} · ${spent}${open}`],
    ['Plan', planText(standing)],
    ['Forecast', forecastText(standing)],
    ...(burn ? [['Burn', burnText(burn)] as const] : []),
    ...(leftOut ? [['Scope', leftOut] as const] : []),
    ...(unread.length > 0
      ? [['Not read', `${unread.join(', ')}: not in these figures`] as const]
      : []),
  ];
}

function planText({ pace, lastSettled, money }: BudgetStanding): string {
  if (!pace || !lastSettled) return 'no settled day in this month yet';
  const inMoney = bracketed(moneyOfWhole(money?.pace?.spent, money?.pace?.plan));
  const planned = `${roundedCredits(pace.plan)} planned${inMoney}`;
  return `${roundedCredits(pace.spent)} spent through ${formatDay(lastSettled)}, ${planned}`;
}

function forecastText({ forecast, money }: BudgetStanding): string {
  if (!forecast.ok) {
    return forecast.why === 'too-few-settled-days'
      ? `none yet: only ${countWords(forecast.settledDays, 'day is', 'days are')} settled`
      : 'none: the last settled day is too long ago';
  }
  const { total, low, high } = forecast;
  const text = `${roundedCredits(total)} (${roundedCredits(low)}–${roundedCredits(high)}) if usage does not change`;
  const [inAll, from, to] = (money?.forecast ?? []).flatMap((end) =>
    end ? [roughMoneyText(end)] : [],
  );
  return inAll ? `${text} · ${inAll} (${from}–${to})` : text;
}

function burnText({ kind, rates: [one, three, seven] }: Burn): string {
  const rates =
    kind === 'fast' ? [`${rate(one)} on the last settled day`, `${rate(three)} in 3 days`] : [];
  return [...rates, `${rate(seven)} in 7 days`].join(', ');
}

export function rate(times: number): string {
  return `${times.toFixed(1)} times the plan`;
}

/** `█████░░░ 59%`; above 100% the bar is full. */
export function progressBar(share: number): string {
  const full = Math.min(CELLS, Math.max(0, Math.round(share * CELLS)));
  return `${'█'.repeat(full)}${'░'.repeat(CELLS - full)} ${shareText(share)}`;
}

const CELLS = 8;
