import type { Day } from '../base/time.ts';
import { isSettled } from './days.ts';
import { MAD_TO_SIGMA, median } from './numbers.ts';
import { type CostRow, type DayValue, entityKey } from './rows.ts';
import {
  daysBefore,
  factorOn,
  HISTORY_DAYS,
  isCost,
  LEAST_DAYS,
  LEVEL_DAYS,
  profileOf,
  type SettledDay,
  settledDays,
  type WeekdayProfile,
  withoutWeekdays,
} from './statistics.ts';

// Unusual days of a line of costs, the incidents that they make, and which of them are one event.

/** A notice is part of the digest; an alert gets a message of its own. */
export type AnomalyTier = 'notice' | 'alert';
export type Direction = 'up' | 'down';

export type AnomalyVerdict =
  | { readonly kind: 'usual'; readonly expected: number }
  | {
      readonly kind: 'unusual';
      readonly tier: AnomalyTier;
      readonly direction: Direction;
      /** In credits, like `excess`: value − expected, negative for a drop. */
      readonly expected: number;
      readonly excess: number;
      /** The deviation in sigmas. */
      readonly z: number;
    }
  /** A line that rarely or never had costs, and now costs more than ever. */
  | {
      readonly kind: 'rare-cost' | 'new-cost';
      readonly expected: number;
      readonly excess: number;
    }
  | { readonly kind: 'untested'; readonly why: 'too-new' | 'not-a-cost' };

const LEAST_IMPACT = 2;
const IMPACT_SHARE = 0.005;

/**
 * The minimum impact of an anomaly, in credits: max(2, 0.5% of the median of the organization's last
 * 56 settled days), so that it grows with the total cost.
 */
export function minImpactOf(organization: readonly DayValue[]): number {
  const days = settledDays(organization).slice(-HISTORY_DAYS);
  if (days.length === 0) return LEAST_IMPACT;
  return Math.max(LEAST_IMPACT, IMPACT_SHARE * median(days.map(({ value }) => value)));
}

const NOTICE_Z = 3.5;
const ALERT_Z = 5;
const LEAST_SHARE = 0.25;
const SPARSE_SHARE = 0.5;
const SPARSE_FACTOR = 1.5;

/**
 * Whether one day of one line is unusual, compared with at most 56 days before it. `days`: the settled
 * days of the line, in order.
 * r = ln((v + a) / (expected + a)), z = r / sigma (`deviationOf`); unusual means |z| > 3.5 (alert: 5)
 * and |v − expected| ≥ minImpact, and ≥ 25% of the expected cost, and |r| above the second largest
 * of the past. A day that is not settled is tested for increases only: it may be incomplete, and
 * 13% of normal lines would count as dropped. Drops are notices. A line with costs on less than half of
 * its days is reported if v ≥ 2 · minImpact and v > 1.5 · its maximum. With fewer than 10
 * settled days it is too new. minImpact is in credits, above 0.
 * Source: docs/costs.md#anomalies; false alarms: docs/costs.md#tests-on-synthetic-data.
 */
export function judge(
  days: readonly SettledDay[],
  day: DayValue,
  minImpact: number,
): AnomalyVerdict {
  if (!isCost(day.value)) return { kind: 'untested', why: 'not-a-cost' };
  const history = daysBefore(days, day.day);
  if (history.length < LEAST_DAYS) return { kind: 'untested', why: 'too-new' };
  if (isSparse(history)) return judgeSparse(history, day, minImpact);
  return judgeByBaseline(baselineOf(history, minImpact), day, minImpact);
}

function isSparse(history: readonly DayValue[]): boolean {
  return history.filter(({ value }) => value > 0).length < SPARSE_SHARE * history.length;
}

function judgeSparse(
  history: readonly DayValue[],
  { value }: DayValue,
  minImpact: number,
): AnomalyVerdict {
  const most = Math.max(...history.map((day) => day.value));
  if (value < 2 * minImpact || value <= SPARSE_FACTOR * most) return { kind: 'usual', expected: 0 };
  return { kind: most > 0 ? 'rare-cost' : 'new-cost', expected: 0, excess: value };
}

function judgeByBaseline(baseline: Baseline, judged: DayValue, minImpact: number) {
  const { day, value } = judged;
  const expected = expectedOn(baseline, day);
  const excess = value - expected;
  const usual = { kind: 'usual', expected } as const;
  if (Math.abs(excess) < leastExcess(baseline, expected, minImpact)) return usual;
  if (excess < 0 && !isSettled(judged)) return usual;

  const { sigma, before } = deviationOf(baseline);
  const r = Math.log((value + baseline.offset) / (expected + baseline.offset));
  const z = r / sigma;
  if (Math.abs(z) <= NOTICE_Z || Math.abs(r) <= before) return usual;

  const direction = excess > 0 ? 'up' : 'down';
  const tier = direction === 'up' && z > ALERT_Z ? 'alert' : 'notice';
  return { kind: 'unusual', tier, direction, expected, excess, z } as const;
}

function leastExcess({ offset }: Baseline, expected: number, minImpact: number): number {
  return Math.max(minImpact, LEAST_SHARE * Math.max(expected, offset));
}

/** What a day is compared with: the level of the two weeks before it, by weekday. */
interface Baseline {
  readonly days: readonly SettledDay[];
  readonly profile: WeekdayProfile;
  /** Past days adjusted for weekdays: x = y / f. */
  readonly evened: readonly number[];
  /** Credits per day: the median of the last 14 of x. */
  readonly level: number;
  /** a, credits: added before any logarithm, so that zeros and small values have little effect. */
  readonly offset: number;
}

/** Expects settled days in order; a = minImpact / 2. */
function baselineOf(days: readonly SettledDay[], minImpact: number): Baseline {
  const profile = profileOf(days);
  const evened = withoutWeekdays(days, profile);
  const level = median(evened.slice(-LEVEL_DAYS));
  return { days, profile, evened, level, offset: minImpact / 2 };
}

function expectedOn({ level, profile }: Baseline, day: Day): number {
  return level * factorOn(profile, day);
}

/** The deviation of days from their expected cost, in logarithms. */
interface Deviation {
  readonly sigma: number;
  /** The second largest of the past, because a bursty line had deviations like this before. */
  readonly before: number;
}

const LEAST_SIGMA = 0.06;

/**
 * e = ln((y + a) / (median of the 14 of x up to that day · f + a)), because costs grow by factors;
 * sigma = max(1.4826 · median|e|, 0.06). Source: docs/costs.md#baseline.
 */
function deviationOf({ days, profile, evened, offset }: Baseline): Deviation {
  const deviations = days.map(({ weekday, value }, index) => {
    const usual = median(backFrom(evened, index)) * (profile[weekday] ?? 1);
    return Math.abs(Math.log((value + offset) / (usual + offset)));
  });
  return {
    sigma: Math.max(MAD_TO_SIGMA * median(deviations), LEAST_SIGMA),
    before: deviations.toSorted((a, b) => b - a)[1] ?? 0,
  };
}

/** The two weeks that end with the day: the same window as for the judged day. */
function backFrom(values: readonly number[], index: number): readonly number[] {
  return values.slice(Math.max(0, index - LEVEL_DAYS + 1)).slice(0, LEVEL_DAYS);
}

export interface Range {
  readonly expected: number;
  readonly low: number;
  readonly high: number;
}

/**
 * The range of usual values of a day, in credits: the limits of the conditions of `judge`. Null for
 * a line that is new or rarely has costs, which is not tested by range.
 */
export function usualRange(days: readonly SettledDay[], day: Day, minImpact: number): Range | null {
  const history = daysBefore(days, day);
  if (history.length < LEAST_DAYS || isSparse(history)) return null;
  const baseline = baselineOf(history, minImpact);
  const { sigma, before } = deviationOf(baseline);
  const { offset } = baseline;
  const expected = expectedOn(baseline, day);
  const factor = Math.exp(Math.max(NOTICE_Z * sigma, before));
  const margin = leastExcess(baseline, expected, minImpact);
  const low = Math.min((expected + offset) / factor - offset, expected - margin);
  const high = Math.max((expected + offset) * factor - offset, expected + margin);
  return { expected, low: Math.max(0, low), high };
}

const COMMON_SHARE = 0.4;
/** With fewer lines, 40% of them are too few. */
const LEAST_LINES = 5;

/**
 * The direction in which more than 40% of the tested lines are unusual on one day. The cause is
 * probably a holiday, a price or wrong data, so one message replaces one for each line.
 * Source: docs/costs.md#common-cause.
 */
export function commonCause(verdicts: readonly AnomalyVerdict[]): Direction | null {
  const tested = verdicts.filter(({ kind }) => kind === 'usual' || kind === 'unusual');
  if (tested.length < LEAST_LINES) return null;
  const count = (direction: Direction) =>
    tested.filter((verdict) => verdict.kind === 'unusual' && verdict.direction === direction)
      .length;
  const isCommon = (direction: Direction) => count(direction) > COMMON_SHARE * tested.length;
  return (['up', 'down'] as const).find(isCommon) ?? null;
}

export type IncidentState = 'open' | 'ongoing' | 'muted' | 'resolved' | 'new-normal' | 'expected';

/** A run of unusual days of one line. It is announced as a whole, not day by day. */
export interface Incident {
  readonly state: IncidentState;
  readonly direction: Direction;
  readonly tier: AnomalyTier;
  readonly since: Day;
  /** In order; a day that is judged again replaces its earlier entry. */
  readonly days: readonly IncidentDay[];
  /** Σ (value − expected) over its unusual days, in credits; negative for a drop. */
  readonly impact: number;
  /** The impact at the last report. */
  readonly reportedImpact: number;
  /** The last day without reports. */
  readonly mutedUntil: Day | null;
}

interface IncidentDay {
  readonly day: Day;
  /** Final, or not moved for two days. */
  readonly settled: boolean;
  readonly unusual: boolean;
  readonly excess: number;
}

export type News = 'opened' | 'raised' | 'doubled' | 'resolved' | 'new-normal';

interface IncidentStep {
  readonly incident: Incident | null;
  /** What to report; null for nothing. */
  readonly news: News | null;
}

/** Opens an incident on an unusual day; null for any other verdict. */
export function openIncident(verdict: AnomalyVerdict, day: Day, settled: boolean): IncidentStep {
  const found = unusualOf(verdict);
  if (!found) return { incident: null, news: null };
  const { direction, tier, excess } = found;
  const days = [{ day, settled, unusual: true, excess }];
  const impact = { impact: excess, reportedImpact: excess, mutedUntil: null };
  return {
    incident: { state: 'open', direction, tier, since: day, days, ...impact },
    news: 'opened',
  };
}

/**
 * Adds a day to an open incident, or replaces one of its days. The incident is resolved if its last
 * two settled days are not unusual in its direction, and is the new normal after seven unusual days.
 * News: it became an alert, its impact doubled since the last report, or it ended. The verdict must
 * use only the days before the incident; otherwise the incident would become its own baseline.
 * Source: docs/costs.md#incidents.
 */
export function followIncident(
  incident: Incident,
  verdict: AnomalyVerdict,
  day: Day,
  settled: boolean,
): IncidentStep {
  if (isOver(incident) || day < incident.since) return { incident, news: null };

  const found = unusualOf(verdict);
  const unusual = found?.direction === incident.direction;
  const excess = unusual ? found.excess : 0;
  const tier = unusual && found.tier === 'alert' ? 'alert' : incident.tier;
  const days = withDay(incident.days, { day, settled, unusual, excess });
  const impact = days.reduce((sum, one) => sum + one.excess, 0);
  const mutedUntil = incident.mutedUntil;
  const state = stateOf(days, mutedUntil);
  return withNews(incident, { ...incident, days, impact, tier, state });
}

/** A rare or new cost is an increase without a usual range. */
function unusualOf(verdict: AnomalyVerdict) {
  if (verdict.kind === 'unusual') return verdict;
  if (verdict.kind !== 'rare-cost' && verdict.kind !== 'new-cost') return null;
  return { direction: 'up', tier: 'notice', excess: verdict.excess } as const;
}

function withDay(days: readonly IncidentDay[], day: IncidentDay): readonly IncidentDay[] {
  const others = days.filter((one) => one.day !== day.day);
  return [...others, day].sort((a, b) => (a.day < b.day ? -1 : 1));
}

const DAYS_TO_RESOLVE = 2;
const DAYS_TO_NORMAL = 7;

function stateOf(days: readonly IncidentDay[], mutedUntil: Day | null): IncidentState {
  const latest = days.filter(({ settled }) => settled).slice(-DAYS_TO_RESOLVE);
  const isEnough = latest.length === DAYS_TO_RESOLVE;
  if (isEnough && latest.every(({ unusual }) => !unusual)) return 'resolved';
  const unusual = days.filter((day) => day.unusual).length;
  if (unusual >= DAYS_TO_NORMAL) return 'new-normal';
  const last = days.at(-1)?.day ?? '';
  if (mutedUntil !== null && last <= mutedUntil) return 'muted';
  return unusual > 1 ? 'ongoing' : 'open';
}

function withNews(before: Incident, after: Incident): IncidentStep {
  if (after.mutedUntil !== null && lastDayOf(after) <= after.mutedUntil) {
    return { incident: after, news: null };
  }
  const news = newsOf(before, after);
  const reportedImpact = news === null ? after.reportedImpact : after.impact;
  return { incident: { ...after, reportedImpact }, news };
}

function newsOf(before: Incident, after: Incident): News | null {
  if (after.state === 'resolved' || after.state === 'new-normal') return after.state;
  if (before.tier !== after.tier) return 'raised';
  return Math.abs(after.impact) >= 2 * Math.abs(before.reportedImpact) ? 'doubled' : null;
}

export function isOver({ state }: Incident): boolean {
  return state === 'resolved' || state === 'new-normal' || state === 'expected';
}

/** A user marked the incident as expected: a new baseline starts on its first day. */
export function expectIncident(incident: Incident): Incident {
  return isOver(incident) ? incident : { ...incident, state: 'expected' };
}

/** Mutes the incident through that day. It is still tracked. */
export function muteIncident(incident: Incident, until: Day): Incident {
  return isOver(incident) ? incident : { ...incident, state: 'muted', mutedUntil: until };
}

/** The last judged day. */
export function lastDayOf({ days, since }: Incident): Day {
  return days.at(-1)?.day ?? since;
}

/** An incident of one line of costs, with the names and the worst day that a message shows. */
export interface CostAnomaly {
  /** The line of the usage report: an entity, or an entity and one metric. */
  readonly line: string;
  readonly entityId: string;
  readonly entityName: string;
  readonly kind: CostRow['kind'];
  readonly serviceId: string | null;
  /** `analytics-dev · compute` */
  readonly name: string;
  /** Null: the total of the entity. */
  readonly metric: string | null;
  readonly incident: Incident;
  /** Its worst unusual day and the usual range of that day; null where there was no usual cost. */
  readonly peak: { readonly day: Day; readonly value: number; readonly range: Range | null };
  /**
   * Whether a message announced it, alone or with most other lines (a common cause). The end is
   * announced only for an anomaly that was announced alone.
   */
  readonly announced: 'alone' | 'crowd' | null;
}

/**
 * Whether two anomalies are one event: the total of an entity and one of its metrics rise or fall
 * together from about the same day. Only the metric is announced, because it says more.
 */
export function isRelated(one: CostAnomaly, other: CostAnomaly): boolean {
  return (
    entityKey(one) === entityKey(other) &&
    one.incident.direction === other.incident.direction &&
    one.incident.since <= lastDayOf(other.incident) &&
    other.incident.since <= lastDayOf(one.incident)
  );
}

/** Each event once, as its largest metric, with the highest tier of all related anomalies. */
export function mergeRelated(all: readonly CostAnomaly[]): readonly CostAnomaly[] {
  const weight = ({ metric, incident }: CostAnomaly) =>
    (metric === null ? 0 : 1e12) + Math.abs(incident.impact);
  const kept: CostAnomaly[] = [];
  for (const one of all.toSorted((a, b) => weight(b) - weight(a))) {
    const at = kept.findIndex((other) => isRelated(one, other));
    const leader = kept[at];
    if (!leader) kept.push(one);
    else if (one.incident.tier === 'alert') kept[at] = asAlert(leader);
  }
  return kept;
}

function asAlert(anomaly: CostAnomaly): CostAnomaly {
  return { ...anomaly, incident: { ...anomaly.incident, tier: 'alert' } };
}
