import { z } from 'zod';
import { nearest, quoted, sentence, strict } from '../policy/problem.ts';
import { ChannelName } from '../policy/schema.ts';
import type { selectorSchema } from '../policy/selector.ts';
import { Instant } from '../policy/time.ts';

type On = ReturnType<typeof selectorSchema>;

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Day = (typeof DAYS)[number];

const SECTIONS = [
  'figures',
  'movers',
  'unusual',
  'budgets',
  'revisions',
  'chart',
  'table',
] as const;

const TimeZone = z.string().refine(isTimeZone, {
  error: ({ input }) => {
    const near = nearest(String(input), Intl.supportedValuesOf('timeZone'));
    const hint = near === null ? 'such as Europe/Berlin or UTC' : `did you mean ${quoted(near)}?`;
    return sentence(`is no time zone: ${quoted(String(input))}`, hint);
  },
});

function isTimeZone(name: string): boolean {
  // A fixed distance from UTC is accepted by the runtime, but it would miss every summer.
  if (!/^[A-Za-z]/.test(name)) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

const Days = z.union([z.enum(['daily', 'weekdays']), z.array(z.enum(DAYS)).min(1)], {
  error: `must be daily, weekdays, or a list of: ${DAYS.join(', ')}`,
});

const TimeOfDay = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, {
  error: sentence('must be a time of day', "in quotes, such as '09:30'"),
});

export function digestSchema(on: On) {
  return strict({
    channel: ChannelName,
    at: TimeOfDay.default('09:30'),
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
    mutedUntil: Instant.optional(),
  })
    .superRefine(({ period, days }, context) => {
      const message = daysProblem(period, days);
      if (message !== null) context.addIssue({ code: 'custom', path: ['days'], message });
    })
    .transform(({ days, on: selector, minimumCredits, mutedUntil, ...digest }) => ({
      ...digest,
      days: daysOf(digest.period, days),
      on: selector ?? null,
      /** Below this nothing is worth a line; null: measured from what the days usually cost. */
      minimumCredits: minimumCredits ?? null,
      mutedUntil: mutedUntil ?? null,
    }));
}

type Period = 'day' | 'week' | 'month';
type DaysGiven = z.output<typeof Days> | undefined;

function daysProblem(period: Period, days: DaysGiven): string | null {
  if (period === 'month' && days !== undefined) {
    return sentence('has no meaning by month', 'it is posted when all days of the month are final');
  }
  if (period !== 'week' || days === undefined) return null;
  return Array.isArray(days) && days.length === 1 ? null : 'must be one day, such as [mon]';
}

/** The days on which it is posted; none by month, which is posted when the month is final. */
function daysOf(period: Period, days: DaysGiven): readonly Day[] {
  if (period === 'month') return [];
  if (period === 'week') return Array.isArray(days) ? days : ['mon'];
  if (Array.isArray(days)) return DAYS.filter((day) => days.includes(day));
  return days === 'daily' ? DAYS : DAYS.slice(0, 5);
}

const THRESHOLDS = [50, 80, 100];

export function budgetSchema(on: On) {
  return strict({
    name: z.string().trim().min(1, { error: 'must not be empty' }).max(60),
    monthlyCredits: z.number().positive(),
    on: on.optional(),
    notify: ChannelName,
    thresholds: z.array(z.int().min(1).max(1000)).min(1).default(THRESHOLDS),
  }).transform(({ on: selector, thresholds, ...budget }) => ({
    ...budget,
    on: selector ?? null,
    /** In percent, each once, the lowest first. */
    thresholds: [...new Set(thresholds)].sort((a, b) => a - b),
  }));
}
