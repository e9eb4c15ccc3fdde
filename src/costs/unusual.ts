/** What is unusual in the costs of a scope, and which changes explain it. */
import type { Span } from '../base/calendar.ts';
import { addDays, type Day } from '../base/time.ts';
import {
  type ChangeEffect,
  type CostLine,
  effectOfChange,
  type Floor,
  floorOf,
  isShiftExplained,
  type JudgeOptions,
  judgeLine,
  type UnusualCost,
} from '../maths/anomalies.ts';
import { dayStates, type RowSelector, selectRows, statesWithin } from '../maths/days.ts';
import { forecastMoney, forecastSpan } from '../maths/forecast.ts';
import { allSeries, seriesFrom, sumBy } from '../maths/lines.ts';
import type { CostReading } from '../maths/report.ts';
import type { CostRow } from '../maths/rows.ts';
import { MODEL_DAYS } from '../maths/statistics.ts';

/** The days whose rows a judgement and a forecast need; of a span that began before, all of it. */
export function modelSpan(today: Day, begun = today): Span {
  const first = addDays(today, -MODEL_DAYS);
  return { first: first < begun ? first : begun, last: today };
}

export interface JudgeSources {
  readonly read: Pick<CostReading, 'rows' | 'changes'>;
  readonly today: Day;
  readonly floor?: Floor;
  /** The days from which lines were marked as expected, by their key. */
  readonly expected?: ReadonlyMap<string, Day>;
}

/** The judgement of a scope. */
export type Judgement = ReturnType<typeof judgeCosts>;

const VARYING = 2;

/** Judges every line of a scope: services with their pipes, and the storage of warehouses. */
export function judgeCosts(
  { read, today, floor: given = {}, expected = new Map() }: JudgeSources,
  selector: RowSelector = {},
) {
  const span = modelSpan(today);
  const states = dayStates(read.rows, span);
  const all = seriesFrom(states);
  const floor = floorOf(all, given);
  const own = selectRows(read.rows, selector);
  const lines = linesOf(read.rows, own, span);
  const changes = read.changes ?? [];
  const options = { today, floor, expected, changes };
  const judged = lines.map((line) => ({ line, ...judgeLine(line, options) }));
  const found = judged.flatMap(({ unusual }) => unusual ?? []);
  const isUp = ({ kind, explained }: UnusualCost) =>
    kind !== 'down' && (explained === null || (explained.rest > 0 && !explained.change.isUnknown));
  const ownStates = statesWithin(states, own);
  const series = seriesFrom(ownStates);
  const effects = effectsOf(lines, options);
  return {
    // Unexplained increases, the largest first.
    unusual: found.filter(isUp).sort((a, b) => excessOf(b) - excessOf(a)),
    // Decreases without a change: they need no action.
    decreased: found.filter(({ kind, explained }) => kind === 'down' && explained === null),
    effects,
    // Lines that vary so much that only a larger factor is unusual: `e^need`.
    varying: judged.flatMap(({ line: { name, values }, factor }) =>
      factor > VARYING && values.some(({ value }) => value > floor) ? [{ name, factor }] : [],
    ),
    lines: lines.length,
    floor,
    // Credits of a usual day of all costs.
    usualDay: floor / (given.share ?? 0.02),
    // The rows of the scope, and their daily totals.
    rows: own,
    states: ownStates,
    series,
    // A change explains the current shift of the scope, so that it stays.
    isExplained: isShiftExplained(series, today, effects),
  };
}

/** The forecast of a span from the rows of a scope, and its money. Without any change, no line is judged. */
export function forecastOf(
  read: Pick<CostReading, 'rows' | 'changes' | 'prices'>,
  rows: readonly CostRow[],
  span: Span,
  today: Day,
) {
  const states = statesWithin(dayStates(read.rows, modelSpan(today, span.first)), rows);
  const series = seriesFrom(states);
  const { changes = [], prices = null } = read;
  const isExplained =
    changes.length > 0 &&
    isShiftExplained(series, today, judgeCosts({ read: { rows, changes }, today }).effects);
  const forecast = forecastSpan(series, span, today, isExplained);
  const money = forecast.ok ? forecastMoney(forecast.total, series, span, prices) : null;
  return { states, series, forecast, money };
}

/** The credits per day that no change explains. */
export function excessOf({ perDay, explained }: UnusualCost): number {
  return explained ? explained.rest : perDay;
}

function linesOf(
  rows: readonly CostRow[],
  own: readonly CostRow[],
  span: Span,
): readonly CostLine[] {
  const names = new Map(sumBy(own, 'service', span).map(({ key, name }) => [key, name]));
  // A day is final when all of its rows are, also those of other lines.
  return allSeries(rows, 'service', span).flatMap(({ key, values }) => {
    const name = names.get(key);
    return name === undefined ? [] : [{ key, name, values }];
  });
}

/** After seven days, a shift is the new level. */
const SHIFT_DAYS = 8;

function effectsOf(
  lines: readonly CostLine[],
  { changes, today, floor }: JudgeOptions,
): readonly ChangeEffect[] {
  const first = addDays(today, -SHIFT_DAYS);
  return changes.flatMap((change) => {
    const line = lines.find(({ key }) => key === change.serviceId);
    if (!line || change.day < first) return [];
    const past = line.values.filter(({ day }) => day < today);
    const effect = effectOfChange(change, { ...line, values: past });
    // Another service may have the name that the change knew.
    const named = { ...change, service: line.name };
    const isShown = effect !== null && Math.abs(effect.perDay) >= floor;
    return isShown ? [{ change: named, perDay: effect.perDay }] : [];
  });
}
