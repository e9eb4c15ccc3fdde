import { expect, test } from 'vitest';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { listChanges } from '../../src/storage/tables/changes/change-lists.ts';
import { STAGING } from '../scenarios/request.ts';
import { ANA, BEN, CLEO } from '../scenarios/stage.ts';
import { freshUrl, openForTest } from '../storage/engines.ts';
import { asked, PATIENCE, placeOf } from './processes/hands.ts';
import { isReady, openShippedStage } from './processes/shipped.ts';

test('SIGTERM stops new work, finishes the current work once, and exits with 0', {
  timeout: 60_000,
}, async () => {
  const databaseUrl = await freshUrl('postgres');
  const answer = Promise.withResolvers<void>();
  const stage = await openShippedStage({ databaseUrl, wait: () => answer.promise });
  const { slack, cloud } = stage;
  const bot = await stage.start();
  slack.deliverTo(`${bot.url}/slack/events`);
  const card = await asked(stage, 'stop');
  cloud.injectFault({ operation: 'set state', fault: 'delay-2s', times: 1 });
  await slack.click(BEN, placeOf(card), 'change.approve');
  await expect.poll(() => cloud.count('set state'), PATIENCE).toBe(1);

  const began = performance.now();
  bot.signal('SIGTERM');
  await expect.poll(() => isReady(bot.url), PATIENCE).toBe(false);
  // It still answers for a moment, for a load balancer that has not checked again.
  const late = async () => (await slack.command(ANA, 'ops', '/service list')).error;
  await expect.poll(late, PATIENCE).toContain('dispatch_failed');
  // The server answers only while the process is stopping.
  answer.resolve();
  expect(await bot.left).toBe(0);
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(bot.said().at(-1)).toBe('stopped');

  const { db } = await openForTest(databaseUrl);
  const changes = await listChanges(db, { limit: 10 });
  expect(changes.map(({ state }) => state)).toEqual(['succeeded']);
  expect(cloud.effectCount('set state', STAGING)).toBe(1);

  // The next process redraws the card and sends nothing.
  await stage.start();
  await expect.poll(() => card.text, PATIENCE).toContain('Stop staging: accepted');
  expect(cloud.count('set state')).toBe(1);
});

test('SIGHUP ignores an invalid file and applies a valid one', {
  timeout: 60_000,
}, async () => {
  const stage = await openShippedStage({ databaseUrl: await freshUrl('postgres') });
  const { slack } = stage;
  const bot = await stage.start();
  slack.deliverTo(`${bot.url}/slack/events`);
  const logged = (words: string) => expect.poll(bot.said, PATIENCE).toContain(words);

  stage.write(sandboxYaml().replace('policy:', 'polize:'));
  bot.signal('SIGHUP');
  await logged('the new configuration is invalid; the previous one stays active');
  const first = await asked(stage, 'stop');
  await slack.click(BEN, placeOf(first), 'change.approve');
  await expect.poll(() => first.text, PATIENCE).toContain('Stop staging: accepted');

  stage.write(sandboxYaml().replaceAll('count: 1', 'count: 2'));
  bot.signal('SIGHUP');
  await logged('the new configuration is active');
  const second = await asked(stage, 'start');
  await slack.click(BEN, placeOf(second), 'change.approve');
  await expect.poll(() => JSON.stringify(second.blocks), PATIENCE).toContain(BEN);
  expect(second.text).toContain('waiting for approval');
  await slack.click(CLEO, placeOf(second), 'change.approve');
  await expect.poll(() => second.text, PATIENCE).not.toContain('waiting for approval');
});
