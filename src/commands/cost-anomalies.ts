import { z } from 'zod';
import { queryCommand } from '../intent/define.ts';

export const costAnomalies = queryCommand({
  name: 'cost anomalies',
  title: 'List unusual costs',
  summary: 'Show unusual costs',
  examples: ['cost anomalies'],
  permission: 'organization:view',
  args: z.strictObject({}),

  target: () => null,
  answer: (_, { anomalies: watch }) => watch.anomalies(),
});
