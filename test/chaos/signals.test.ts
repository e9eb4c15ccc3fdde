import { expect, test } from 'vitest';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { isReady, PROCESS_LIMITS, startProcessSandbox } from '../harness/bot-process.ts';
import { placeOf } from '../harness/messages.ts';
import { changesIn } from '../harness/read-log.ts';
import { requestChange, STAGING } from '../harness/requests.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

/** So long that a loaded machine does not reach half of it. */
const STOP_WITHIN_MS = 60_000;

test('SIGTERM stops new work, finishes the current work once, and exits with 0', async () => {
  const databaseUrl = await emptyUrl('postgres');
  const answer = Promise.withResolvers<void>();
  const sandbox = await startProcessSandbox({
    databaseUrl,
    wait: () => answer.promise,
    env: { STOP_WITHIN_S: String(STOP_WITHIN_MS / 1_000) },
  });
  const { slack, cloud } = sandbox;
  const bot = await sandbox.startAndDeliver();
  const card = await requestChange(sandbox);
  cloud.injectFault({ operation: 'set state', fault: 'delay-2s', times: 1 });
  await slack.click(BEN, placeOf(card), 'change.approve');
  await expect.poll(() => cloud.count('set state'), PROCESS_LIMITS).toBe(1);

  const began = performance.now();
  bot.signal('SIGTERM');
  await expect.poll(() => isReady(bot.url), PROCESS_LIMITS).toBe(false);
  // It still answers for a moment, for a load balancer that has not checked again.
  const late = async () => (await slack.command(ANA, 'ops', '/service list')).error;
  await expect.poll(late, PROCESS_LIMITS).toContain('dispatch_failed');
  // The server answers only while the process is stopping.
  answer.resolve();
  expect(await bot.exited).toBe(0);
  expect(performance.now() - began).toBeLessThan(STOP_WITHIN_MS / 2);
  expect(bot.logged().at(-1)).toBe('stopped');
  expect(card.text).toContain('staging is stopping');
  const thread = slack.messages('db-approvals').filter(({ threadTs }) => threadTs === card.ts);
  expect(thread.at(-1)?.text).toContain('staging is stopping');

  const changes = await changesIn(databaseUrl);
  expect(changes.map(({ state }) => state)).toEqual(['succeeded']);
  expect(cloud.effectCount('set state', STAGING)).toBe(1);

  // The next process sends nothing.
  await sandbox.start();
  expect(cloud.count('set state')).toBe(1);
});

test('SIGHUP ignores an invalid file and applies a valid one', async () => {
  const sandbox = await startProcessSandbox({ databaseUrl: await emptyUrl('postgres') });
  const { slack } = sandbox;
  const bot = await sandbox.startAndDeliver();
  const logged = (words: string) => expect.poll(bot.logged, PROCESS_LIMITS).toContain(words);

  sandbox.writeConfig(sandboxYaml().replace('policy:', 'polize:'));
  bot.signal('SIGHUP');
  await logged('the new configuration is invalid; the previous one stays active');
  const first = await requestChange(sandbox);
  await slack.click(BEN, placeOf(first), 'change.approve');
  await expect.poll(() => first.text, PROCESS_LIMITS).toContain('staging is stopping');

  sandbox.writeConfig(sandboxYaml().replaceAll('count: 1', 'count: 2'));
  bot.signal('SIGHUP');
  await logged('the new configuration is active');
  const second = await requestChange(sandbox, ANA, '/service start staging for the night');
  await slack.click(BEN, placeOf(second), 'change.approve');
  await expect.poll(() => JSON.stringify(second.blocks), PROCESS_LIMITS).toContain(BEN);
  expect(second.text).toContain(' requests: ');
  await slack.click(CLEO, placeOf(second), 'change.approve');
  await expect.poll(() => second.text, PROCESS_LIMITS).not.toContain(' requests: ');
});
