import { expect, test } from 'vitest';
import { lockAgeLine } from '../../src/ops/doctor-running.ts';
import { fetchedReports, stored, usualShare } from '../maths/fetched-reports.ts';

test('the lock age is shown with its range and what follows from it', () => {
  const lockAge = (day: string) => (day.endsWith('5') ? 14 : 12);
  const reports = fetchedReports({ lockAge, share: usualShare }, { days: 60 });
  expect(lockAgeLine(stored(reports))).toMatchObject({
    status: 'ok',
    says: 'days usually become final after 12 days (12–14), from 28 observed days; Signalbox waits for 21 days',
  });
});

test('without three observed days it is not known', () => {
  expect(lockAgeLine([])).toMatchObject({
    status: 'skipped',
    says: expect.stringContaining('not known yet'),
  });
});
