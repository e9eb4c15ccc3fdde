import type { CommitmentEnd } from '../costs/budget/commitment.ts';
import { type Day, dayNumber } from '../costs/calendar/day.ts';
import { formatDate, formatSpan } from '../costs/calendar/format.ts';
import { bracketed, figure, roundedFigure, shareText } from '../costs/ledger/numbers.ts';
import { microOf } from '../costs/ledger/row.ts';
import { roughMoneyText } from '../costs/money/money-text.ts';
import { countWords } from '../intent/answers/texts.ts';
import type { BudgetStanding } from './budgets.ts';

type Fact = readonly [string, string];
type End<State extends CommitmentEnd['state']> = CommitmentEnd & { readonly state: State };

/** Credits of a whole period, without decimals from 10 on. */
export function credits(amount: number): string {
  return roundedFigure(amount, Math.abs(amount) < 10);
}

/** `1 Mar 2026 – 28 Feb 2027`: the current year of a commitment. */
export function yearText({ period }: Pick<BudgetStanding, 'period'>): string {
  return formatSpan(period, NO_YEAR);
}

/** As the current day, it leaves out no year. */
const NO_YEAR = '';

export function hasBegun({ commitment }: BudgetStanding): boolean {
  return commitment?.end.state !== 'not-begun';
}

/** `begins on 1 Jan 2027` */
export function beginText({ period }: BudgetStanding): string {
  return `begins on ${dateText(period.first)}`;
}

/** `40% of the year elapsed`; null for a budget of months and before the year begins. */
export function elapsedText(standing: BudgetStanding): string | null {
  const { commitment } = standing;
  if (commitment === null || !hasBegun(standing)) return null;
  return `${shareText(commitment.elapsed / commitment.days)} of the year elapsed`;
}

/** The elapsed share, and the burn rate next to the rate that would last for the year. */
export function paceFacts(standing: BudgetStanding): readonly Fact[] {
  const { commitment } = standing;
  if (commitment === null) return [];
  const { elapsed, days, end } = commitment;
  const year = yearText(standing);
  if (end.state === 'not-begun') return [['Year', `${year}, not begun yet`]];
  const text = `${shareText(elapsed / days)} · ${elapsed} of ${countWords(days, 'day')} of ${year}`;
  return [['Elapsed', text], ...burnFacts(standing)];
}

function burnFacts({ commitment, money, forecast }: BudgetStanding): readonly Fact[] {
  if (!commitment || commitment.burnRate === null || !forecast.ok) return [];
  const { burnRate, allowance, end } = commitment;
  const perDay = (rate: number) => {
    const cost = money?.perDay(rate);
    return `${figure(microOf(rate))} per day${bracketed(cost ? roughMoneyText(cost) : null)}`;
  };
  const rate = `${perDay(burnRate)} in the last ${countWords(forecast.basis.days, 'settled day')}`;
  if (allowance === null || end.state === 'used-up') return [['Burn rate', rate]];
  return [['Burn rate', `${rate}; ${perDay(allowance)} would last for the year`]];
}

/** `used up about 12 Jan 2027, 47 days early`; empty while the credits last for the year. */
export function endNotes({ commitment, period }: BudgetStanding): readonly string[] {
  if (commitment === null) return [];
  const { end } = commitment;
  if (end.state === 'used-up') return [`used up on ${dateText(end.day)}`];
  if (end.state !== 'before-end') return [];
  return [`used up about ${dateText(end.day)}${earlyText(end.day, period.last)}`];
}

export function endFacts({ commitment, period, money }: BudgetStanding): readonly Fact[] {
  if (commitment === null || commitment.end.state === 'not-begun') return [];
  return [['Expected end', endText(commitment.end, { last: period.last, money })]];
}

interface EndOfYear extends Pick<BudgetStanding, 'money'> {
  readonly last: Day;
}

function endText(
  end: Exclude<CommitmentEnd, End<'not-begun'>>,
  { last, money }: EndOfYear,
): string {
  switch (end.state) {
    case 'unknown':
      return 'unknown without a forecast';
    case 'used-up':
      return `used up on ${dateText(end.day)}${earlyText(end.day, last)}`;
    case 'before-end': {
      return `about ${dateText(end.day)}${earlyText(end.day, last)}${rangeText(end, last)}`;
    }
    case 'lasts': {
      const early = end.earliest === null ? '' : `; at the earliest on ${dateText(end.earliest)}`;
      const left = money?.left(end.left);
      const rest = `${credits(end.left)} credits${bracketed(left ? roughMoneyText(left) : null)}`;
      return `lasts until ${dateText(last)}, about ${rest} left${early}`;
    }
  }
}

function rangeText({ earliest, latest }: End<'before-end'>, last: Day): string {
  if (latest === null) return ` (${dateText(earliest)} to after ${dateText(last)})`;
  const range = { first: earliest, last: latest };
  return earliest === latest ? '' : ` (${formatSpan(range, NO_YEAR)})`;
}

function earlyText(day: Day, last: Day): string {
  const days = dayNumber(last) - dayNumber(day);
  return days > 0 ? `, ${countWords(days, 'day')} early` : '';
}

function dateText(day: Day): string {
  return `${formatDate(day)} ${day.slice(0, 4)}`;
}
