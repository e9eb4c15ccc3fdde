import { type Day, dayNumber } from '../base/time.ts';
import type { Scaling } from './effect.ts';
import { mean, median } from './numbers.ts';
import type { DayValue } from './rows.ts';
import {
  batchFactor,
  factorOn,
  followDays,
  isCost,
  type KnownDay,
  knownDays,
  LEAST_DAYS,
  type Track,
} from './statistics.ts';

// Unusual costs of lines, and the changes of Signalbox that explain them.

/** The daily costs of one line of the report: a service with its pipes, or a warehouse. */
export interface CostLine {
  readonly key: string;
  readonly name: string;
  readonly values: readonly DayValue[];
}

/** What a line does now that it usually does not. */
export interface UnusualCost extends Pick<CostLine, 'key' | 'name'> {
  /** `new`: the line began; `rare`: it seldom has costs. Neither has a usual cost. */
  readonly kind: 'up' | 'down' | 'new' | 'rare';
  readonly since: Day;
  /** The last unusual day. */
  readonly last: Day;
  /** The unusual days, in order, in credits. */
  readonly days: readonly UnusualDay[];
  /** Credits per day: the mean of the days, without the day of a change that explains them. */
  readonly perDay: number;
  /** The cost of these days relative to their usual cost: 0.61 is +61%; null without usual cost. */
  readonly relative: number | null;
  /** The change that explains it, if one does. */
  readonly explained: Explained | null;
}

interface UnusualDay {
  readonly day: Day;
  /** As reported. */
  readonly value: number;
  readonly usual: number;
  readonly excess: number;
  readonly final: boolean;
}

/** `rest`: the credits per day that the change is too small to explain; 0 for none. */
interface Explained {
  readonly change: AppliedChange;
  readonly rest: number;
}

/** A change of Signalbox that was sent, as far as it can explain costs. */
export interface AppliedChange {
  readonly id: string;
  readonly serviceId: string;
  readonly service: string;
  /** `stopped`, `scaled`, `created` */
  readonly what: string;
  readonly day: Day;
  readonly direction: 'up' | 'down' | 'either';
  readonly before: Scaling | null;
  readonly after: Scaling | null;
  /** Its outcome is unknown: it may explain a cost. */
  readonly isUnknown: boolean;
}

export interface JudgeOptions {
  readonly today: Day;
  /** Credits per day: a smaller deviation is not reported. */
  readonly floor: number;
  /** The days from which a user marked the costs of a line as expected, by its key. */
  readonly expected: ReadonlyMap<string, Day>;
  readonly changes: readonly AppliedChange[];
}

/** The smallest deviation that is reported: a share of the usual day of all costs, and credits. */
export interface Floor {
  readonly share?: number | undefined;
  readonly credits?: number | undefined;
}

const LEAST_FLOOR = 1;
const FLOOR_SHARE = 0.02;

/** The floor of the deviations that are reported: max(1 credit, 2% of the usual day of all costs). */
export function floorOf(
  all: readonly DayValue[],
  { share = FLOOR_SHARE, credits = LEAST_FLOOR }: Floor = {},
): number {
  const days = knownDays(all);
  return days.length === 0 ? credits : Math.max(credits, share * followDays(days).level);
}

const NEED_SIGMAS = 4;
const MOST_NEED = Math.log(1.6);
const LEAST_SHARE = 0.5;
/** The days that are judged again each morning, because their figures still grow. */
const JUDGED_AGES = 3;

/**
 * Judges the last three days of a line. r = ln of a day relative to the level before its run;
 * need = max(4 · √(s² + e²), min(second largest |r| of past days outside runs, ln 1.6)), e = the error
 * of an open day. Unusual: |r| > need, and the excess is at least the floor and half of the usual cost.
 * Rare costs, on less than half of the days: above 1.5 · the maximum and twice the floor. A line with
 * fewer than 10 days is new. Decreases count when two days are final or at least 80% complete. `factor`:
 * above it a day of the line is unusual, `e^need`.
 * Source: docs/forecasts.md#unusual-costs.
 */
export function judgeLine(line: CostLine, options: JudgeOptions) {
  const { today, floor, expected } = options;
  const first = line.values.findIndex(({ value }) => value > 0);
  const past = (first < 0 ? [] : line.values.slice(first)).filter(({ day }) => day < today);
  const offset = floor / 2;
  const restart = expected.get(line.key) ?? null;
  const known = knownDays(past);
  const track = followDays(known, { offset, restart });
  const base = Math.max(NEED_SIGMAS * track.sigma, Math.min(secondLargest(track), MOST_NEED));
  const judged = { line, past, known, track, offset, options };
  const unusual = firstCost(judged) ?? deviation(judged, base);
  return { factor: Math.exp(base), unusual: unusual && explainedBy(unusual, judged, base) };
}

interface JudgeInputs {
  readonly line: CostLine;
  /** The days since the first cost, without today. */
  readonly past: readonly DayValue[];
  readonly known: readonly KnownDay[];
  readonly track: Track;
  readonly offset: number;
  readonly options: JudgeOptions;
}

function isRecent({ today }: JudgeOptions, day: Day): boolean {
  return dayNumber(today) - dayNumber(day) <= JUDGED_AGES;
}

const RARE_FACTOR = 1.5;

/** A line that began, or that seldom has costs: it has no usual cost. */
function firstCost({ line, past, options }: JudgeInputs): UnusualCost | null {
  // A whole report that is new has no new lines.
  const isNew = past.length < LEAST_DAYS && (line.values[0]?.day ?? '') < (past[0]?.day ?? '');
  const isRareNow = past.length >= LEAST_DAYS && isRare(past);
  if ((!isNew && !isRareNow) || options.expected.has(line.key)) return null;
  const before = isNew ? [] : past.filter(({ day }) => !isRecent(options, day));
  const most = Math.max(0, ...before.map(({ value }) => value));
  const large = past.filter(
    ({ day, value }) =>
      (isNew || isRecent(options, day)) && value > Math.max(RARE_FACTOR * most, 2 * options.floor),
  );
  if (large.length === 0) return null;
  const days = large.map((day) => unusualDay(day, 0, day.value));
  return unusualCost(line, isNew ? 'new' : 'rare', days);
}

function isRare(past: readonly DayValue[]): boolean {
  return past.filter(({ value }) => value > 0).length < past.length / 2;
}

function deviation(inputs: JudgeInputs, base: number): UnusualCost | null {
  const { line, past, options } = inputs;
  if (past.length < LEAST_DAYS || isRare(past)) return null;
  const all = past.flatMap((day) => judgedDay(inputs, day, base) ?? []);
  const newest = all.findLast(({ day }) => isRecent(options, day));
  if (!newest) return null;
  const kind = newest.excess > 0 ? 'up' : 'down';
  const since = newest.since;
  const days = all.filter(
    (one) => one.day >= since && Math.sign(one.excess) === Math.sign(newest.excess),
  );
  if (kind === 'down' && days.filter(({ isSure }) => isSure).length < 2) return null;
  return unusualCost(line, kind, days);
}

const NEARLY_COMPLETE = 0.8;

function judgedDay({ line, track, offset, options }: JudgeInputs, day: DayValue, base: number) {
  if (!isCost(day.value)) return null;
  const followed = track.days.find((one) => one.day === day.day);
  const run = followed?.run ?? null;
  // A day of unknown completeness is not in the track, in which an expected level begins.
  const expected = options.expected.get(line.key);
  if (!followed && expected !== undefined && day.day >= expected) return null;
  if (followed && !isRecent(options, day.day) && run !== track.run) return null;
  if (run?.isLevel || run?.isBack) return null;
  const factor = factorOn(track.profile, day.day);
  const level = followed?.level ?? track.level;
  const x = followed?.x ?? day.value / factor;
  const r = Math.log((x + offset) / (level + offset));
  const need = Math.max(base, NEED_SIGMAS * Math.hypot(track.sigma, followed?.error ?? 0));
  const batch = batchFactor(track.batch, day.day);
  const isBatch = batch > 1 && Math.abs(r - Math.log(batch)) <= need;
  const usual = level * factor;
  const excess = (x - level) * factor;
  const isLarge = Math.abs(excess) >= Math.max(options.floor, LEAST_SHARE * usual);
  if (isBatch || Math.abs(r) <= need || !isLarge) return null;
  const share = day.openDay?.completeness?.share ?? 0;
  const isSure = day.final || share >= NEARLY_COMPLETE;
  if (excess < 0 && !isSure) return null;
  const since = run?.days[0]?.day ?? day.day;
  return { ...unusualDay(day, usual, excess), since, isSure };
}

function secondLargest({ days }: Track): number {
  const sizes = days.filter(({ run }) => (run?.days.length ?? 0) < 2).map(({ r }) => Math.abs(r));
  return sizes.sort((a, b) => b - a)[1] ?? 0;
}

function unusualDay({ day, value, final }: DayValue, usual: number, excess: number): UnusualDay {
  return { day, value, usual, excess, final };
}

function unusualCost(
  { key, name }: Pick<CostLine, 'key' | 'name'>,
  kind: UnusualCost['kind'],
  days: readonly UnusualDay[],
): UnusualCost {
  const perDay = mean(days.map(({ excess }) => excess));
  const usual = mean(days.map((one) => one.usual));
  return {
    key,
    name,
    kind,
    since: days[0]?.day ?? '',
    last: days.at(-1)?.day ?? '',
    days,
    perDay,
    relative: usual > 0 ? perDay / usual : null,
    explained: null,
  };
}

/** Whether the days of one begin on the day of the change or on the first known one after it. */
function beginsWith(change: AppliedChange, since: Day, known: readonly KnownDay[]): boolean {
  return since >= change.day && !known.some(({ day }) => day > change.day && day < since);
}

/**
 * With the latest change that explains it. The day of the change has only a part of its effect. The
 * rest is judged like a day whose usual cost is the highest level that the change explains.
 */
function explainedBy(
  unusual: UnusualCost,
  { track, known, options }: JudgeInputs,
  base: number,
): UnusualCost {
  const direction = unusual.kind === 'down' ? 'down' : 'up';
  const change = options.changes
    .toSorted((a, b) => (a.day < b.day ? 1 : -1))
    .find(
      (one) =>
        one.serviceId === unusual.key &&
        beginsWith(one, unusual.since, known) &&
        (one.direction === direction || one.direction === 'either'),
    );
  if (!change) return unusual;
  const whole = unusual.days.filter(({ day }) => day > change.day);
  const { perDay, relative } =
    whole.length > 0 ? unusualCost(unusual, unusual.kind, whole) : unusual;
  const most = highestLevel(change, track.level);
  const excess = track.level + perDay - most;
  const isLarge = excess >= Math.max(options.floor, LEAST_SHARE * most);
  const isFar = Math.log(1 + excess / most) > base;
  const rest = direction === 'up' && isLarge && isFar ? excess : 0;
  return { ...unusual, perDay, relative, explained: { change, rest } };
}

const SIZE_TOLERANCE = 1.3;
const CEILING_TOLERANCE = 1.25;

/** The highest level that a change explains; without known sizes, any. */
function highestLevel({ before, after }: AppliedChange, level: number): number {
  if (!before || !after || before.idleScaling) return Number.POSITIVE_INFINITY;
  const least = before.numReplicas * before.minReplicaMemoryGb;
  const most = after.numReplicas * after.maxReplicaMemoryGb;
  const isFixed = before.minReplicaMemoryGb === before.maxReplicaMemoryGb;
  const tolerance = isFixed ? SIZE_TOLERANCE : CEILING_TOLERANCE;
  return level * Math.max(1, (tolerance * most) / least);
}

/** The effect of a change on its line, in credits per day. */
export interface ChangeEffect {
  readonly change: AppliedChange;
  readonly perDay: number;
}

const EFFECT_DAYS = 7;

/**
 * What the whole days after a change usually cost before it, the difference per day, and their number,
 * at most seven; null without such a day, and with less than a week before it. Source: docs/forecasts.md#changes.
 */
export function effectOfChange(change: Pick<AppliedChange, 'day'>, line: Pick<CostLine, 'values'>) {
  const days = knownDays(line.values);
  const after = days.filter(
    ({ day }) => day > change.day && dayNumber(day) - dayNumber(change.day) <= EFFECT_DAYS,
  );
  const known = days.filter(({ day }) => day < change.day);
  if (after.length === 0 || known.length < LEAST_BEFORE) return null;
  const before = followDays(known);
  const usual = mean(after.map(({ day }) => before.level * factorOn(before.profile, day)));
  return { usual, perDay: mean(after.map(({ value }) => value)) - usual, days: after.length };
}

const LEAST_BEFORE = 7;

const EXPLAINED_SHARE = 0.6;

/** Whether changes explain most of the current shift of a sum of lines, so that the shift stays. */
export function isShiftExplained(
  all: readonly DayValue[],
  today: Day,
  effects: readonly ChangeEffect[],
): boolean {
  const known = knownDays(all.filter(({ day }) => day < today));
  const { run, level } = followDays(known);
  const since = run?.days[0]?.day;
  if (!run || since === undefined) return false;
  const shift = median(run.days.map(({ x }) => x)) - level;
  const own = effects.filter(({ change }) => beginsWith(change, since, known));
  const explained = own.reduce((sum, { perDay }) => sum + perDay, 0);
  return explained / shift >= EXPLAINED_SHARE;
}

const RANGE_SIGMAS = 1.64;

/**
 * The usual cost of a day from the days before it, without days of a run: l · f, for a batch day times
 * its factor; range · e^(±1.64 · √(s² + e²)). A day of unknown completeness can only be above. Null
 * with fewer than 10 days. Source: docs/forecasts.md#usual-range.
 */
export function usualRange(series: readonly DayValue[], of: DayValue) {
  const before = knownDays(series.filter(({ day }) => day < of.day));
  if (before.length < LEAST_DAYS) return null;
  const track = followDays(before);
  const [own] = knownDays([of], 'left-out');
  const usual = track.level * factorOn(track.profile, of.day) * batchFactor(track.batch, of.day);
  const width = Math.exp(RANGE_SIGMAS * Math.hypot(track.sigma, own?.error ?? 0));
  const [low, high] = [usual / width, usual * width];
  const value = own?.value ?? of.value;
  // Where the completed cost of the day is; `within` for a day that is not known yet.
  const side = value > high ? 'above' : own && value < low ? 'below' : 'within';
  return { usual, low, high, side } as const;
}
