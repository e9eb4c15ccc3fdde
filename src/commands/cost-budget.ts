import { z } from 'zod';
import { queryCommand } from '../intent/define.ts';

export const costBudget = queryCommand({
  name: 'cost budget',
  title: 'Look up budgets',
  summary: 'Show spend and forecast of each budget',
  examples: ['cost budget'],
  permission: 'organization:view',
  args: z.strictObject({}),

  target: () => null,
  answer: (_, { anomalies: watch }) => watch.budgets(),
});
