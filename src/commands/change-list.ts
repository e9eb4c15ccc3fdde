import { z } from 'zod';
import { choiceField, textField } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';
import { CHANGE_LISTS } from '../intent/ports/changes-queries.ts';

const List = z.enum(CHANGE_LISTS, { error: 'must be pending, mine, all or review' });

export const changeList = queryCommand({
  name: 'change list',
  summary: 'List changes: waiting for approval, your own, all, or emergencies to review',
  examples: ['change list', 'change list mine', 'change list review'],
  args: z.strictObject({
    which: choiceField(List, () => CHANGE_LISTS, { label: 'Which' }),
    before: textField(z.string().max(40), {
      word: 'before',
      label: 'Requested before',
      hint: 'A change id',
    }),
  }),

  target: () => null,
  answer: ({ which = 'pending', before = null }, { changes }, asker) =>
    changes.list({ which, before }, asker),
});
