import { scheduleAction } from '../intent/services/schedule-change.ts';

export const serviceSchedulePause = scheduleAction({
  verb: 'pause',
  summary: 'Pause the schedule of a service',
  warnings: ['Until it is resumed, the schedule neither stops nor starts the service.'],
  endingNote: 'The schedule does not run until it is resumed. It still expires.',
  unlessPaused: true,
});
