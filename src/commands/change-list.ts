import { z } from 'zod';
import {
  choiceField,
  type FieldContext,
  ServiceName,
  textField,
} from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';
import { commonPastTimes, PastTimeText, stateField } from '../intent/ports/changes-queries.ts';
import { CHANGE_LISTS } from '../intent/ports/command-context.ts';

const List = z.enum(CHANGE_LISTS, { error: 'must be pending, mine, all or review' });

export const changeList = queryCommand({
  name: 'change list',
  title: 'List changes',
  summary: 'List changes by approval, person, service, state or time',
  examples: ['change list', 'change list mine', 'change list service=staging since=yesterday'],
  args: z.strictObject({
    which: choiceField(List, () => CHANGE_LISTS, { label: 'Which' }),
    service: ServiceName.optional().meta({ ...ServiceName.meta(), word: 'service' }),
    by: textField(z.string().trim().min(1).max(80, 'is too long'), {
      word: 'by',
      synonyms: ['who', 'user', 'person'],
      label: 'Requested by',
      hint: 'A user, for example @ana, or me',
    }),
    state: stateField('State'),
    since: textField(PastTimeText, {
      word: 'since',
      synonyms: ['from', 'after'],
      label: 'Requested since',
      hint: 'yesterday, a UTC day (2026-11-01), or a time ago (7d, 4h)',
      suggestions: commonPastTimes,
    }),
    before: textField(z.string().max(40), {
      word: 'before',
      label: 'Requested before',
      hint: 'A change id',
    }),
  }),
  // The list itself decides them: `mine` is one person, `pending` one state.
  hasField: (field, { given: { which } }: FieldContext) =>
    !(field === 'by' && which === 'mine') && !(field === 'state' && which === 'pending'),

  target: () => null,
  answer: (
    { which = null, service = null, by = null, state = null, since = null, before = null },
    { changes },
    asker,
  ) => changes.list({ which, service, by, state, since, before }, asker),
});
