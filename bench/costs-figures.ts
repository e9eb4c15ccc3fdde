import { type Day, dayNumber } from '../src/base/time.ts';
import { mean, median } from '../src/maths/numbers.ts';
import type { Morning, Sample } from './costs-replay.ts';
import { isKnowable, type Kind } from './costs-worlds.ts';

// The figures of each class of scenarios, against the bars of the class.

interface Figures {
  readonly kind: Kind;
  /** Median error of the month in %, on mornings 3, 10, 15, 25. */
  readonly errors: readonly number[];
  /** On mornings 6 to 12 after the last event began. */
  readonly after: number;
  readonly coverage: number;
  readonly coverageAll: number;
  /** Months without an overrun that were called almost certainly over: nothing began afterwards, something did. */
  readonly almost: readonly [number, number];
  readonly likely: readonly [number, number];
  /** Mornings from knowable to the first warning, of months with an overrun. */
  readonly delays: readonly number[];
  readonly found: number;
  readonly spikes: number;
  /** Messages about increases per month. */
  readonly messages: number;
  /** Messages about what Signalbox did itself. */
  readonly ownDoing: number;
  readonly dropsShown: number;
}

function figuresOf(kind: Kind, samples: readonly Sample[]): Figures {
  const errorOn = (at: number) =>
    median(samples.flatMap(({ mornings, total }) => errorsOf(mornings, total, (n) => n === at)));
  const knowable = samples.flatMap((one) =>
    one.mornings
      .filter(({ day }) => isKnowable(one.world, day))
      .flatMap((each) => inside(each, one.total)),
  );
  const all = samples.flatMap((one) => one.mornings.flatMap((each) => inside(each, one.total)));
  const spikes = samples.flatMap(foundSpikes);
  return {
    kind,
    errors: [3, 10, 15, 25].map(errorOn),
    after: median(samples.flatMap(errorsAfter)),
    coverage: 100 * mean(knowable),
    coverageAll: 100 * mean(all),
    almost: falseCalls(samples, 'almost'),
    likely: falseCalls(samples, 'likely'),
    delays: samples.flatMap(delayOf),
    found: spikes.filter(Boolean).length,
    spikes: spikes.length,
    messages: mean(samples.map(({ mornings }) => messagesIn(mornings))),
    ownDoing: samples.reduce((sum, one) => sum + ownDoing(one), 0),
    dropsShown: samples.filter(({ mornings }) =>
      mornings.some(({ judged }) => judged.decreased.length > 0 || judged.effects.length > 0),
    ).length,
  };
}

function errorsOf(
  mornings: readonly Morning[],
  total: number,
  wanted: (number: number) => boolean,
): readonly number[] {
  return mornings.flatMap(({ day, forecast }) =>
    forecast.ok && wanted(Number(day.slice(8))) ? [100 * Math.abs(forecast.total / total - 1)] : [],
  );
}

function errorsAfter({ world: { events }, mornings, total }: Sample): readonly number[] {
  const last = events.at(-1);
  if (last === undefined) return [];
  return mornings.flatMap(({ day, forecast }) => {
    const age = dayNumber(day) - dayNumber(last);
    return forecast.ok && age >= 6 && age <= 12 ? [100 * Math.abs(forecast.total / total - 1)] : [];
  });
}

function inside({ forecast }: Morning, total: number): readonly number[] {
  return forecast.ok ? [Number(forecast.low <= total && total <= forecast.high)] : [];
}

function falseCalls(samples: readonly Sample[], kind: 'likely' | 'almost'): [number, number] {
  let [quiet, events] = [0, 0];
  for (const { world: one, total, mornings } of samples) {
    if (total > one.budget) continue;
    const called = mornings.find(({ news }) => news?.kind === kind);
    if (!called) continue;
    if (one.events.some((day) => day >= called.day)) events += 1;
    else quiet += 1;
  }
  return [quiet, events];
}

/** The first morning from which the truth was knowable: the level is visible and the total is over. */
function delayOf({ world: one, total, mornings }: Sample): readonly number[] {
  if (total <= one.budget * 1.02) return [];
  const knowable = mornings.find(({ day }) => isKnowable(one, day));
  const warned = mornings.find(({ news }) => news !== null && news.kind !== 'cleared');
  if (!knowable) return [];
  const end = mornings.at(-1)?.day ?? knowable.day;
  return [Math.max(0, dayNumber(warned?.day ?? end) - dayNumber(knowable.day))];
}

/** The spikes that matter: of lines with little noise, and above the floor of what is reported. */
function foundSpikes({ world: { spikes, services }, mornings }: Sample): readonly boolean[] {
  return spikes.flatMap(({ service, day, factor }) => {
    const own = services.find(({ id }) => id === service);
    const seen = mornings.filter((one) => {
      const age = dayNumber(one.day) - dayNumber(day);
      return age >= 1 && age <= 3;
    });
    const excess = (own?.costs.get(day) ?? 0) * (1 - 1 / factor);
    const isSmall = seen.every(({ judged }) => excess < judged.floor);
    if (!own || own.sigma > MOST_NOISE || isSmall) return [];
    return [seen.some(({ judged }) => judged.unusual.some((each) => isOf(each, service, day)))];
  });
}

const MOST_NOISE = 0.15;

function isOf(
  { key, days }: Morning['judged']['unusual'][number],
  service: string,
  day: Day,
): boolean {
  return key === service && days.some((one) => one.day === day);
}

/** One message for each line and run. */
function messagesIn(mornings: readonly Morning[]): number {
  const told = new Set<string>();
  for (const { judged } of mornings)
    for (const { key, since } of judged.unusual) told.add(`${key} ${since}`);
  return told.size;
}

function ownDoing({ world: { changes }, mornings }: Sample): number {
  return mornings.filter(({ judged }) =>
    judged.unusual.some(({ key, since }) =>
      changes.some(
        ({ serviceId, day }) =>
          serviceId === key && dayNumber(since) - dayNumber(day) <= 1 && since >= day,
      ),
    ),
  ).length;
}

export const HEAD = [
  'class',
  'd3',
  'd10',
  'd15',
  'd25',
  '6–12 after',
  'covered',
  'all',
  'almost',
  'likely',
  'delay',
  'found',
  'messages',
  'own',
  'drops',
];

export function rowOf(kind: Kind, samples: readonly Sample[]): readonly string[] {
  const one = figuresOf(kind, samples);
  const text = (value: number) => (Number.isFinite(value) ? value.toFixed(1) : '–');
  return [
    one.kind,
    ...one.errors.map(text),
    text(one.after),
    one.coverage.toFixed(0),
    one.coverageAll.toFixed(0),
    one.almost.join('+'),
    one.likely.join('+'),
    text(median(one.delays)),
    one.spikes === 0 ? '–' : `${one.found}/${one.spikes}`,
    one.messages.toFixed(2),
    String(one.ownDoing),
    String(one.dropsShown),
  ];
}

/** A figure against the bar of its class. */
export interface Bar {
  readonly label: string;
  readonly seen: string;
  readonly bar: string;
  readonly met: boolean;
}

/** The largest median error in % at mid-month, by class. */
const MID_MONTH: Readonly<Partial<Record<Kind, number>>> = {
  steady: 2,
  weekly: 2,
  'late-lock': 2,
  'first-install': 2,
  february: 2,
  young: 2,
  growth: 3,
  'month-end': 4,
};
const STEPS: readonly Kind[] = ['step-up', 'step-down', 'late-step', 'new-service', 'scale-up'];
const QUIET: readonly Kind[] = [
  'steady',
  'weekly',
  'growth',
  'young',
  'late-lock',
  'first-install',
  'february',
];
/** The most mornings until an overrun is announced: six in classes with a step that nothing explains. */
const MOST_DELAY: Readonly<Partial<Record<Kind, number>>> = {
  'step-up': 6,
  'late-step': 6,
  'new-service': 6,
  'scale-up': 1,
};

/** The bars of the class. Coverage has a margin for its sample, because each class has its own bar. */
export function barsOf(kind: Kind, samples: readonly Sample[]): readonly Bar[] {
  const { errors, after, coverage, almost, delays, found, spikes, messages, ownDoing } = figuresOf(
    kind,
    samples,
  );
  const atMost = (label: string, seen: number, most: number): readonly Bar[] =>
    Number.isFinite(seen)
      ? [{ label: `${kind}: ${label}`, seen: seen.toFixed(2), bar: `≤ ${most}`, met: seen <= most }]
      : [];
  const [, , mid = Number.NaN] = errors;
  const most = MID_MONTH[kind];
  const delay = MOST_DELAY[kind];
  const least = {
    covered: 70,
    found: ['after-incident', 'straddling', 'two-incidents'].includes(kind) ? 98 : 95,
  };
  return [
    ...atMost('false "almost certainly over"', almost[0], 0),
    ...atMost('messages about own changes', ownDoing, 0),
    ...(most === undefined ? [] : atMost('error at mid-month', mid, most)),
    ...(STEPS.includes(kind) ? atMost('error from the sixth day on', after, 3) : []),
    ...(delay === undefined ? [] : atMost('mornings until announced', median(delays), delay)),
    ...(QUIET.includes(kind) ? atMost('messages a month', messages, 1) : []),
    {
      label: `${kind}: coverage of the 80% range`,
      seen: coverage.toFixed(0),
      bar: '70–92',
      met: coverage >= least.covered && coverage <= 92.5,
    },
    ...(spikes === 0
      ? []
      : [
          {
            label: `${kind}: spikes found`,
            seen: `${found} of ${spikes}`,
            bar: `≥ ${least.found}%`,
            met: (100 * found) / spikes >= least.found,
          },
        ]),
  ];
}
