import { costScope, untaggedText } from '../../cost-reports/scope.ts';
import { nameOfOthers } from '../../cost-reports/why/waterfall-table.ts';
import { monthSpan } from '../../costs/calendar/calendar.ts';
import { formatDays, formatSpan } from '../../costs/calendar/format.ts';
import { changesBetween } from '../../costs/comparison/movers.ts';
import {
  roundedWaterfall,
  type Step,
  type Waterfall,
  waterfallOf,
} from '../../costs/comparison/waterfall.ts';
import type { CostReading } from '../../costs/ledger/costs-read.ts';
import { dayStates, selectRows } from '../../costs/ledger/ledger.ts';
import { bracketed, changeText, creditsText, signedFigure } from '../../costs/ledger/numbers.ts';
import type { CostRow } from '../../costs/ledger/row.ts';
import { sumBy } from '../../costs/ledger/summary.ts';
import { moneyDifference, moneyOf } from '../../costs/money/money.ts';
import { signedMoneyText } from '../../costs/money/money-text.ts';
import { withPrices } from '../../costs/money/price.ts';
import type { Service } from '../../directory/directory.ts';
import type { Answer, AnswerPart } from '../../intent/answers/answer.ts';
import { utcStamp } from '../../intent/answers/texts.ts';
import type { CostSelector } from '../../policy/policy-types.ts';
import type { ClosingRecord } from './closing-record.ts';

interface ClosingFacts {
  readonly month: string;
  readonly first: ClosingRecord['first'];
  readonly on: CostSelector | null;
  /** The final rows of the month. */
  readonly read: CostReading;
  readonly services: readonly Service[];
}

/** The announcement of a final month: its total, and what changed since the first report. */
export function closingAnswer(facts: ClosingFacts): Answer {
  const { month, on, read, services } = facts;
  const { label, untagged } = costScope(on, services, read.rows);
  const span = monthSpan(month);
  const missing = dayStates(read.rows, span).filter(({ state }) => state === 'no-data');
  const notes = [
    'All days (UTC) are final',
    missing.length > 0
      ? `no data for ${formatDays(
          missing.map(({ day }) => day),
          span.last,
        )}`
      : null,
    untaggedText(untagged),
  ];
  const { end, lines } = closingChanges(facts);
  const parts: readonly AnswerPart[] = [
    { kind: 'text', text: lines.join('\n') },
    ...(on === null ? [{ kind: 'offers', offers: offersFor(month) } as const] : []),
    { kind: 'note', text: notes.filter((note) => note !== null).join(' · ') },
  ];
  const name = formatSpan(span, span.last);
  const title = `${label ? `${label} · ` : ''}${name} is final: ${end}`;
  return { title, parts };
}

function offersFor(month: string) {
  return [
    { label: 'By service', line: `cost ${month} by service` },
    { label: 'CSV', line: `cost csv ${month}` },
  ];
}

/** The final total as text, and the lines about what changed by service since the first report. */
export function closingChanges({ month, first, on, read, services }: ClosingFacts): {
  readonly end: string;
  readonly lines: readonly string[];
} {
  const span = monthSpan(month);
  const { selector } = costScope(on, services, read.rows);
  const before = selectRows(withPrices(first.rows, read.prices ?? null), selector);
  const now = selectRows(read.rows, selector);
  const changes = changesBetween(sumBy(now, 'service', span), sumBy(before, 'service', span));
  const totals = { start: totalOf(before), end: totalOf(now) };
  const shown = roundedWaterfall(waterfallOf(changes, totals));
  const end = creditsText(shown.end.micro, shown.end.money);
  const at = utcStamp(first.at);
  if (changes.every(({ delta }) => delta === 0)) {
    return { end, lines: [`Unchanged since the first report (${at}).`] };
  }
  return { end, lines: [sinceText(shown, at), ...changeLines(shown)] };
}

function totalOf(rows: readonly CostRow[]) {
  const micro = rows.reduce((sum, { total }) => sum + total, 0);
  return { micro, money: moneyOf(rows.map(({ price, total }) => [price, total])) };
}

/** `+86.6 (+€30.31, +1%) since the first report: 7,689.2 credits (€2,691.22) on …` */
function sinceText({ start, end }: Waterfall, at: string): string {
  const delta = end.micro - start.micro;
  const money = moneyDifference(end.money ?? undefined, start.money ?? undefined);
  const change = start.micro > 0 ? changeText(delta / start.micro) : '±0%';
  const notes = bracketed(money && signedMoneyText(money), change === '±0%' ? null : change);
  const was = creditsText(start.micro, start.money);
  return `${signedFigure(delta)}${notes} since the first report: ${was} on ${at}.`;
}

function changeLines({ steps, others }: Waterfall): readonly string[] {
  const rest = `• ${nameOfOthers(others)} ${signedFigure(others.micro, others.money)}`;
  const hasRest = others.lines > 0 || others.micro !== 0;
  return [...steps.map(stepText), ...(hasRest ? [rest] : [])];
}

const NOTES: Readonly<Record<Step['kind'], string>> = {
  changed: '',
  new: ' (new)',
  vanished: ' (gone)',
};

function stepText({ name, micro, money, kind }: Step): string {
  return `• ${name} ${signedFigure(micro, money)}${NOTES[kind]}`;
}
