import { expect, test } from 'vitest';
import { listChanges } from '../../src/storage/tables/changes/change-lists.ts';
import { ENGINES, freshUrl, openForTest } from '../storage/engines.ts';
import { approved, settled } from './actions.ts';
import { ask } from './request.ts';
import { BEN, NOON, openStage, type Stage, textOf } from './stage.ts';

const HOUR_MS = 3_600_000;

/** Sets the clock forward or back, and waits until all due work is done. */
async function jump(stage: Stage, hours: number): Promise<void> {
  stage.clock.now = new Date(stage.clock.now.getTime() + hours * HOUR_MS);
  stage.wake();
  await settled(stage);
}

test.for(ENGINES)('a clock that is set back repeats nothing on %s', async (engine) => {
  const databaseUrl = await freshUrl(engine);
  const digest = { channel: '#db-costs', at: '12:30', timezone: 'UTC', days: 'daily' };
  const stage = await openStage({
    databaseUrl,
    yaml: (file) => ({ ...(file as object), digests: [digest] }),
  });
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
  await jump(stage, 1);
  const digests = () => stage.slack.messages('db-costs').filter(({ threadTs }) => !threadTs);
  await expect.poll(() => digests().length).toBe(1);

  for (const hours of [-2, 1, 1, 1]) await jump(stage, hours);
  await stage.restart();
  for (const hours of [-24, 24]) await jump(stage, hours);
  expect(stage.cloud.count('set state')).toBe(1);
  expect(digests()).toHaveLength(1);
  const cards = stage.slack.messages('db-approvals').filter(({ threadTs }) => !threadTs);
  expect(cards).toHaveLength(1);
});

test('a change approved at a later clock time waits for its scheduled time and runs once', async () => {
  const stage = await openStage();
  await approved(stage, '/service stop staging in=2h for the night');
  await stage.card('Stop staging: approved');
  await jump(stage, -3);
  await jump(stage, 4);
  expect(stage.cloud.count('set state')).toBe(0);
  await jump(stage, 1);
  await stage.card('Stop staging: accepted');
  await jump(stage, -1);
  await jump(stage, 1);
  expect(stage.cloud.count('set state')).toBe(1);
});

test('a change that expired while the clock ran ahead stays expired', async () => {
  const stage = await openStage();
  const card = await ask(stage);
  await jump(stage, 48);
  await stage.card('Stop staging: expired');
  stage.clock.now = NOON;
  stage.wake();
  expect(textOf(card ?? { text: '', blocks: [] })).not.toContain('change.approve');
  expect(stage.cloud.count('set state')).toBe(0);
});

test('a change with an unknown outcome is not sent again after the clock is changed', async () => {
  const databaseUrl = await freshUrl('postgres');
  const stage = await openStage({ databaseUrl });
  stage.cloud.injectFault({ operation: 'set state', fault: 'reset-after-effect', times: 1 });
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('outcome unknown');
  for (const hours of [-6, 12, -6]) await jump(stage, hours);
  const { db } = await openForTest(databaseUrl);
  expect((await listChanges(db, { limit: 5 })).map(({ state }) => state)).toEqual(['unknown']);
  expect(stage.cloud.count('set state')).toBe(1);
});
