import { isDay } from '../../base/calendar.ts';
import { dayNumber } from '../../base/time.ts';
import type { AnswerPart, Cell, Figure } from '../../domain/answer.ts';
import { type By, isOfTime, OTHER_LINES, type SummaryLine } from '../../maths/lines.ts';
import type { Money } from '../../maths/money.ts';
import { moneyText, moneyValue, signedMoneyText } from '../../maths/money.ts';
import { figure, shareText, signedFigure } from '../../maths/numbers.ts';
import { creditsOf, type Micro } from '../../maths/rows.ts';
import { combinedChange, type LineChange, type LineChanges } from './cost-lines.ts';

export function figureCell(micro: Micro, money: Money | null = null): Figure {
  return { value: creditsOf(micro), text: figure(micro, money) };
}

/** Credits, money, share and, for two compared spans, the change of each line. */
export function tablePart(
  by: Exclude<By, 'entity-metric'>,
  lines: readonly SummaryLine[],
  changes: LineChanges,
): AnswerPart {
  const keys = new Set(lines.map(({ key }) => key));
  const others = [...(changes ?? [])].flatMap(([key, one]) => (keys.has(key) ? [] : [one]));
  const changeOf = (key: string) =>
    key === OTHER_LINES ? combinedChange(others) : changes?.get(key);
  const { columns, cellsOf } = amountCells(lines, changes !== null);
  return {
    kind: 'table',
    caption: captionOf(by, lines),
    columns: [headingOf(by), ...columns],
    rows: lines.map((line) => [
      nameCell(line, by, keys.has(OTHER_LINES)),
      ...cellsOf(line, changeOf(line.key)),
    ]),
  };
}

function captionOf(by: string, lines: readonly SummaryLine[]): string {
  return `Credits by ${by}${lines.some(({ isOpen }) => isOpen) ? ' · * not final' : ''}`;
}

function headingOf(by: string): string {
  return `${by.charAt(0).toUpperCase()}${by.slice(1)}`;
}

interface AmountCells {
  readonly columns: readonly string[];
  readonly cellsOf: (line: SummaryLine, change: LineChange | undefined) => readonly Cell[];
}

/** The columns of a table after its names. Money has columns if a line has a price. */
function amountCells(lines: readonly SummaryLine[], hasChanges: boolean): AmountCells {
  const currency = lines.find(({ money }) => money !== null)?.money?.currency ?? null;
  const inMoney = <Item>(item: Item): readonly Item[] => (currency === null ? [] : [item]);
  const changeCells = (change: LineChange | undefined) => [
    changeCell(change),
    ...inMoney(moneyCell(change?.money, signedMoneyText)),
  ];
  return {
    columns: [
      'Credits',
      ...inMoney(currency ?? ''),
      'Share',
      ...(hasChanges ? ['Change', ...inMoney(`Change, ${currency}`)] : []),
    ],
    cellsOf: (line, change) => [
      line.days === 0 ? NO_DATA : creditsCell(line),
      ...inMoney(moneyCell(line.money, moneyText)),
      line.share === null ? null : { value: line.share, text: shareText(line.share) },
      ...(hasChanges ? changeCells(change) : []),
    ],
  };
}

const NO_DATA: Figure = { value: null, text: 'no data' };

function creditsCell({ total, isOpen }: SummaryLine): Figure {
  const { value, text } = figureCell(total);
  return { value, text: isOpen ? `${text}*` : text };
}

/** Days, weeks and months sort by date: by name, April would be the first month. */
function nameCell({ key, name }: SummaryLine, by: By, isByCost: boolean): Cell {
  return isOfTime(by) && !isByCost ? dateCell(key, name) : name;
}

/** The key of a day, week or month as a date; the line of all others sorts last. */
function dateCell(key: string, name: string): Figure {
  const day = key.length === 7 ? `${key}-01` : key;
  return { value: isDay(day) ? dayNumber(day) : null, text: name, isName: true };
}

const NOTES = { changed: '', new: ' (new)', vanished: ' (gone)' } as const;

/** Null if no day of the line is final in both spans. */
function changeCell(change: LineChange | undefined): Figure | null {
  if (!change) return null;
  const text = signedFigure(change.delta);
  return { value: creditsOf(change.delta), text: `${text}${NOTES[change.kind]}` };
}

function moneyCell(money: Money | null | undefined, text: (money: Money) => string): Figure | null {
  return money ? { value: moneyValue(money), text: text(money) } : null;
}
