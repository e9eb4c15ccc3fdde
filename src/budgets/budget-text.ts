import type { Burn } from '../costs/budget/budget.ts';
import { dayLabel } from '../costs/calendar/span-label.ts';
import type { Forecast } from '../costs/forecast/forecast.ts';
import { changeText, figure, shareText } from '../costs/ledger/numbers.ts';
import { microOf } from '../costs/ledger/row.ts';
import type { Answer, AnswerPart } from '../intent/answers/answer.ts';
import { countWords } from '../intent/answers/texts.ts';
import type { BudgetNews, BudgetStanding } from './budgets.ts';

const CELLS = 8;

/** `█████░░░ 59%`; above 100% the bar is full. */
export function progressBar(share: number): string {
  const full = Math.min(CELLS, Math.max(0, Math.round(share * CELLS)));
  return `${'█'.repeat(full)}${'░'.repeat(CELLS - full)} ${shareText(share)}`;
}

/** `production █████░░░ 59% · heading for 5,812 of 5,500 (+6%)` */
export function budgetLine(standing: BudgetStanding): string {
  const { budget, share } = standing;
  const heading = headingText(standing);
  const rest = heading ? ` · ${heading}` : ` of ${credits(budget.monthlyCredits)}`;
  return `${budget.name} ${progressBar(share)}${rest}`;
}

/** `heading for 5,812 of 5,500 (+6%)`; null without a forecast. */
function headingText({ budget: { monthlyCredits }, forecast }: BudgetStanding): string | null {
  if (!forecast.ok) return null;
  const change = changeText(forecast.total / monthlyCredits - 1);
  return `heading for ${credits(forecast.total)} of ${credits(monthlyCredits)} (${change})`;
}

/** The month to date with its part that is not final, the plan, the forecast and the burn rate. */
export function budgetFacts(standing: BudgetStanding): readonly (readonly [string, string])[] {
  const { budget, spent, preliminary, share, pace, lastFinal, forecast, burn } = standing;
  const open = preliminary > 0 ? `, ${credits(preliminary)} of it not final` : '';
  const planned =
    pace && lastFinal
      ? `${credits(pace.spent)} through ${dayLabel(lastFinal)}, planned ${credits(pace.plan)}`
      : 'no final day in this month yet';
  return [
    [
      'Spent',
      `${progressBar(share)} · ${credits(spent)} of ${credits(budget.monthlyCredits)}${open}`,
    ],
    ['Plan', planned],
    ['Forecast', forecastText(forecast)],
    ...(burn ? [['Burn', burnText(burn)] as const] : []),
  ];
}

function forecastText(forecast: Forecast): string {
  if (!forecast.ok) {
    return forecast.why === 'too-few-final-days'
      ? `none yet: only ${countWords(forecast.finalDays, 'day is', 'days are')} final`
      : 'none: the last final day is too long ago';
  }
  const { total, low, high } = forecast;
  return `${credits(total)} (${credits(low)}–${credits(high)}) if usage does not change`;
}

function burnText({ kind, rates: [one, three, seven] }: Burn): string {
  const rates =
    kind === 'fast' ? [`${rate(one)} on the last final day`, `${rate(three)} in 3`] : [];
  return [...rates, `${rate(seven)} in 7 days`].join(', ');
}

function rate(times: number): string {
  return `${times.toFixed(1)} times the plan`;
}

function titleOf(news: BudgetNews, standing: BudgetStanding): string {
  return `Budget "${standing.budget.name}": ${newsText(news, standing)}`;
}

function newsText(news: BudgetNews, standing: BudgetStanding): string {
  const heading = headingText(standing) ?? 'no forecast';
  switch (news.kind) {
    case 'threshold':
      return `past ${news.threshold}% (${shareText(standing.share)} spent)`;
    case 'likely-over':
      return `likely over, ${heading}`;
    case 'almost-certainly-over':
      return `almost certainly over, ${heading}`;
    case 'cleared':
      return `within budget again, ${heading}`;
    case 'burn':
      return news.burn.kind === 'fast' ? 'spent very fast' : 'spent too fast';
  }
}

/** One message for all news about one budget. */
export function budgetAnswer(standing: BudgetStanding, news: readonly BudgetNews[]): Answer {
  const [title = '', ...others] = news.map((one) => titleOf(one, standing));
  const isEarly = news.some((one) => 'confidence' in one && one.confidence === 'low');
  const parts: readonly AnswerPart[] = [
    ...others.map((text): AnswerPart => ({ kind: 'text', text })),
    { kind: 'facts', facts: budgetFacts(standing) },
    ...(isEarly
      ? [
          {
            kind: 'note',
            text: 'Early in the month: this forecast uses the previous month.',
          } as const,
        ]
      : []),
    { kind: 'note', text: 'UTC month, in credits. A budget does not limit usage.' },
  ];
  return { title, parts };
}

function credits(amount: number): string {
  return figure(microOf(amount < 10 ? amount : Math.round(amount))).replace(/\.0$/, '');
}
