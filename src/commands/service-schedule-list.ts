import { z } from 'zod';
import { countWords, slashCommand } from '../domain/answer.ts';
import { scheduleLineWords, scheduleOffers } from '../domain/schedules.ts';
import { queryCommand } from '../intent/define.ts';

export const serviceScheduleList = queryCommand({
  name: 'service schedule list',
  title: 'List schedules',
  summary: 'List the schedules of services and their next runs',
  examples: ['service schedule list'],
  args: z.strictObject({}),

  target: () => null,
  answer: async (_args, { schedules, prefix }) => {
    const all = await schedules.all();
    if (all.length === 0) {
      const example = 'service schedule staging stop="weekdays 20:00"';
      const none = `Request one, for example: ${slashCommand(prefix, example)}`;
      return { title: 'No service has a schedule', parts: [{ kind: 'note', text: none }] };
    }
    const offers = all.flatMap(scheduleOffers);
    return {
      title: countWords(all.length, 'schedule'),
      parts: [
        { kind: 'lines', lines: all.map(scheduleLineWords) },
        { kind: 'menu', label: 'Edit a schedule…', offers },
      ],
    };
  },
});
