import type { Change } from '../../changes/change.ts';
import { addDays, type Day } from '../../costs/calendar/day.ts';
import { formatDay } from '../../costs/calendar/format.ts';
import {
  RATE_DAYS,
  type ScheduleSavings,
  type StoppedTime,
  scheduleSavings,
} from '../../costs/effect/schedule-savings.ts';
import { type RowSelector, rowFilter } from '../../costs/ledger/ledger.ts';
import { creditsText } from '../../costs/ledger/numbers.ts';
import { type CostRow, microOf } from '../../costs/ledger/row.ts';
import { seriesOf } from '../../costs/ledger/series-of-rows.ts';
import type { Service } from '../../directory/directory.ts';

interface SavingsInput {
  /** The accepted changes, the latest first. */
  readonly changes: readonly Change[];
  /** The time since which `changes` has all of them. */
  readonly completeSince: Date;
  readonly services: readonly Service[];
  readonly rows: readonly CostRow[];
  readonly selector: RowSelector;
  readonly today: Day;
}

/** A stop is accepted some time before the service stops. */
const STOPPING_MS = 15 * 60_000;

/**
 * `Schedules saved 41.0 credits in the 7 final days until Mon 9 Nov.`; null without a figure. A service
 * that idles is left out: at night it could have cost nothing.
 */
export function savingsLine(input: SavingsInput): string | null {
  const { rows, selector, today } = input;
  const since = new Date(`${addDays(today, -RATE_DAYS - 1)}T00:00:00Z`);
  if (input.completeSince > since) return null;
  const own = input.services.filter(({ id }) => rows.some((row) => inScope(row, id, selector)));
  const span = { first: addDays(today, -RATE_DAYS), last: addDays(today, -1) };
  const saved = own.filter(neverIdles).flatMap(({ id }) => {
    const compute = seriesOf(rows, { services: [id], metric: 'computeCredits' }, span);
    const until = new Date(`${today}T00:00:00Z`);
    return scheduleSavings(compute, stoppedTimes(input.changes, id, until), today) ?? [];
  });
  return saved.length === 0 ? null : textOf(saved, today);
}

function inScope(row: CostRow, id: string, selector: RowSelector): boolean {
  return rowFilter({ services: [id] })(row) && rowFilter(selector)(row);
}

function neverIdles({ lastSeen }: Service): boolean {
  return lastSeen?.fields.idleScaling === false;
}

/** From each accepted stop to the next change of the service. */
function stoppedTimes(
  changes: readonly Change[],
  serviceId: string,
  end: Date,
): readonly StoppedTime[] {
  const own = changes
    .filter(({ plan: { target } }) => target.kind === 'service' && target.id === serviceId)
    .flatMap(({ command, plan, outcome }) =>
      outcome ? [{ command, at: outcome.at, bySchedule: plan.timing?.schedule !== undefined }] : [],
    )
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
  return own.flatMap(({ command, at, bySchedule }, index) => {
    if (command !== 'service stop') return [];
    const from = new Date(at.getTime() + STOPPING_MS);
    const until = own[index + 1]?.at ?? end;
    return from < until ? [{ from, until, bySchedule }] : [];
  });
}

function textOf(saved: readonly ScheduleSavings[], today: Day): string {
  const credits = saved.reduce((sum, one) => sum + one.credits, 0);
  const last =
    saved
      .map((one) => one.last)
      .toSorted()
      .at(-1) ?? today;
  return `Schedules saved ${creditsText(microOf(credits))} in the 7 final days until ${formatDay(last)}.`;
}
