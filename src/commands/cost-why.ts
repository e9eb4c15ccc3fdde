import { z } from 'zod';
import { answerWhy } from '../costs/why.ts';
import { textField } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';

const Words = z.string().max(200, 'is too long: at most 200 characters');

export const costWhy = queryCommand({
  name: 'cost why',
  title: 'Explain costs',
  summary: 'Show what changed the costs between two periods',
  examples: ['cost why 7d', 'cost why last month', 'cost why 7d team analytics'],
  permission: 'organization:view',
  args: z.strictObject({ words: textField(Words, { label: 'Question', rest: true }) }),

  target: () => null,
  answer: ({ words = '' }, context, asker) => answerWhy(words, context, asker),
});
