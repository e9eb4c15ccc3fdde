import { addMonths, lengthOf, monthOf, monthSpan } from '../src/base/calendar.ts';
import { addDays, type Day, dayNumber, daysBetween, weekdayOf } from '../src/base/time.ts';
import type { AppliedChange } from '../src/maths/anomalies.ts';

// Months of organizations with a known truth: what happens in each class, and what a report shows of it.

/** A number from 0 to 1. */
export type Chance = () => number;

/** Mulberry32: the same numbers for the same seed. */
export function chanceFrom(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function between(chance: Chance, low: number, high: number): number {
  return low + (high - low) * chance();
}

function pick<Item>(chance: Chance, items: readonly Item[]): Item {
  // The index is below the length.
  return items[Math.floor(chance() * items.length)] as Item;
}

function normal(chance: Chance): number {
  const radius = Math.sqrt(-2 * Math.log(1 - chance()));
  return radius * Math.cos(2 * Math.PI * chance());
}

/** Noise of a day as a factor, with a heavy tail: one day of twenty has three times the deviation. */
function noise(chance: Chance, sigma: number): number {
  const wide = chance() < 0.05 ? 3 : 1;
  return Math.exp(sigma * wide * normal(chance));
}

/** The true final cost of each day of a service, in credits. */
export interface WorldService {
  readonly id: string;
  readonly name: string;
  readonly costs: ReadonlyMap<Day, number>;
  readonly sigma: number;
}

/** What a line did on its own: a truth for the anomaly code. */
export interface Spike {
  readonly service: string;
  readonly day: Day;
  readonly factor: number;
}

export interface World {
  readonly kind: Kind;
  readonly month: string;
  readonly services: readonly WorldService[];
  /** Days become final at this age. */
  readonly lockAge: number;
  /** The share of its final cost that a day shows at an age in days; 1 where reports do not grow. */
  readonly shareAt: (day: Day, age: number) => number;
  /** Signalbox reads the report from this day on. */
  readonly installed: Day;
  /** Mornings on which Signalbox does not run. */
  readonly isPaused: (morning: Day) => boolean;
  /** Days without rows, until the morning on which they come. */
  readonly rowsCome: ReadonlyMap<Day, Day>;
  readonly changes: readonly AppliedChange[];
  /** The days on which something begins or ends in the month, in order. */
  readonly events: readonly Day[];
  readonly spikes: readonly Spike[];
  readonly budget: number;
}

export const KINDS = [
  'steady',
  'weekly',
  'growth',
  'step-up',
  'step-down',
  'burst',
  'backfill',
  'month-end',
  'holiday',
  'black-friday',
  'new-service',
  'removed-service',
  'outage',
  'refund',
  'late-lock',
  'late-step',
  'first-install',
  'first-days',
  'february',
  'young',
  'spiky',
  'single-x2',
  'after-incident',
  'pause',
  'scale-up',
  'stop-ours',
  'drop',
  'late-backfill',
  'opposite',
  'straddling',
  'two-incidents',
] as const;
export type Kind = (typeof KINDS)[number];

const HISTORY = 125;

interface Draft {
  readonly chance: Chance;
  readonly month: string;
  readonly first: Day;
  readonly days: readonly Day[];
  /** The days of the month. */
  readonly own: readonly Day[];
  readonly services: {
    id: string;
    name: string;
    base: number;
    sigma: number;
    costs: Map<Day, number>;
  }[];
  readonly events: Day[];
  readonly spikes: Spike[];
  readonly changes: AppliedChange[];
  readonly rowsCome: Map<Day, Day>;
}

const MONTHS = [
  '2025-11',
  '2026-01',
  '2026-03',
  '2026-05',
  '2026-06',
  '2026-07',
  '2026-09',
  '2026-10',
];

function monthFor(kind: Kind, chance: Chance): string {
  if (kind === 'february') return pick(chance, ['2025-02', '2026-02']);
  if (kind === 'black-friday') return pick(chance, ['2025-11', '2024-11', '2025-12']);
  if (kind === 'holiday') return pick(chance, ['2025-12', '2026-01', '2026-04', '2026-08']);
  return pick(chance, MONTHS);
}

/** One month of an organization of this kind. */
export function world(kind: Kind, seed: number): World {
  const chance = chanceFrom(seed * 7919 + KINDS.indexOf(kind) * 104_729);
  const month = monthFor(kind, chance);
  const span = monthSpan(month);
  const first = addDays(span.first, -HISTORY);
  const days = daysBetween(first, span.last);
  const weekend = kind === 'weekly' || chance() < 0.5 ? between(chance, 0.3, 0.8) : 1;
  const count = 2 + Math.floor(chance() * 4);
  const services = Array.from({ length: count }, (_, index) => {
    const base = between(chance, 8, 150);
    const sigma = kind === 'spiky' ? between(chance, 0.4, 0.8) : between(chance, 0.03, 0.12);
    const own = weekend === 1 ? 1 : Math.min(1, weekend * between(chance, 0.85, 1.15));
    const costs = new Map(
      days.map((day) => [day, base * (weekdayOf(day) > 4 ? own : 1) * noise(chance, sigma)]),
    );
    const id = `${index}a0e9c1e-0000-4000-8000-00000000000${index}`;
    return { id, name: `service-${index}`, base, sigma, costs };
  });
  const draft: Draft = {
    chance,
    month,
    first: span.first,
    days,
    own: daysBetween(span.first, span.last),
    services,
    events: [],
    spikes: [],
    changes: [],
    rowsCome: new Map(),
  };
  EVENTS[kind]?.(draft);
  const total = totalOf(services, draft.own);
  const late = kind === 'late-lock' || kind === 'late-step' || chance() < 0.5;
  const grows = kind === 'late-lock' || kind === 'late-step' || chance() < 0.4;
  const slowness = between(chance, 0.5, late ? 2.5 : 0.8);
  const gap = between(chance, 0.1, 0.45);
  return {
    kind,
    month,
    services,
    lockAge: late ? 11 + Math.floor(chance() * 4) : 2,
    shareAt: (day, age) => {
      if (!grows) return 1;
      const wobble = 1 + 0.15 * Math.sin(dayNumber(day) * 12.9898);
      return 1 - gap * wobble * Math.exp(-(age - 1) / slowness);
    },
    installed: installedOn(kind, span.first, chance),
    isPaused: pauseOf(kind, draft),
    rowsCome: draft.rowsCome,
    changes: draft.changes,
    events: draft.events.sort(),
    spikes: draft.spikes,
    budget: total * pick(chance, [between(chance, 0.82, 0.96), between(chance, 1.04, 1.25)]),
  };
}

export function totalOf(services: readonly Pick<WorldService, 'costs'>[], days: readonly Day[]) {
  return services.reduce(
    (all, { costs }) => all + days.reduce((sum, day) => sum + (costs.get(day) ?? 0), 0),
    0,
  );
}

function installedOn(kind: Kind, first: Day, chance: Chance): Day {
  if (kind === 'first-install') return addDays(first, 1 + Math.floor(chance() * 12));
  return addDays(first, -35);
}

function pauseOf(kind: Kind, { own, chance, events }: Draft): World['isPaused'] {
  if (kind !== 'pause') return () => false;
  const begin = own[3 + Math.floor(chance() * 10)] ?? '';
  const end = addDays(begin, 4 + Math.floor(chance() * 6));
  events.push(end);
  return (morning) => morning >= begin && morning < end;
}

/** Multiplies the costs of some services on the days of a condition. */
function scaled(
  services: readonly Draft['services'][number][],
  days: readonly Day[],
  factor: (day: Day) => number,
): void {
  for (const { costs } of services) {
    for (const day of days) costs.set(day, (costs.get(day) ?? 0) * factor(day));
  }
}

/** A day of the month from which there are days before and after. */
function eventDay({ chance, own }: Draft, from = 2, to = 20): Day {
  return own[from + Math.floor(chance() * (to - from))] ?? '';
}

function largest({ services }: Draft) {
  return [...services].sort((a, b) => b.base - a.base);
}

function since(days: readonly Day[], from: Day, count = Number.POSITIVE_INFINITY): readonly Day[] {
  return days.filter((day) => day >= from && dayNumber(day) - dayNumber(from) < count);
}

function step(draft: Draft, factor: number, from = eventDay(draft)): Day {
  scaled(draft.services, since(draft.days, from), () => factor);
  draft.events.push(from);
  return from;
}

function burst(draft: Draft, count: number, factor: number): void {
  const from = eventDay(draft, 3, 22);
  const some = draft.chance() < 0.5 ? draft.services : largest(draft).slice(0, 1);
  scaled(some, since(draft.days, from, count), () => factor);
  draft.events.push(from, addDays(from, count));
}

function changeOf(
  draft: Draft,
  service: Draft['services'][number],
  day: Day,
  over: Partial<AppliedChange>,
): void {
  draft.changes.push({
    id: 'ADHZMF',
    serviceId: service.id,
    service: service.name,
    what: 'scaled',
    day,
    direction: 'up',
    before: null,
    after: null,
    isUnknown: false,
    ...over,
  });
}

const EVENTS: Readonly<Partial<Record<Kind, (draft: Draft) => void>>> = {
  growth: (draft) => {
    const rate = between(draft.chance, 0.004, 0.012);
    const begin = dayNumber(draft.days[0] ?? '');
    scaled(draft.services, draft.days, (day) => Math.exp(rate * (dayNumber(day) - begin)));
  },
  'step-up': (draft) => void step(draft, between(draft.chance, 1.4, 2.2)),
  'late-step': (draft) => void step(draft, between(draft.chance, 1.4, 2.2)),
  'step-down': (draft) => void step(draft, between(draft.chance, 0.4, 0.7)),
  burst: (draft) => burst(draft, 1 + Math.floor(draft.chance() * 5), between(draft.chance, 1.8, 5)),
  backfill: (draft) =>
    burst(draft, 2 + Math.floor(draft.chance() * 3), between(draft.chance, 3, 6)),
  'month-end': (draft) => {
    const factor = between(draft.chance, 1.8, 4);
    const length = 2 + Math.floor(draft.chance() * 3);
    for (const back of [-4, -3, -2, -1, 0, 1]) {
      const end = addDays(addMonths(draft.first, back), 0);
      const from = addDays(end, -length + Math.floor(length / 3));
      scaled(draft.services, since(draft.days, from, length), () => factor);
    }
  },
  holiday: (draft) => {
    const from = eventDay(draft, 2, 18);
    const count = 3 + Math.floor(draft.chance() * 8);
    scaled(draft.services, since(draft.days, from, count), () => between(draft.chance, 0.25, 0.5));
    draft.events.push(from, addDays(from, count));
  },
  'black-friday': (draft) => {
    const november = `${draft.month.slice(0, 4)}-11-01`;
    const friday = daysBetween(november, addDays(november, 27)).filter(
      (day) => weekdayOf(day) === 4,
    )[3];
    const from = friday ?? november;
    const factor = between(draft.chance, 1.8, 3.5);
    scaled(draft.services, since(draft.days, from, 4), () => factor);
    if (monthOf(from) === draft.month) draft.events.push(from, addDays(from, 4));
  },
  'new-service': (draft) => {
    const from = eventDay(draft);
    const base = between(draft.chance, 0.3, 0.9) * totalOf(draft.services, [draft.first]);
    const costs = new Map(
      draft.days.map((day) => [day, day < from ? 0 : base * noise(draft.chance, 0.08)]),
    );
    draft.services.push({
      id: '9b0e9c1e-0000-4000-8000-000000000009',
      name: 'new',
      base,
      sigma: 0.08,
      costs,
    });
    draft.events.push(from);
  },
  'removed-service': (draft) => {
    const from = eventDay(draft);
    scaled(largest(draft).slice(0, 1), since(draft.days, from), () => 0);
    draft.events.push(from);
  },
  outage: (draft) => {
    const from = eventDay(draft, 3, 20);
    const count = 1 + Math.floor(draft.chance() * 4);
    const comes = addDays(from, count + 1 + Math.floor(draft.chance() * 2));
    for (const day of since(draft.days, from, count)) draft.rowsCome.set(day, comes);
    draft.events.push(from, comes);
  },
  refund: (draft) => {
    const day = eventDay(draft, 5, 22);
    const [one] = largest(draft);
    const refund = -between(draft.chance, 1, 4) * (one?.base ?? 0);
    one?.costs.set(day, refund);
    draft.events.push(day, addDays(day, 1));
  },
  'first-days': (draft) =>
    void step(draft, between(draft.chance, 1.2, 1.5), addDays(draft.first, -9)),
  'single-x2': (draft) => {
    const service = pick(draft.chance, draft.services);
    const day = eventDay(draft, 3, 24);
    scaled([service], [day], () => 2);
    draft.spikes.push({ service: service.id, day, factor: 2 });
    draft.events.push(day, addDays(day, 1));
  },
  'after-incident': (draft) => {
    const service = pick(draft.chance, draft.services);
    const before = addDays(draft.first, -Math.floor(between(draft.chance, 5, 35)));
    scaled([service], since(draft.days, before, 2), () => between(draft.chance, 3, 5));
    const day = eventDay(draft, 3, 24);
    scaled([service], [day], () => 3.7);
    draft.spikes.push({ service: service.id, day, factor: 3.7 });
    draft.events.push(day, addDays(day, 1));
  },
  'scale-up': (draft) => {
    const [service] = largest(draft);
    const day = eventDay(draft, 3, 16);
    if (!service) return;
    const factor = between(draft.chance, 1.8, 2.6);
    scaled([service], since(draft.days, addDays(day, 1)), () => factor);
    scaled([service], [day], () => 1 + (factor - 1) * draft.chance());
    const size = { minReplicaMemoryGb: 32, numReplicas: 3, idleScaling: false };
    const before = { ...size, maxReplicaMemoryGb: 32 };
    const gb = Math.round(32 * factor);
    const after = { ...size, minReplicaMemoryGb: gb, maxReplicaMemoryGb: gb };
    changeOf(draft, service, day, { before, after });
    draft.events.push(addDays(day, 1));
  },
  'stop-ours': (draft) => {
    const service = pick(draft.chance, draft.services);
    const day = eventDay(draft, 3, 20);
    scaled([service], since(draft.days, addDays(day, 1)), () => 0);
    scaled([service], [day], () => draft.chance());
    changeOf(draft, service, day, { what: 'stopped', direction: 'down' });
    draft.events.push(addDays(day, 1));
  },
  drop: (draft) => {
    const service = pick(draft.chance, draft.services);
    const day = eventDay(draft, 3, 20);
    scaled([service], since(draft.days, day), () => 0);
    draft.events.push(day);
  },
  'late-backfill': (draft) => {
    const from = draft.own[draft.own.length - 2 - Math.floor(draft.chance() * 3)] ?? '';
    scaled(draft.services, since(draft.days, from, 5), () => between(draft.chance, 3, 6));
    draft.events.push(from);
  },
  opposite: (draft) => {
    const from = eventDay(draft);
    const [one, other] = largest(draft);
    if (!one || !other) return;
    const up = between(draft.chance, 1.5, 2.2);
    scaled([other], since(draft.days, from), () => up);
    scaled([one], since(draft.days, from), () =>
      Math.max(0.1, 1 - ((up - 1) * other.base) / one.base),
    );
    draft.events.push(from);
  },
  straddling: (draft) => {
    const service = pick(draft.chance, draft.services);
    const before = addDays(draft.first, -1 - Math.floor(draft.chance() * 2));
    scaled([service], since(draft.days, before, 4), () => between(draft.chance, 3, 5));
    const day = eventDay(draft, 8, 24);
    scaled([service], [day], () => 3.7);
    draft.spikes.push({ service: service.id, day, factor: 3.7 });
    draft.events.push(draft.first, day, addDays(day, 1));
  },
  'two-incidents': (draft) => {
    const service = pick(draft.chance, draft.services);
    for (const back of [20, 9]) {
      const from = addDays(draft.first, -back - Math.floor(draft.chance() * 4));
      scaled([service], since(draft.days, from, 2), () => between(draft.chance, 3, 5));
    }
    const day = eventDay(draft, 3, 24);
    scaled([service], [day], () => 3.7);
    draft.spikes.push({ service: service.id, day, factor: 3.7 });
    draft.events.push(day, addDays(day, 1));
  },
  young: (draft) => {
    const from = addDays(draft.first, -30);
    for (const { costs } of draft.services) {
      for (const day of draft.days) if (day < from) costs.delete(day);
    }
  },
};

/** The morning at which all costs of the month are known from then on: the last event was visible. */
export function isKnowable({ events }: World, morning: Day): boolean {
  return events.every((day) => day < morning);
}

export function monthLength({ month }: World): number {
  return lengthOf(monthSpan(month));
}
