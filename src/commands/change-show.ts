import { z } from 'zod';
import { queryCommand } from '../intent/define.ts';

export const changeShow = queryCommand({
  name: 'change show',
  title: 'Look up a change',
  summary: 'Show one change: its card, its history and your buttons',
  examples: ['change show 7KQ2MX'],
  args: z.strictObject({ id: z.string().min(1).max(40).meta({ label: 'Change id' }) }),

  target: () => null,
  answer: ({ id }, { changes }, asker) => changes.show(id, asker),
});
