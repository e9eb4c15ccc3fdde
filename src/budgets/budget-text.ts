import type { Burn } from '../costs/budget/budget.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import type { Forecast } from '../costs/forecast/forecast.ts';
import { figure, shareText } from '../costs/ledger/numbers.ts';
import { microOf } from '../costs/ledger/row.ts';
import type { Answer, AnswerPart } from '../intent/answers/answer.ts';
import { countWords } from '../intent/answers/counted.ts';
import type { BudgetNews, BudgetStanding } from './budgets.ts';

const CELLS = 8;

/** `█████░░░ 59 %`; what is beyond the amount fills the bar and shows in the figure. */
export function bar(share: number): string {
  const full = Math.min(CELLS, Math.max(0, Math.round(share * CELLS)));
  return `${'█'.repeat(full)}${'░'.repeat(CELLS - full)} ${shareText(share)}`;
}

/** `production █████░░░ 59 % of 12,000 · pace 1.1 times the plan` */
export function budgetLine({ budget, share, pace }: BudgetStanding): string {
  const { name, monthlyCredits } = budget;
  const ratio = pace?.ratio ?? null;
  const speed = ratio === null ? '' : ` · pace ${ratio.toFixed(1)} times the plan`;
  return `${name} ${bar(share)} of ${credits(monthlyCredits)}${speed}`;
}

/** Month to date with what can still change, the pace, and where it is heading. */
export function budgetFacts(standing: BudgetStanding): readonly (readonly [string, string])[] {
  const { budget, spent, preliminary, share, pace, lastFinal, forecast, burn } = standing;
  const open = preliminary > 0 ? `, of which ${credits(preliminary)} are not final` : '';
  const planned =
    pace && lastFinal
      ? `${credits(pace.spent)} through ${dayLabel(lastFinal)}, planned ${credits(pace.plan)}`
      : 'no day of this month is final yet';
  return [
    ['Spent', `${bar(share)} · ${credits(spent)} of ${credits(budget.monthlyCredits)}${open}`],
    ['Pace', planned],
    ['Forecast', forecastText(forecast)],
    ...(burn ? [['Burn', burnText(burn)] as const] : []),
  ];
}

export function forecastText(forecast: Forecast): string {
  if (!forecast.ok) {
    return forecast.why === 'too-few-final-days'
      ? `none yet, for only ${countWords(forecast.finalDays, 'day is', 'days are')} final`
      : 'none, for the last final day is too long ago';
  }
  const { total, low, high } = forecast;
  return `${credits(total)} (${credits(low)}–${credits(high)}), if usage stays as it was lately`;
}

function burnText({ kind, rates: [one, three, seven] }: Burn): string {
  const rates =
    kind === 'fast' ? [`${rate(one)} on the last final day`, `${rate(three)} in 3`] : [];
  return [...rates, `${rate(seven)} in 7 days`].join(', ');
}

function rate(times: number): string {
  return `${times.toFixed(1)} times the plan`;
}

function titleOf(news: BudgetNews, name: string): string {
  switch (news.kind) {
    case 'threshold':
      return `Budget ${name}: ${news.threshold} % are spent`;
    case 'likely-over':
      return `Budget ${name} is likely to be exceeded`;
    case 'almost-certainly-over':
      return `Budget ${name} is almost certain to be exceeded`;
    case 'cleared':
      return `Budget ${name} is likely to last again`;
    case 'burn':
      return `Budget ${name} is spent ${news.burn.kind === 'fast' ? 'very fast' : 'too fast'}`;
  }
}

/** One message for all that is new of one budget. */
export function budgetAnswer(standing: BudgetStanding, news: readonly BudgetNews[]): Answer {
  const { name } = standing.budget;
  const [first, ...others] = news.map((one) => titleOf(one, name));
  const isUnsure = news.some((one) => 'confidence' in one && one.confidence === 'low');
  const parts: readonly AnswerPart[] = [
    ...others.map((text): AnswerPart => ({ kind: 'text', text })),
    { kind: 'facts', facts: budgetFacts(standing) },
    ...(isUnsure
      ? [{ kind: 'note', text: 'The month is young: this rests on the one before.' } as const]
      : []),
    { kind: 'note', text: 'UTC month, in credits. Nothing is capped.' },
  ];
  return { title: first ?? `Budget ${name}`, parts };
}

function credits(amount: number): string {
  return figure(microOf(amount));
}
