import { z } from 'zod';
import { queryCommand } from '../intent/define.ts';

export const changeCancel = queryCommand({
  name: 'change cancel',
  title: 'Cancel a change',
  summary: 'Cancel a change that you requested, before it runs',
  examples: ['change cancel 7KQ2MX'],
  args: z.strictObject({ id: z.string().min(1).max(40).meta({ label: 'Change id' }) }),

  submit: () => 'Cancel change',
  target: () => null,
  answer: ({ id }, { changes }, asker) => changes.cancel(id, asker),
});
