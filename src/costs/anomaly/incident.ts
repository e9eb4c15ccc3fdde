import type { Day } from '../../base/time.ts';
import type { AnomalyTier, AnomalyVerdict, Direction } from './anomaly.ts';

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

const DAYS_TO_RESOLVE = 2;
const DAYS_TO_NORMAL = 7;

export function isOver({ state }: Incident): boolean {
  return state === 'resolved' || state === 'new-normal' || state === 'expected';
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

function withNews(before: Incident, after: Incident): IncidentStep {
  if (after.mutedUntil !== null && lastDay(after) <= after.mutedUntil) {
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

/** A user marked the incident as expected: a new baseline starts on its first day. */
export function expectIncident(incident: Incident): Incident {
  return isOver(incident) ? incident : { ...incident, state: 'expected' };
}

/** Mutes the incident through that day. It is still tracked. */
export function muteIncident(incident: Incident, until: Day): Incident {
  return isOver(incident) ? incident : { ...incident, state: 'muted', mutedUntil: until };
}

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

function withDay(days: readonly IncidentDay[], day: IncidentDay): readonly IncidentDay[] {
  const others = days.filter((one) => one.day !== day.day);
  return [...others, day].sort((a, b) => (a.day < b.day ? -1 : 1));
}

function lastDay(incident: Incident): Day {
  return incident.days.at(-1)?.day ?? incident.since;
}

/** A rare or new cost is an increase without a usual range. */
function unusualOf(verdict: AnomalyVerdict) {
  if (verdict.kind === 'unusual') return verdict;
  if (verdict.kind !== 'rare-cost' && verdict.kind !== 'new-cost') return null;
  return { direction: 'up', tier: 'notice', excess: verdict.excess } as const;
}
