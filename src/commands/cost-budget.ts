import { z } from 'zod';
import { queryCommand } from '../intent/define.ts';

export const costBudget = queryCommand({
  name: 'cost budget',
  summary: 'Show how much of each budget is spent, and where it is heading',
  examples: ['cost budget'],
  args: z.strictObject({}),

  target: () => null,
  answer: (_, { anomalies: watch }) => watch.budgets(),
});
