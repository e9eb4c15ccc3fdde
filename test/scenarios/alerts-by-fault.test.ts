import { expect, onTestFinished, test } from 'vitest';

import { scrape } from '../deploy/promtool.ts';
import { requestChange } from '../harness/requests.ts';
import { tamperAt } from '../harness/tamper.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { BEN, DORA, FINN, NOON } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';
import { expectAlert, expectAlertAtRate, metricIn, read, readUntil } from './alert-faults.ts';
import { controlledSleeps } from './controlled-sleeps.ts';

const LOOKUPS = 'signalbox_lookup_failures_total';

test('SignalboxDown fires when the only replica stops', async () => {
  const sandbox = await startTestSandbox();
  const before = await scrape({ a: sandbox.url });
  await sandbox.down();
  expectAlert('SignalboxDown', before, await scrape({ a: sandbox.url }));
});

test('SignalboxOutcomeUnknown fires when the answer of the cloud is lost', async () => {
  const sandbox = await startTestSandbox();
  const before = await read(sandbox);
  sandbox.cloud.injectFault({ operation: 'set state', fault: 'reset-after-effect', times: 1 });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  const during = await readUntil(sandbox, 'signalbox_open_changes{state="unknown"', 1);
  expectAlert('SignalboxOutcomeUnknown', before, during, { minutes: 40 });
});

test('SignalboxApprovalsWaiting fires when nobody decides for hours', async () => {
  const sandbox = await startTestSandbox();
  const before = await read(sandbox);
  await requestChange(sandbox);
  sandbox.clock.now = new Date(NOON.getTime() + 4.1 * 3_600_000);
  const age = 'signalbox_open_change_age_seconds{state="pending"';
  const during = await readUntil(sandbox, age, (seconds) => seconds > 4 * 3_600);
  expectAlert('SignalboxApprovalsWaiting', before, during);
});

test('SignalboxTrailBroken fires when an event of the log was modified', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startTestSandbox({ databaseUrl });
  const card = await requestChange(sandbox);
  const before = await read(sandbox);
  await tamperAt(databaseUrl, "update event set body = '{}' where type = 'drafted'");
  await sandbox.press(BEN, card, 'change.approve');
  const during = await readUntil(sandbox, 'signalbox_trail_broken', 1);
  expectAlert('SignalboxTrailBroken', before, during);
});

test('SignalboxLookupsFailing fires when Slack does not answer lookups', async () => {
  const sandbox = await startTestSandbox();
  const card = await requestChange(sandbox);
  const before = await read(sandbox);
  for (const method of ['users.info', 'usergroups.users.list', 'usergroups.list']) {
    sandbox.slack.failNext({ method, times: 1_000_000, how: 'server-error' });
  }
  const first = metricIn(before, LOOKUPS) ?? 0;
  for (let minutes = 6; minutes <= 36; minutes += 6) {
    sandbox.clock.now = new Date(NOON.getTime() + minutes * 60_000);
    await sandbox.press(BEN, card, 'change.approve');
  }
  const during = await readUntil(sandbox, LOOKUPS, (failures) => failures > first + 3);
  expectAlertAtRate('SignalboxLookupsFailing', { before, after: during });
});

test('SignalboxConfigOutdated fires for a replica with an earlier file', async () => {
  const sandbox = await startTestSandbox({ databaseUrl: await emptyUrl('postgres') });
  const { port } = await sandbox.replica();
  const other = { url: `http://127.0.0.1:${port}` };
  const before = await read(other);
  expect(await sandbox.reload((file) => ({ ...file, budgets: [] }))).toEqual({ ok: true });
  const during = await readUntil(other, 'signalbox_config_outdated', 1);
  expectAlert('SignalboxConfigOutdated', before, during);
});

test('SignalboxSlackQuota fires when Slack cuts connections all the time', async () => {
  const sandbox = await startTestSandbox({ delivery: 'socket' });
  const { slack } = sandbox;
  const method = 'apps.connections.open';
  await expect.poll(slack.connections).toBe(2);
  const before = await read(sandbox);
  slack.failNext({ method, times: 1_000_000, how: { error: 'internal_error' } });
  await slack.refreshSockets({ reason: null, closing: 'reset', which: 'all' });
  const calls = `signalbox_slack_calls_total{method="${method}"`;
  const first = metricIn(before, calls) ?? 0;
  const after = await readUntil(sandbox, calls, (count) => count > first + 5);
  slack.clearFaults();
  await readUntil(sandbox, 'signalbox_slack_connected', 1);
  expectAlertAtRate('SignalboxSlackQuota', { before, after, labels: { method } });
});

test('SignalboxApiQueueSlow fires when two viewers read once a second each', async () => {
  const { sleep, advanceTo } = controlledSleeps();
  const sandbox = await startTestSandbox({ sleep });
  onTestFinished(() => advanceTo(Number.POSITIVE_INFINITY));
  const before = await read(sandbox);
  for (let second = 1; second <= 60; second += 1) {
    const line = '/pipe settings analytics-prod orders';
    await Promise.all([DORA, FINN].map((viewer) => sandbox.slack.command(viewer, 'ops', line)));
    sandbox.clock.now = new Date(NOON.getTime() + second * 1_000);
    advanceTo(sandbox.clock.now.getTime());
  }
  const isMany = (requests: number) => requests > 20;
  const after = await readUntil(sandbox, 'signalbox_api_queue_seconds_count', isMany);
  expectAlertAtRate('SignalboxApiQueueSlow', { before, after, labels: { api: 'cloud' } });
});
