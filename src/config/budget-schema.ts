import { z } from 'zod';
import { strictConfigObject, withHint } from '../policy/problem.ts';
import { ChannelName } from '../policy/schema.ts';
import type { costSelectorSchema } from '../policy/selector.ts';
import { DayTextSchema } from '../policy/time.ts';

type ScopeSchema = ReturnType<typeof costSelectorSchema>;

const THRESHOLDS = [50, 80, 100];
const MOST_CREDITS = 1_000_000_000;

const Credits = z.number().positive().max(MOST_CREDITS).optional();

interface PeriodKeys {
  readonly period: 'month' | 'year';
  readonly monthlyCredits?: number | undefined;
  readonly yearlyCredits?: number | undefined;
  readonly start?: string | undefined;
}

export function budgetSchema(on: ScopeSchema) {
  return strictConfigObject({
    name: z.string().trim().min(1, { error: 'must not be empty' }).max(60),
    period: z.enum(['month', 'year']).default('month'),
    monthlyCredits: Credits,
    yearlyCredits: Credits,
    start: DayTextSchema.optional(),
    on: on.optional(),
    notify: ChannelName,
    thresholds: z.array(z.int().min(1).max(1000)).min(1).default(THRESHOLDS),
  })
    .superRefine((budget, context) => {
      for (const [key, message] of periodProblems(budget)) {
        context.addIssue({ code: 'custom', path: [key], message });
      }
    })
    .transform(({ period, monthlyCredits, yearlyCredits, start, ...budget }) => ({
      name: budget.name,
      notify: budget.notify,
      credits: (period === 'year' ? yearlyCredits : monthlyCredits) ?? 0,
      /** The first day of a commitment; null for a budget of months. */
      start: (period === 'year' ? start : null) ?? null,
      on: budget.on ?? null,
      /** In percent, unique and ascending. */
      thresholds: [...new Set(budget.thresholds)].sort((a, b) => a - b),
    }));
}

const BY_YEAR = ['yearlyCredits', 'start'] as const;

/** Each period has keys of its own, so that no amount is taken for another period. */
function periodProblems(budget: PeriodKeys): readonly (readonly [string, string])[] {
  if (budget.period === 'month') {
    const of = withHint('belongs to a commitment', 'set period: year, or remove it');
    const given = BY_YEAR.filter((key) => budget[key] !== undefined);
    const missing = withHint('is missing', 'or set period: year with yearlyCredits and start');
    return [
      ...given.map((key) => [key, of] as const),
      ...(budget.monthlyCredits === undefined ? [['monthlyCredits', missing] as const] : []),
    ];
  }
  const of = withHint('belongs to a budget of months', 'period: year has yearlyCredits');
  return [
    ...(budget.monthlyCredits === undefined ? [] : [['monthlyCredits', of] as const]),
    ...BY_YEAR.filter((key) => budget[key] === undefined).map(
      (key) => [key, withHint('is missing', MISSING[key])] as const,
    ),
  ];
}

const MISSING = {
  yearlyCredits: 'the credits of a whole year',
  start: 'the first UTC day of the commitment, for example 2026-03-01',
};
