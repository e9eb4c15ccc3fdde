import { expect, test } from 'vitest';
import { DORA, openStage } from './stage.ts';

test('a stop does not wait for a long read, and the waiting user is notified', async () => {
  const stage = await openStage();
  stage.cloud.injectFault({ operation: 'usage cost', fault: 'hang', times: 99 });
  await stage.slack.command(DORA, 'ops', '/cost ytd');
  const hanging = () => stage.cloud.requests().filter(({ fault }) => fault === 'hang').length;
  await expect.poll(hanging).toBe(1);
  await stage.restart();
  await stage.privateWord(DORA, 'Signalbox is stopping');
  expect(hanging()).toBe(1);
});

test('a year of costs is read completely despite a rate limit', async () => {
  const stage = await openStage();
  stage.cloud.behave({ rateLimit: null });
  await stage.slack.command(DORA, 'ops', '/cost ytd');
  await stage.privateWord(DORA, 'Fetched 2026-11-20');
  const months = stage.cloud.requests().filter(({ status }) => status === 200);
  expect(months.length).toBeGreaterThanOrEqual(11);
});
