import { z } from 'zod';
import {
  type ConfigProblem,
  type ConfigResult,
  DayTextSchema,
  InstantTextSchema,
  nearestWord,
  parseConfig,
  quoted,
  strictConfigObject,
  withHint,
} from '../base/problem.ts';
import { nearest } from '../base/text.ts';
import type { Answer, Caller } from '../domain/answer.ts';
import type { UserId } from '../domain/change.ts';
import { ChannelName, costSelectorSchema } from '../domain/policy-schema.ts';
import type { Db } from '../storage/old/database.ts';
import { type Subscription, subscriptions } from '../storage/old/subscriptions.ts';

type ScopeSchema = ReturnType<typeof costSelectorSchema>;

const THRESHOLDS = [50, 80, 100];
const MOST_CREDITS = 1_000_000_000;

export function budgetSchema(on: ScopeSchema) {
  return strictConfigObject({
    name: z.string().trim().min(1, { error: 'must not be empty' }).max(60),
    monthlyCredits: z.number().positive().max(MOST_CREDITS),
    on: on.optional(),
    notify: ChannelName,
    thresholds: z.array(z.int().min(1).max(1000)).min(1).default(THRESHOLDS),
  }).transform(({ monthlyCredits, ...budget }) => ({
    name: budget.name,
    notify: budget.notify,
    credits: monthlyCredits,
    on: budget.on ?? null,
    /** In percent, unique and ascending. */
    thresholds: [...new Set(budget.thresholds)].sort((a, b) => a - b),
  }));
}

type ScopeSchemaDigestOptions = ReturnType<typeof costSelectorSchema>;

export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
type WeekdayName = (typeof DAYS)[number];

export const SECTIONS = [
  'figures',
  'movers',
  'unusual',
  'budgets',
  'revisions',
  'chart',
  'table',
] as const;

const BY_PLACE = 'use the name of a place, for example Europe/Berlin, so that summer time applies';

/** A name of the time zone database. A fixed offset from UTC would ignore summer time. */
export const TimeZone = z.string().refine(isTimeZone, {
  error: ({ input }) => {
    const near = nearestWord(String(input), Intl.supportedValuesOf('timeZone'));
    const other = /[+-]\d/.test(String(input)) ? BY_PLACE : 'for example Europe/Berlin or UTC';
    const hint = near === null ? other : `did you mean ${quoted(near)}?`;
    return withHint(`is not a time zone: ${quoted(String(input))}`, hint);
  },
});

function isTimeZone(name: string): boolean {
  // The runtime also accepts fixed offsets from UTC.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

export const Days = z.union(
  [
    z.enum(['daily', 'weekdays']),
    z.enum(DAYS).transform((day): readonly WeekdayName[] => [day]),
    z.array(z.enum(DAYS)).min(1).readonly(),
  ],
  { error: `must be daily, weekdays, or days of the week: ${DAYS.join(', ')}` },
);

export const TimeOfDaySchema = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, {
  error: 'must be a time of day, for example 09:30',
});

export function digestSchema(on: ScopeSchemaDigestOptions) {
  return strictConfigObject({
    channel: ChannelName,
    at: TimeOfDaySchema.default('09:30'),
    timezone: TimeZone.default('UTC'),
    period: z.enum(['day', 'week', 'month']).default('day'),
    days: Days.optional(),
    on: on.optional(),
    sections: z
      .array(z.enum(SECTIONS))
      .min(1)
      .default([...SECTIONS]),
    minimumCredits: z.number().min(0).optional(),
    sensitivity: z.enum(['low', 'normal', 'high']).default('normal'),
    increasesOnly: z.boolean().default(false),
    quiet: z.boolean().default(false),
    mutedUntil: InstantTextSchema.optional(),
  })
    .superRefine(({ period, days }, context) => {
      const message = daysProblem(period, days);
      if (message !== null) context.addIssue({ code: 'custom', path: ['days'], message });
    })
    .transform(({ days, on: selector, minimumCredits, mutedUntil, ...digest }) => ({
      ...digest,
      days: daysOf(digest.period, days),
      on: selector ?? null,
      /** Smaller amounts are left out; null: derived from the usual daily costs. */
      minimumCredits: minimumCredits ?? null,
      mutedUntil: mutedUntil ?? null,
    }));
}

export type DigestOptionsConfig = z.output<ReturnType<typeof digestSchema>>;
export type DigestSection = (typeof SECTIONS)[number];

type Period = 'day' | 'week' | 'month';
type DaysOption = z.output<typeof Days> | undefined;

function daysProblem(period: Period, days: DaysOption): string | null {
  if (period === 'month' && days !== undefined) {
    return withHint('has no meaning by month', 'it is posted when all days of the month are final');
  }
  if (period !== 'week' || days === undefined) return null;
  return Array.isArray(days) && days.length === 1 ? null : 'must be a single day, for example mon';
}

/** The days with posts; empty for a monthly digest, which is posted when the month is final. */
function daysOf(period: Period, days: DaysOption): readonly WeekdayName[] {
  if (period === 'month') return [];
  if (period === 'week') return Array.isArray(days) ? days : ['mon'];
  if (Array.isArray(days)) return DAYS.filter((day) => days.includes(day));
  return days === 'daily' ? DAYS : DAYS.slice(0, 5);
}

interface Service {
  readonly name: string;
  readonly id: string;
  readonly tags: readonly string[];
  readonly warehouse: string | null;
  readonly team: string | null;
}

/** Returns a parser for the options of digests from Slack, with the schema of the file. */
export function digestReader(
  services: readonly Service[],
): (input: unknown) => ConfigResult<DigestOptionsConfig> {
  const on = costSelectorSchema({
    services: new Map(services.map(({ name, id }) => [name, id])),
    tags: [...new Set(services.flatMap(({ tags }) => tags))],
    warehouses: [...new Set(services.flatMap(({ warehouse }) => warehouse ?? []))],
    teams: [...new Set(services.flatMap(({ team }) => team ?? []))],
  });
  const schema = digestSchema(on);
  return (input) => parseConfig(schema, input);
}

const MOST_DECIMALS = 6;
const MILLION = 10 ** MOST_DECIMALS;

const PerCredit = z
  .number()
  .positive()
  .max(MILLION)
  .refine((price) => /^-?\d+(\.\d{1,6})?$/.test(String(price)), {
    error: withHint(`must have at most ${MOST_DECIMALS} decimals`, 'for example 0.35'),
  });

const Currency = z.string().refine((code) => Intl.supportedValuesOf('currency').includes(code), {
  abort: true,
  error: ({ input }) =>
    withHint(`is not a currency: ${quoted(String(input))}`, 'a code of ISO 4217, for example EUR'),
});

const Price = strictConfigObject({ perCredit: PerCredit, currency: Currency, from: DayTextSchema });

const Prices = z
  .array(Price)
  .min(1)
  .superRefine((all, context) => {
    all.forEach(({ currency, from }, index) => {
      const issue = (key: string, message: string) =>
        context.addIssue({ code: 'custom', path: [index, key], message });
      const [first] = all;
      if (first && currency !== first.currency) {
        const hint = 'one currency only: sums cannot mix currencies';
        issue('currency', withHint(`differs from costs.price[0]: ${first.currency}`, hint));
      }
      const earlier = all.findIndex((one) => one.from === from);
      if (earlier < index)
        issue('from', `repeats ${from} (already used at costs.price[${earlier}])`);
    });
  })
  .transform((all) =>
    all
      .map(({ perCredit, ...rest }) => ({ ...rest, perCredit: Math.round(perCredit * MILLION) }))
      .toSorted((a, b) => (a.from < b.from ? -1 : 1)),
  );

/** `price`: the prices in millionths of the currency, the earliest first; null: no money is shown. */
export const Costs = strictConfigObject({ price: Prices.optional() })
  .default({})
  .transform(({ price = null }) => ({ price }));

/** A digest that was added in the configuration file or in Slack. */
export interface DigestSubscription {
  /** The key of its post records, one per day. */
  readonly key: string;
  /** The id in commands; null for a digest of the configuration file. */
  readonly id: string | null;
  readonly channel: string;
  readonly options: DigestOptionsConfig;
  readonly paused: boolean;
  readonly by: UserId | null;
  /** When it was added: no earlier slot is required. Null for the file, which has no start date. */
  readonly since: Date | null;
}

export interface SubscriptionSources {
  readonly configured: readonly DigestOptionsConfig[];
  readonly readOptions: (input: unknown) => ConfigResult<DigestOptionsConfig>;
}

interface SubscriptionList {
  readonly all: readonly DigestSubscription[];
  /** Digests whose options name something that the configuration no longer has. */
  readonly broken: readonly BrokenSubscription[];
}

export interface BrokenSubscription
  extends Pick<DigestSubscription, 'key' | 'channel' | 'by' | 'paused'> {
  readonly id: string;
  readonly problem: string;
}

export async function loadSubscriptions(
  db: Db,
  { configured, readOptions }: SubscriptionSources,
): Promise<SubscriptionList> {
  const all: DigestSubscription[] = configured.map(fromFile);
  const broken: BrokenSubscription[] = [];
  for (const one of await subscriptions(db)) {
    const reading = readOptions({ ...one.options, channel: one.channel });
    if (reading.ok) all.push(fromSlack(one, reading.value));
    else broken.push(brokenOne(one, reading.problems));
  }
  return { all, broken };
}

function brokenOne(
  { id, channel, createdBy: by, paused }: Subscription,
  problems: readonly ConfigProblem[],
): BrokenSubscription {
  return { id, key: keyOf(channel, id), channel, by, paused, problem: problemsText(problems) };
}

function keyOf(channel: string, id: string): string {
  return `${channel}|${id}`;
}

export function problemsText(problems: readonly ConfigProblem[]): string {
  return problems
    .map(({ where, problem, hint }) => {
      const word = WORDS.find(([pattern]) => pattern.test(where))?.[1] ?? where;
      return `${word} ${problem}${hint === null ? '' : ` (${hint})`}`;
    })
    .join('; ');
}

/** The keys of the file as they are typed in a command. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^on\.services/, 'service'],
  [/^on\.tags/, 'tag'],
  [/^on\.warehouses/, 'warehouse'],
  [/^on\.teams/, 'team'],
  [/^timezone$/, 'zone'],
  [/^period$/, 'every'],
];

// The file has at most one digest of each period for a channel, so these keys do not change when
// other options are edited. With a new key, the current digest would be posted a second time.
function fromFile(options: DigestOptionsConfig): DigestSubscription {
  const { channel, period } = options;
  const key = period === 'day' ? channel : `${channel}|${period}`;
  return { key, id: null, channel, options, paused: false, by: null, since: null };
}

/** A digest that was added in Slack, from its stored row. */
export function fromSlack(one: Subscription, options: DigestOptionsConfig): DigestSubscription {
  const { id, channel, paused, createdBy: by, createdAt: since } = one;
  return { key: keyOf(channel, id), id, channel, options, paused, by, since };
}

/** The name in commands: the id, or channel and period, which are unique in the file. */
export function digestName({ id, channel, options }: DigestSubscription): string {
  return id ?? `${channel}:${options.period}`;
}

export const DIGEST_ACTIONS = [
  'list',
  'add',
  'remove',
  'pause',
  'resume',
  'now',
  'preview',
] as const;

/** One action on cost digests; null for a value that was not given. */
export interface DigestRequest {
  readonly what: (typeof DIGEST_ACTIONS)[number];
  /** A channel name or id, or the id of one digest. */
  readonly which: string | null;
  /** Whether the caller confirmed a removal. */
  readonly isConfirmed: boolean;
  /** The same keys as in the configuration file, validated by the same schema. */
  readonly options: Readonly<Record<string, unknown>>;
}

export type DigestService = (request: DigestRequest, asker: Caller) => Promise<Answer>;

// Suggestions for invalid options of a digest. They are offered and never used directly.

/** `9`, `9.30`, `9pm` → `09:00`, `09:30`, `21:00` */
export function timesNear(typed: string): readonly string[] {
  const [, hour, minute = '00', half = ''] =
    /^(\d{1,2})(?:[:.h](\d\d))?\s*([ap])?m?$/i.exec(typed.trim()) ?? [];
  if (hour === undefined) return [];
  const isHalf = half !== '' && Number(hour) <= 12;
  const ofDay = isHalf ? (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0) : hour;
  const time = `${String(ofDay).padStart(2, '0')}:${minute}`;
  return TimeOfDaySchema.safeParse(time).success ? [time] : [];
}

/** Also by the city alone: `berlin` → `Europe/Berlin`. */
export function zonesNear(typed: string): readonly string[] {
  const zones = Intl.supportedValuesOf('timeZone');
  const cities = new Map(zones.map((zone) => [zone.split('/').at(-1) ?? zone, zone]));
  const found = nearest(typed.replaceAll(' ', '_'), [...zones, ...cities.keys()]);
  return [...new Set(found.map((one) => cities.get(one) ?? one))];
}

/** `monday, thr` → `mon,thu`; none if a word is similar to no day. */
export function daysNear(typed: string): readonly string[] {
  const words = typed.split(/[\s,]+/).filter(Boolean);
  const near = words.map((word) => dayNear(word.toLowerCase()));
  return near.length > 0 && !near.includes(null) ? [[...new Set(near)].join(',')] : [];
}

function dayNear(word: string): string | null {
  return DAYS.find((day) => word.startsWith(day)) ?? nearest(word, DAYS, 1)[0] ?? null;
}
