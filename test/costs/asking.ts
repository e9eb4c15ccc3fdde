import { type Span, within } from '../../src/base/calendar.ts';
import type { CommandContext } from '../../src/commands/index.ts';
import type { UserId } from '../../src/domain/change.ts';
import type { CostReading } from '../../src/maths/report.ts';
import type { CostRow } from '../../src/maths/rows.ts';

export const NOW = new Date('2026-11-20T12:00:00Z');
export const ASKER = { by: 'U0ANA00001' as UserId, channel: null };

/** What a question about costs reads: these rows, and what else is given. Any other read throws. */
export function costContext(
  rows: readonly CostRow[],
  more: object = {},
  read: Partial<CostReading> = {},
): CommandContext {
  const costs = async (span: Span): Promise<CostReading> => {
    return { rows: within(rows, span), fetchedAt: NOW, problems: [], gaps: [], ...read };
  };
  return { costs, services: [], now: () => NOW, ...more } as unknown as CommandContext;
}
