import { expect, test } from 'vitest';
import { expectOnlyAlert, type Stage, scrape } from '../deploy/promtool.ts';
import { startProcessSandbox } from '../harness/bot-process.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';
import { AWAY, readUntil, recordEach } from './alert-faults.ts';

// Series recorded from running bots in situations that last for minutes: which alert fires, and that no other one does.

const urlOf = ({ port }: { readonly port: number }) => `http://127.0.0.1:${port}`;

test('a rolling update of three replicas rings nothing, in the six hours after it neither', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('postgres') });
  const stages: Stage[] = [];
  const running = new Map<string, { url: string; stop: () => Promise<void> }>();
  const add = async (name: string) => {
    const replica = await sandbox.replica();
    running.set(name, { url: urlOf(replica), stop: replica.stop });
  };
  const stays = async (minutes: number) => {
    const targets = Object.fromEntries([...running].map(([name, { url }]) => [name, url]));
    stages.push([await scrape(targets), minutes]);
  };
  running.set('a', { url: sandbox.url, stop: sandbox.down });
  for (const name of ['b', 'c']) await add(name);
  await stays(200);
  for (const [old, next] of [
    ['a', 'd'],
    ['b', 'e'],
    ['c', 'f'],
  ] as const) {
    await add(next);
    await stays(3);
    await running.get(old)?.stop();
    running.delete(old);
    await stays(2);
  }
  await stays(370);
  expectOnlyAlert(null, stages);
});

test('a policy that reaches the replicas one after the other rings nothing', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('postgres') });
  const replica = await sandbox.replica();
  const targets = { a: sandbox.url, b: urlOf(replica) };
  const stays = async (isOutdated: 0 | 1) => {
    await readUntil({ url: targets.b }, 'signalbox_config_outdated', isOutdated);
    return scrape(targets);
  };
  const before = await scrape(targets);
  const edit = (file: Record<string, never>) => ({ ...file, budgets: [] });
  expect(await sandbox.reload(edit)).toEqual({ ok: true });
  const during = await stays(1);
  expect(await replica.reload({ ok: true, config: sandbox.configWith(edit) })).toEqual({
    ok: true,
  });
  expectOnlyAlert(null, [
    [before, 60],
    [during, 5],
    [await stays(0), 60],
  ]);
});

test('17 minutes without Slack around a press ring the alert of Slack alone', async () => {
  const sandbox = await startTestSandbox();
  const targets = { a: sandbox.url };
  const card = await requestChange(sandbox);
  const stages: Stage[] = [[await scrape(targets), 60]];
  sandbox.slack.setReachable(false);
  await sandbox.press(BEN, card, 'change.approve');
  await recordEach(sandbox, 17, stages, AWAY);
  sandbox.slack.setReachable(true);
  await recordEach(sandbox, 10, stages, AWAY);
  // The press waited for its lookups for 15 minutes: its person reads that it did not count, and presses again.
  await sandbox.privateMessage(BEN, 'did not count. Slack did not answer');
  await recordEach(sandbox, 20, stages);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  expect(sandbox.cloud.count('set state')).toBe(1);
  expectOnlyAlert('SignalboxSlackDisconnected', stages);
});

test('a replica that crashes again and again rings its alert alone', async () => {
  const sandbox = await startProcessSandbox({ databaseUrl: await emptyUrl('sqlite') });
  const stages: Stage[] = [];
  const second = () => Math.floor(Date.now() / 1_000);
  for (let crash = 0, last = 0; crash < 5; crash += 1) {
    // The time of a start is a metric of whole seconds, and minutes pass in the recording.
    await expect.poll(second, { interval: 20 }).toBeGreaterThan(last);
    const bot = await sandbox.start();
    last = second();
    const targets = { a: bot.url };
    stages.push([await scrape(targets), crash === 0 ? 60 : 2]);
    bot.signal('SIGKILL');
    await bot.exited;
    stages.push([await scrape(targets), 1]);
  }
  expectOnlyAlert('SignalboxRestarting', stages);
});
