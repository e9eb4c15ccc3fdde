import { scheduleAction } from '../intent/services/schedule-change.ts';

export const serviceScheduleRemove = scheduleAction({
  verb: 'remove',
  summary: 'Remove the schedule of a service',
  warnings: ['The service stays as it is: nothing stops or starts it any more.'],
  endingNote: 'The schedule does not run any more.',
  unlessPaused: null,
});
