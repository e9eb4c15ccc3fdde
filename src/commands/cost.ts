import { z } from 'zod';
import { answerCosts } from '../costs/answer.ts';
import { textField } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';

const Words = z.string().max(200, 'is too long: at most 200 characters');

export const cost = queryCommand({
  name: 'cost',
  title: 'Look up costs',
  summary: 'Show costs by period, service, metric or team',
  examples: [
    'cost mtd by metric',
    'cost last-month by day',
    'cost last-week by team vs prev',
    'cost mtd refresh',
  ],
  permission: 'organization:view',
  args: z.strictObject({
    words: textField(Words, { label: 'Question', rest: true }),
  }),

  target: () => null,
  answer: ({ words = '' }, context, asker) => answerCosts(words, context, asker),
});
