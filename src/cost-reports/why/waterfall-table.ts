import type { Amount, Step, Waterfall } from '../../costs/comparison/waterfall.ts';
import { bracketed, changeText, signedFigure } from '../../costs/ledger/numbers.ts';
import { creditsOf } from '../../costs/ledger/row.ts';
import { moneyDifference, moneySum } from '../../costs/money/money.ts';
import type { AnswerPart, Cell, Figure } from '../../domain/answer.ts';
import { countWords } from '../../domain/answer.ts';
import { figureCell } from '../tables/cost-table.ts';

/** The steps from one total to the other, each with the total after it. */
export function waterfallTable(
  { start, steps, others, end }: Waterfall,
  labels: Readonly<Record<'start' | 'end', string>>,
): AnswerPart {
  const all = [
    ...steps.map((step) => ({ ...step, name: `${step.name}${noteOf(step)}` })),
    ...(others.lines > 0 || others.micro !== 0 ? [{ ...others, name: nameOfOthers(others) }] : []),
  ];
  let total: Amount = start;
  const rows = all.map((step): readonly Cell[] => {
    total = { micro: total.micro + step.micro, money: moneySum([total.money, step.money]) };
    return [step.name, changeCell(step), totalCell(total)];
  });
  const delta = { micro: end.micro - start.micro, money: moneyDifference(end.money, start.money) };
  return {
    kind: 'table',
    caption: 'Credits by service and metric, from one period to the other',
    columns: ['Step', 'Change', 'Total after'],
    rows: [
      [labels.start, null, totalCell(start)],
      ...rows,
      [labels.end, changeCell(delta), totalCell(end)],
    ],
  };
}

function noteOf({ kind, relative }: Step): string {
  if (kind === 'new') return ' (new)';
  if (kind === 'vanished') return ' (gone)';
  return bracketed(relative === null ? null : changeText(relative));
}

function nameOfOthers({ lines }: Waterfall['others']): string {
  return lines === 0 ? 'rounding' : countWords(lines, 'other');
}

function changeCell({ micro, money }: Amount): Figure {
  return { value: creditsOf(micro), text: signedFigure(micro, money) };
}

function totalCell({ micro, money }: Amount): Figure {
  return figureCell(micro, money);
}
