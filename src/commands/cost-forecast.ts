import { z } from 'zod';
import { answerForecast } from '../costs/forecast-answer.ts';
import { textField } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';

const Words = z.string().max(200, 'is too long: at most 200 characters');

export const costForecast = queryCommand({
  name: 'cost forecast',
  title: 'Forecast costs',
  summary: 'Show the expected costs of a month, quarter or year',
  examples: ['cost forecast', 'cost forecast quarter', 'cost forecast year team analytics'],
  permission: 'organization:view',
  args: z.strictObject({
    words: textField(Words, { label: 'Month, quarter or year, and a scope', rest: true }),
  }),

  target: () => null,
  answer: ({ words = '' }, context, asker) => answerForecast(words, context, asker),
});
