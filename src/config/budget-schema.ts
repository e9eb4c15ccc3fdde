import { z } from 'zod';
import { strictConfigObject } from '../policy/problem.ts';
import { ChannelName } from '../policy/schema.ts';
import type { selectorSchema } from '../policy/selector.ts';

type On = ReturnType<typeof selectorSchema>;

const THRESHOLDS = [50, 80, 100];

export function budgetSchema(on: On) {
  return strictConfigObject({
    name: z.string().trim().min(1, { error: 'must not be empty' }).max(60),
    monthlyCredits: z.number().positive(),
    on: on.optional(),
    notify: ChannelName,
    thresholds: z.array(z.int().min(1).max(1000)).min(1).default(THRESHOLDS),
  }).transform(({ on: selector, thresholds, ...budget }) => ({
    ...budget,
    on: selector ?? null,
    /** In percent, unique and ascending. */
    thresholds: [...new Set(thresholds)].sort((a, b) => a - b),
  }));
}
