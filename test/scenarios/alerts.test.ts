import { execFileSync } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { expectSamples, firesNothing, inputOf, scrape } from '../deploy/promtool.ts';
import { startProcessSandbox } from '../harness/bot-process.ts';
import { asTimePasses } from '../harness/passing-time.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';
import { expectAlert, metricIn, read, readUntil } from './alert-faults.ts';

// Each fault is a real one. Prometheus gets what the process reports before and during it.

test('no alert fires for three replicas without a fault, and one does when two are gone', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('postgres') });
  const others = [await sandbox.replica(), await sandbox.replica()];
  const [b, c] = others.map(({ port }) => `http://127.0.0.1:${port}`);
  const targets = { a: sandbox.url, b: b ?? '', c: c ?? '' };
  const before = await scrape(targets);
  expectSamples(firesNothing(inputOf(before, before), [5, 20, 60]));
  for (const { stop } of others) await stop();
  const during = await scrape(targets);
  expectAlert('SignalboxReplicasDown', before, during);
});

test.for(['handshake', 'reset', 'tcp-left-open'] as const)(
  'SignalboxSlackDisconnected fires when Slack cuts all sockets (%s)',
  async (closing) => {
    const retry = Promise.withResolvers<void>();
    const sleep = () => retry.promise;
    const sandbox = await startTestSandbox({ delivery: 'socket', sleep });
    const { slack } = sandbox;
    await expect.poll(slack.connections).toBe(2);
    const before = await read(sandbox);
    slack.failNext({ method: 'apps.connections.open', times: 1_000_000, how: 'server-error' });
    await slack.refreshSockets({ reason: null, closing, which: 'all' });
    const during = await readUntil(sandbox, 'signalbox_slack_connected', 0);
    expectAlert('SignalboxSlackDisconnected', before, during);
    slack.clearFaults();
    retry.resolve();
    await readUntil(sandbox, 'signalbox_slack_connected', 1);
  },
);

test('SignalboxDatabaseUnwritable fires when another program locks the database', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const before = await read(sandbox);
  const other = new DatabaseSync(databaseUrl.slice('file:'.length));
  other.exec('begin immediate');
  const during = await readUntil(sandbox, 'signalbox_database_writable', 0);
  expectAlert('SignalboxDatabaseUnwritable', before, during);
  other.exec('rollback');
  other.close();
  await readUntil(sandbox, 'signalbox_database_writable', 1);
});

test('alerts fire when the disk takes no byte more, and when SIGHUP is refused', async () => {
  const sandbox = await startProcessSandbox({ databaseUrl: await emptyUrl('sqlite') });
  const bot = await sandbox.start();
  const before = await read(bot);
  const limitFiles = (bytes: string) =>
    execFileSync('prlimit', ['--pid', String(bot.pid), `--fsize=${bytes}:unlimited`]);
  // No file of the process can grow, as on a full disk.
  limitFiles('1');
  const during = await readUntil(bot, 'signalbox_database_writable', 0);
  expect(metricIn(during, 'signalbox_database_readable')).toBe(1);
  expectAlert('SignalboxDatabaseUnwritable', before, during);
  limitFiles('unlimited');
  await readUntil(bot, 'signalbox_database_writable', 1);

  sandbox.writeConfig(sandboxYaml().replace('policy:', 'polize:'));
  bot.signal('SIGHUP');
  const refused = await readUntil(bot, 'signalbox_config_last_reload_success', 0);
  expectAlert('SignalboxReloadRefused', before, refused);
  sandbox.writeConfig(sandboxYaml());
  bot.signal('SIGHUP');
  await readUntil(bot, 'signalbox_config_last_reload_success', 1);
  bot.signal('SIGTERM');
  expect(await bot.exited).toBe(0);
});

test('alerts fire when Slack does not take a card although each retry is soon due', async () => {
  const sandbox = await startTestSandbox();
  const { slack } = sandbox;
  const before = await read(sandbox);
  expect(metricIn(before, 'signalbox_undelivered_card_age_seconds')).toBe(0);
  slack.failNext({ method: 'chat.postMessage', times: 1_000_000, how: 'server-error' });
  await slack.command(ANA, 'ops', '/service stop staging for the night');
  await sandbox.press(ANA, await sandbox.privateMessage(ANA, 'staging?'), 'change.confirm');
  await expect.poll(() => slack.calls('chat.postMessage').length).toBeGreaterThan(0);
  const startedAt = sandbox.clock.now.getTime();
  const passed = asTimePasses(sandbox, 120_000, () => sandbox.clock.now.getTime() - startedAt);
  await expect.poll(passed).toBeGreaterThan(16 * 60_000);
  const isOld = (seconds: number) => seconds > 900;
  const during = await readUntil(sandbox, 'signalbox_undelivered_card_age_seconds', isOld);
  expectAlert('SignalboxCardUndelivered', before, during);
  expectAlert('SignalboxOutboxStuck', before, during);
});

test('SignalboxPermitsReturned fires when an API refuses every request', async () => {
  const sandbox = await startTestSandbox();
  const before = await read(sandbox);
  expect(metricIn(before, 'signalbox_permits_returned_total')).toBe(0);
  sandbox.cloud.injectFault({ operation: 'set state', fault: '429', times: 1_000_000 });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  const attempts = asTimePasses(sandbox, 60_000, () => sandbox.cloud.count('set state'));
  await expect.poll(attempts).toBeGreaterThanOrEqual(7);
  const isOften = (count: number) => count >= 6;
  const during = await readUntil(sandbox, 'signalbox_permits_returned_total', isOften);
  expectAlert('SignalboxPermitsReturned', before, during);
});

test('a configuration that cannot change at runtime counts as a refused reload', async () => {
  const sandbox = await startTestSandbox();
  if (!sandbox.started.ok) throw new Error('The bot does not run');
  const { config } = sandbox;
  const hash = [...(await read(sandbox)).keys()].filter((name) => name.includes('config_info'));
  expect(hash.join()).toContain(`hash="${config.configHash}"`);
  await sandbox.started.reload({ ok: true, config: { ...config, port: 1 } });
  await readUntil(sandbox, 'signalbox_config_last_reload_success', 0);
  expect(await sandbox.reload()).toEqual({ ok: true });
  await readUntil(sandbox, 'signalbox_config_last_reload_success', 1);
});
