import { z } from 'zod';
import {
  type ConfigResult,
  InstantTextSchema,
  nearestWord,
  parseConfig,
  quoted,
  strictConfigObject,
  withHint,
} from '../base/problem.ts';
import { ChannelName, costSelectorSchema } from '../domain/policy-schema.ts';

type ScopeSchema = ReturnType<typeof costSelectorSchema>;

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

export function digestSchema(on: ScopeSchema) {
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
