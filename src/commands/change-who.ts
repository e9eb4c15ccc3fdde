import { z } from 'zod';
import { queryCommand } from '../intent/define.ts';

export const changeWho = queryCommand({
  name: 'change who',
  summary: 'Say who may use a command, who approves it now, and why',
  examples: ['change who service stop analytics-prod', 'change who alert edit'],
  args: z.strictObject({
    ask: z.string().min(1).max(60).meta({ label: 'Command', names: 'ask' }),
    scope: z.string().min(1).max(100).optional().meta({ label: 'Service', names: 'scope' }),
  }),

  target: () => null,
  answer: ({ ask, scope }, { who }, asker) => who({ command: ask.id, scope: scope ?? null }, asker),
});
