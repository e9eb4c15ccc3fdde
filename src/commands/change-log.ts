import { z } from 'zod';
import { numberField, textField } from '../intent/arguments/arguments.ts';
import { queryCommand } from '../intent/define.ts';
import { commonPastTimes, PastTimeText, stateField } from '../intent/ports/changes-queries.ts';

const Text = z.string().trim().min(1).max(80, 'is too long');

export const changeLog = queryCommand({
  name: 'change log',
  title: 'Read the audit trail',
  summary: 'Read the audit trail: who did what and when, refusals included',
  examples: [
    'change log',
    'change log by=me since=7d',
    'change log target=analytics-prod state=failed',
  ],
  args: z.strictObject({
    by: textField(Text, {
      word: 'by',
      synonyms: ['who', 'user', 'person'],
      label: 'By',
      hint: 'A user, for example @ana, or me',
    }),
    what: textField(Text, {
      word: 'command',
      synonyms: ['cmd'],
      label: 'Command',
      hint: 'For example service stop',
    }),
    target: textField(Text, {
      word: 'target',
      synonyms: ['on', 'service', 'alert'],
      label: 'Target',
      hint: 'The name of a service or an alert',
    }),
    state: stateField('New state'),
    since: textField(PastTimeText, {
      word: 'since',
      synonyms: ['from', 'after'],
      label: 'Since',
      hint: 'yesterday, a UTC day (2026-11-01), or a time ago (7d, 4h)',
      suggestions: commonPastTimes,
    }),
    until: textField(PastTimeText, {
      word: 'until',
      synonyms: ['to'],
      label: 'Before',
      hint: 'today, a UTC day (2026-11-30), or a time ago (1d)',
      suggestions: commonPastTimes,
    }),
    before: numberField(z.int('must be a whole number').min(1), {
      word: 'before',
      label: 'Before event number',
      min: 1,
    }),
  }),

  target: () => null,
  answer: (
    {
      by = null,
      what = null,
      target = null,
      state = null,
      since = null,
      until = null,
      before = null,
    },
    { changes },
    asker,
  ) => changes.log({ by, command: what, target, state, since, until, before }, asker),
});
