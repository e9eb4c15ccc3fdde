import { scheduleAction } from '../intent/services/schedule-change.ts';

export const serviceScheduleResume = scheduleAction({
  verb: 'resume',
  summary: 'Resume a paused schedule of a service',
  warnings: ['Runs that were due meanwhile do not take place.'],
  endingNote: 'The schedule runs again from its next time on.',
  unlessPaused: false,
});
