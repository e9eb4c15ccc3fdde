/** What signalbox.yaml and commands say about costs: digests, budgets and prices. */
import { z } from 'zod';
import {
  type ConfigResult,
  DayTextSchema,
  parseConfig,
  quoted,
  strictConfigObject,
  TimeZone,
  withHint,
} from '../base/problem.ts';
import { WEEKDAYS, type Weekday } from '../base/weekly-times.ts';
import { ChannelName, type costSelectorSchema } from '../domain/policy-schema.ts';

type ScopeSchema = ReturnType<typeof costSelectorSchema>;

/** The keys of signalbox.yaml about costs. `on`: the schema of a scope, for the names in the file. */
export function costConfigShape(on: ScopeSchema) {
  return {
    digests: z.array(digestSchema(on)).default([]),
    budgets: z.array(budgetSchema(on)).default([]),
    costs: Costs,
  };
}

function digestSchema(on: ScopeSchema) {
  return strictConfigObject({
    channel: ChannelName,
    at: TimeOfDay.default('09:30'),
    timezone: TimeZone.default('UTC'),
    period: z.enum(['day', 'week']).default('day'),
    days: Days.optional(),
    on: on.optional(),
    quiet: z.boolean().default(false),
  })
    .superRefine(({ period, days }, context) => {
      const message = daysProblem(period, days);
      if (message !== null) context.addIssue({ code: 'custom', path: ['days'], message });
    })
    .transform(({ days, on: selector, ...digest }) => ({
      ...digest,
      days: daysOf(digest.period, days),
      on: selector ?? null,
    }));
}

const Days = z.union(
  [
    z.enum(['daily', 'weekdays']),
    z.enum(WEEKDAYS).transform((day): readonly Weekday[] => [day]),
    z.array(z.enum(WEEKDAYS)).min(1).readonly(),
  ],
  { error: `must be daily, weekdays, or days of the week: ${WEEKDAYS.join(', ')}` },
);

const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, {
  error: 'must be a time of day, for example 09:30',
});

/** The options of a digest, with a value for each default. */
export type DigestOptions = z.output<ReturnType<typeof digestSchema>>;

type Period = 'day' | 'week';
type DaysOption = z.output<typeof Days> | undefined;

function daysProblem(period: Period, days: DaysOption): string | null {
  if (period !== 'week' || days === undefined) return null;
  return Array.isArray(days) && days.length === 1 ? null : 'must be a single day, for example mon';
}

function daysOf(period: Period, days: DaysOption): readonly Weekday[] {
  if (period === 'week') return Array.isArray(days) ? days : ['mon'];
  if (Array.isArray(days)) return WEEKDAYS.filter((day) => days.includes(day));
  return days === 'daily' ? WEEKDAYS : WEEKDAYS.slice(0, 5);
}

/** Returns a parser for the options of digests from Slack, with the schema and the names of the file. */
export function digestReader(on: ScopeSchema): (input: unknown) => ConfigResult<DigestOptions> {
  const schema = digestSchema(on);
  return (input) => parseConfig(schema, input);
}

const THRESHOLDS = [50, 80, 100];
const MOST_CREDITS = 1_000_000_000;

function budgetSchema(on: ScopeSchema) {
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

/** The smallest unusual cost that is reported: this share of a usual day, and these credits. */
const FloorSchema = strictConfigObject({
  share: z.number().min(0).max(1).optional(),
  credits: z.number().min(0).optional(),
});

/** `price`: the prices in millionths of the currency, the earliest first; null: no money is shown. */
const Costs = strictConfigObject({ price: Prices.optional(), floor: FloorSchema.default({}) })
  .default({ floor: {} })
  .transform(({ price = null, floor }) => ({ price, floor }));

/** The options of a digest that are typed. */
export const digestWords = { at: TimeOfDay, days: Days };
