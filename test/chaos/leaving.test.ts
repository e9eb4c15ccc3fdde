import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { openDatabase } from '../../src/storage/engine/database.ts';
import { listChanges } from '../../src/storage/tables/changes/change-lists.ts';
import { STAGING } from '../scenarios/request.ts';
import { BEN } from '../scenarios/stage.ts';
import { ENGINES, freshUrl } from '../storage/engines.ts';
import { asked, PATIENCE, placeOf } from './processes/hands.ts';
import { openShippedStage } from './processes/shipped.ts';

const DROPPED = fileURLToPath(new URL('./processes/dropped.ts', import.meta.url));

test.for(ENGINES)(
  'an API that never answers does not delay a stop: the outcome is unknown and the exit code 0 (%s)',
  { timeout: 60_000 },
  async (engine) => {
    const databaseUrl = await freshUrl(engine);
    const stage = await openShippedStage({ databaseUrl, env: { STOP_WITHIN_S: '4' } });
    const { slack, cloud } = stage;
    const bot = await stage.start();
    slack.deliverTo(`${bot.url}/slack/events`);
    const card = await asked(stage, 'stop');
    cloud.injectFault({ operation: 'set state', fault: 'hang', times: 1 });
    await slack.click(BEN, placeOf(card), 'change.approve');
    const hanging = () => cloud.requests().filter(({ fault }) => fault === 'hang').length;
    await expect.poll(hanging, PATIENCE).toBe(1);

    const began = performance.now();
    bot.signal('SIGTERM');
    expect(await bot.left).toBe(0);
    expect(performance.now() - began).toBeLessThan(4_500);
    expect(bot.said().at(-1)).toBe('stopped');

    const { db, close } = await openDatabase(databaseUrl);
    const [change] = await listChanges(db, { limit: 10 });
    expect(change).toMatchObject({ state: 'unknown', outcome: { how: 'unknown', status: null } });
    await close();

    // The next process shows it on the card and sends nothing.
    await stage.start();
    await expect.poll(() => card.text, PATIENCE).toContain('outcome unknown');
    expect(hanging()).toBe(1);
    expect(cloud.effectCount('set state', STAGING)).toBe(0);
  },
);

test('a stop without any finished request still exits with 0 in time', {
  timeout: 60_000,
}, async () => {
  const databaseUrl = await freshUrl('postgres');
  const stage = await openShippedStage({ databaseUrl, env: { STOP_WITHIN_S: '2' } });
  const { slack } = stage;
  const bot = await stage.start();
  slack.deliverTo(`${bot.url}/slack/events`);
  // Slack accepts the post without an answer; each attempt waits ten seconds.
  slack.failNext({ method: 'chat.postMessage', times: 99, how: 'no-reply' });
  const tried = () => slack.calls('chat.postMessage').length;
  await expect.poll(tried, PATIENCE).toBeGreaterThan(0);
  bot.signal('SIGTERM');
  expect(await bot.left).toBe(0);
  expect(bot.said().at(-1)).toContain('another process continues after the lease');
});

test.for(['an unhandled promise rejection', 'an uncaught error'])(
  '%s ends the process with exit code 1 after a log line without secrets',
  { timeout: 60_000 },
  async (FAULT) => {
    const databaseUrl = await freshUrl('postgres');
    const stage = await openShippedStage({ databaseUrl, env: { FAULT }, preload: DROPPED });
    const bot = await stage.start();
    const began = performance.now();
    bot.signal('SIGUSR2');
    expect(await bot.left).toBe(1);
    expect(performance.now() - began).toBeLessThan(5_000);
    const [line = ''] = bot.lines().slice(-1);
    expect(JSON.parse(line)).toMatchObject({
      level: 60,
      msg: 'uncaught error: the process exits',
      err: { message: 'it failed with [secret]', stack: expect.stringContaining('dropped.ts') },
    });
    expect(bot.lines().join()).not.toContain(stage.slack.botToken);
  },
);

test.for<[string, number, Readonly<Record<string, string>>, string]>([
  ['an invalid variable', 78, { PORT: 'often' }, 'PORT'],
  ['a token that Slack refuses', 78, { SLACK_BOT_TOKEN: 'xoxb-wrong' }, 'SLACK_BOT_TOKEN'],
  [
    'a database that does not answer',
    1,
    { DATABASE_URL: 'postgres://127.0.0.1:1/x' },
    'is running.',
  ],
])('a start with %s exits with %i', { timeout: 60_000 }, async ([, code, env, words]) => {
  const stage = await openShippedStage({ databaseUrl: await freshUrl('sqlite'), env });
  const refused = await stage.refused();
  expect(refused.said).toContain(words);
  expect(refused.code).toBe(code);
});

test('a start with an unknown group exits with 78', { timeout: 60_000 }, async () => {
  const yaml = sandboxYaml().replace('@db-operators', '@nobody');
  const stage = await openShippedStage({ databaseUrl: await freshUrl('sqlite'), yaml });
  const refused = await stage.refused();
  expect(refused.said).toContain('@nobody');
  expect(refused.code).toBe(78);
});
