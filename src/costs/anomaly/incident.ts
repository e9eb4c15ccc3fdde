import type { Day } from '../calendar/day.ts';
import type { AnomalyTier, AnomalyVerdict, Direction } from './anomaly.ts';

export type IncidentState = 'open' | 'ongoing' | 'muted' | 'resolved' | 'new-normal' | 'expected';

/** One stretch of unusual days of one line: people hear of it, not of each of its days. */
export interface Incident {
  readonly state: IncidentState;
  readonly direction: Direction;
  readonly tier: AnomalyTier;
  readonly since: Day;
  /** In order; a day that is read again replaces itself. */
  readonly days: readonly IncidentDay[];
  /** Σ (value − expected) over its unusual days, in credits; negative for a drop. */
  readonly impact: number;
  /** The impact that people were told last. */
  readonly toldImpact: number;
  /** The last day on which nobody is told. */
  readonly mutedUntil: Day | null;
}

export interface IncidentDay {
  readonly day: Day;
  readonly final: boolean;
  readonly unusual: boolean;
  readonly excess: number;
}

export type News = 'opened' | 'raised' | 'doubled' | 'resolved' | 'new-normal';

export interface IncidentStep {
  readonly incident: Incident | null;
  /** What people are to be told, if anything. */
  readonly news: News | null;
}

const CALM_DAYS = 2;
const NORMAL_DAYS = 7;

export function isOver({ state }: Incident): boolean {
  return state === 'resolved' || state === 'new-normal' || state === 'expected';
}

/** The first day of what may become more. Without an unusual verdict there is nothing to open. */
export function openIncident(verdict: AnomalyVerdict, day: Day, final: boolean): IncidentStep {
  const found = unusualOf(verdict);
  if (!found) return { incident: null, news: null };
  const { direction, tier, excess } = found;
  const days = [{ day, final, unusual: true, excess }];
  const told = { impact: excess, toldImpact: excess, mutedUntil: null };
  return {
    incident: { state: 'open', direction, tier, since: day, days, ...told },
    news: 'opened',
  };
}

/**
 * One more day of an incident that is not over, or one of its days read again. Resolved by the last
 * two final days without an unusual one in its direction; the new normal with seven unusual ones.
 * News when it became an alert, when its impact doubled since last told, when it ended. The
 * verdict must come from the days before the incident: it would hide itself otherwise.
 * Source: docs/costs.md#incidents.
 */
export function followIncident(
  incident: Incident,
  verdict: AnomalyVerdict,
  day: Day,
  final: boolean,
): IncidentStep {
  if (isOver(incident) || day < incident.since) return { incident, news: null };

  const found = unusualOf(verdict);
  const unusual = found?.direction === incident.direction;
  const excess = unusual ? found.excess : 0;
  const tier = unusual && found.tier === 'alert' ? 'alert' : incident.tier;
  const days = withDay(incident.days, { day, final, unusual, excess });
  const impact = days.reduce((sum, one) => sum + one.excess, 0);
  const mutedUntil = incident.mutedUntil;
  const state = stateOf(days, mutedUntil);
  return told(incident, { ...incident, days, impact, tier, state });
}

function told(before: Incident, after: Incident): IncidentStep {
  if (after.mutedUntil !== null && lastDay(after) <= after.mutedUntil) {
    return { incident: after, news: null };
  }
  const news = newsOf(before, after);
  const toldImpact = news === null ? after.toldImpact : after.impact;
  return { incident: { ...after, toldImpact }, news };
}

function newsOf(before: Incident, after: Incident): News | null {
  if (after.state === 'resolved' || after.state === 'new-normal') return after.state;
  if (before.tier !== after.tier) return 'raised';
  return Math.abs(after.impact) >= 2 * Math.abs(before.toldImpact) ? 'doubled' : null;
}

/** A person says that this is how it should be: its onset becomes the start of a new baseline. */
export function expectIncident(incident: Incident): Incident {
  return isOver(incident) ? incident : { ...incident, state: 'expected' };
}

/** Nobody hears of it up to and including that day; it is followed all the same. */
export function muteIncident(incident: Incident, until: Day): Incident {
  return isOver(incident) ? incident : { ...incident, state: 'muted', mutedUntil: until };
}

function stateOf(days: readonly IncidentDay[], mutedUntil: Day | null): IncidentState {
  const calm = days.filter(({ final }) => final).slice(-CALM_DAYS);
  if (calm.length === CALM_DAYS && calm.every(({ unusual }) => !unusual)) return 'resolved';
  const unusual = days.filter((day) => day.unusual).length;
  if (unusual >= NORMAL_DAYS) return 'new-normal';
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

/** A rare or new cost is an increase that no range was there for. */
function unusualOf(verdict: AnomalyVerdict) {
  if (verdict.kind === 'unusual') return verdict;
  if (verdict.kind !== 'rare-cost' && verdict.kind !== 'new-cost') return null;
  return { direction: 'up', tier: 'notice', excess: verdict.excess } as const;
}
