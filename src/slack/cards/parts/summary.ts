import type { Plan, PlanRow } from '../../../domain/change.ts';
import { valueText } from '../../../domain/targets.ts';
import { lines, type MessagePart } from '../../blocks/blocks.ts';
import type { Line } from '../../blocks/rich-text.ts';
import { beforeAfterTable } from '../../blocks/table.ts';
import { rowLines, storedInstant } from '../plan-lines.ts';

/** The content of a card or preview, in the order in which it is shown. */
interface Summary {
  readonly head: readonly Line[];
  readonly warnings: readonly Line[];
  readonly plan: Pick<Plan, 'rows' | 'unchangedFields'>;
  readonly facts: readonly Line[];
}

/** A summary as blocks. An update that sends all fields has its changed ones in a table. */
export function summaryParts(summary: Summary): readonly (MessagePart | null)[] {
  const { head, warnings, plan, facts } = summary;
  const above = [...head, ...warnings];
  const below = [...unchangedLine(plan), ...facts];
  if (plan.unchangedFields.length === 0 || plan.rows.length === 0) {
    return [lines(...above, ...shownRows(plan.rows), ...below)];
  }
  return [lines(...above), beforeAfterTable(plan.rows.map(cellsOf)), lines(...below)];
}

/** With more fields than a scale has, for example of a new service, a line for each hides the rest. */
const OWN_LINES_MAX = 5;

function shownRows(rows: readonly PlanRow[]): readonly Line[] {
  const own = rowLines(rows);
  if (own.length <= OWN_LINES_MAX) return own;
  return [own.flatMap((line, index): Line => (index === 0 ? line : [' · ', ...line]))];
}

/** The labels only: *Show request* has what the fields refer to. */
function unchangedLine({ unchangedFields }: Summary['plan']): readonly Line[] {
  const labels = unchangedFields.map((field) => field.replace(/ \(.*$/s, ''));
  return labels.length > 0 ? [[`Unchanged: ${labels.join(', ')}`]] : [];
}

function cellsOf({ label, before, after }: PlanRow) {
  return [label, cellOf(before), cellOf(after)] as const;
}

function cellOf(value: PlanRow['before']): string | Date {
  return storedInstant(value)?.at ?? (value === null ? '–' : valueText(value));
}

export function warningLine(warning: string): Line {
  return [{ bold: '⚠ ' }, warning];
}
