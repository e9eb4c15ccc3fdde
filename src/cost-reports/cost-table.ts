import { dayNumber } from '../costs/calendar/day.ts';
import { type By, isOfTime } from '../costs/ledger/grouping.ts';
import { figure, shareText, signedFigure } from '../costs/ledger/numbers.ts';
import { creditsOf } from '../costs/ledger/row.ts';
import type { SummaryLine } from '../costs/ledger/summary.ts';
import type { AnswerPart, Cell, Figure } from '../intent/answers/answer.ts';
import type { LineChange } from './compare-periods.ts';

export function figureCell(micro: number): Figure {
  return { value: creditsOf(micro), text: figure(micro) };
}

/** Credits, share and, for two compared spans, the change of each line. */
export function tablePart(
  by: Exclude<By, 'entity-metric'>,
  lines: readonly SummaryLine[],
  changes: ReadonlyMap<string, LineChange> | null,
): AnswerPart {
  const keys = new Set(lines.map(({ key }) => key));
  const others = [...(changes ?? [])].reduce(
    (sum, [key, { delta }]) => (keys.has(key) ? sum : sum + delta),
    0,
  );
  const rest = { delta: others, isNew: false };
  const changeOf = (key: string) => (key === 'other' ? rest : changes?.get(key));
  const heading = `${by.charAt(0).toUpperCase()}${by.slice(1)}`;
  const mark = lines.some(({ isOpen }) => isOpen) ? ' · * not final' : '';
  return {
    kind: 'table',
    caption: `Credits by ${by}${mark}`,
    columns: [heading, 'Credits', 'Share', ...(changes ? ['Change'] : [])],
    rows: lines.map((line) => [
      nameCell(line, by, keys),
      line.days === 0 ? NO_DATA : creditsCell(line),
      line.share === null ? null : { value: line.share, text: shareText(line.share) },
      ...(changes ? [changeCell(changeOf(line.key))] : []),
    ]),
  };
}

const NO_DATA: Figure = { value: null, text: 'no data' };

function creditsCell({ total, isOpen }: SummaryLine): Figure {
  const { value, text } = figureCell(total);
  return { value, text: isOpen ? `${text}*` : text };
}

/** Days, weeks and months sort by date: by name, April would be the first month. */
function nameCell({ key, name }: SummaryLine, by: By, keys: ReadonlySet<string>): Cell {
  const isCalendar = isOfTime(by) && !keys.has('other');
  return isCalendar ? { value: dayNumber(key.length === 7 ? `${key}-01` : key), text: name } : name;
}

/** Null if no day of the line is final in both spans. */
function changeCell(change: LineChange | undefined): Figure | null {
  if (!change) return null;
  const text = signedFigure(change.delta);
  return { value: creditsOf(change.delta), text: change.isNew ? `${text} (new)` : text };
}
