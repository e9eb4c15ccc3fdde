import { z } from 'zod';
import { strictConfigObject } from '../base/problem.ts';
import type { costSelectorSchema } from '../domain/policy-schema.ts';
import { ChannelName } from '../domain/policy-schema.ts';

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
