import { z } from 'zod';
import type { Answer } from '../domain/answer.ts';
import { scopeOf } from '../domain/freezes.ts';
import { scopeField } from './arguments.ts';
import { queryCommand } from './define.ts';

export const changeWho = queryCommand({
  name: 'change who',
  title: 'Look up permissions',
  summary: 'Show who may use a command, who approves it, and by which rule',
  examples: [
    'change who service stop analytics-prod',
    'change who service scale tag=prod',
    'change who alert edit',
  ],
  args: z.strictObject({
    ask: z.string().min(1).max(60).meta({ label: 'Command', names: 'ask' }),
    scope: z.string().min(1).max(100).optional().meta({ label: 'Service', names: 'scope' }),
    tag: scopeField('tag', 'All services with this tag'),
    warehouse: scopeField('warehouse', 'All services of this warehouse'),
  }),

  target: () => null,
  answer: ({ ask, ...about }, { who }, asker) => {
    const scope = scopeOf(about);
    const named = Object.values(about).filter((one) => one !== undefined);
    return named.length > 1 ? ONE_ONLY : who({ command: ask.id, scope }, asker);
  },
});

const ONE_ONLY: Answer = {
  title: 'Choose one target',
  parts: [{ kind: 'text', text: 'Name exactly one of: a service, tag= or warehouse=.' }],
};
