import { z } from 'zod';
import { answerCsv } from '../costs/answer.ts';
import { textField } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';

const Words = z.string().max(200, 'is too long: at most 200 characters');

export const costCsv = queryCommand({
  name: 'cost csv',
  title: 'Get costs as a file',
  summary: 'Get the rows of a period as a CSV file',
  examples: ['cost csv last-month'],
  permission: 'organization:view',
  args: z.strictObject({ words: textField(Words, { label: 'Question', rest: true }) }),

  submit: () => 'Get file',
  target: () => null,
  answer: ({ words = '' }, context, asker) => answerCsv(words, context, asker),
});
