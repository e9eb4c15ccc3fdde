import { expect, test } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import { textOf } from '../harness/messages.ts';
import { requestChange } from '../harness/requests.ts';
import { startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';

type File = Record<string, never>;
const edited = (from: string, to: string) => (file: File) =>
  JSON.parse(JSON.stringify(file).replaceAll(from, to));

test('a configuration with an unknown group is refused, and the current one stays', async () => {
  const sandbox = await startTestSandbox();
  const refused = await sandbox.reload(edited('@db-leads', '@db-leeds'));
  expect(refused).toMatchObject({ ok: false, problems: [{ where: 'roles.approver' }] });
  await sandbox.press(BEN, await requestChange(sandbox), 'change.approve');
  await sandbox.card('staging is stopping');
});

test('no command and no press is lost during a reload', async () => {
  const sandbox = await startTestSandbox();
  const reloading = sandbox.reload(edited('"count":1', '"count":1'));
  const sent = Array.from({ length: 20 }, () =>
    sandbox.slack.command(ANA, 'ops', '/service show staging'),
  );
  const card = await requestChange(sandbox);
  expect(await reloading).toEqual({ ok: true });
  await Promise.all(sent);
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('staging is stopping');
  const shown = () =>
    sandbox.slack
      .clientState(ANA)
      .messages.filter((each) => each.ephemeral && textOf(each).includes('/service show'));
  await expect.poll(() => shown().length).toBe(20);
});

test('after a reload, the previous bot finishes its work and begins nothing', async () => {
  const pause = Promise.withResolvers<void>();
  let waiting = 0;
  const sleep = async () => {
    waiting += 1;
    await pause.promise;
  };
  const proxies: TcpProxy[] = [];
  const through = async (url: string) => {
    proxies.push(await startTcpProxy(Number(new URL(url).port)));
    return proxies.at(-1)?.through(url) ?? url;
  };
  const sandbox = await startTestSandbox({ sleep, through });
  const { slack } = sandbox;
  const card = await requestChange(sandbox);
  const other = await requestChange(sandbox, ANA, '/service stop ci for the night');
  proxies[0]?.dropPackets();
  await sandbox.press(BEN, other, 'change.approve');
  await sandbox.card('Stop ci: running');
  // The previous bot stops once it has drawn this form again.
  await slack.command(ANA, 'ops', '/endpoint create staging');
  const place = { in: 'view', viewId: await sandbox.modal(ANA, 'endpoint.create') } as const;
  const option = { text: { type: 'plain_text', text: 'x' }, value: 'VPC_ENDPOINT_SERVICE' };
  const element = { type: 'static_select', selected_option: option };
  slack.failNext({ method: 'views.update', times: 1, how: { error: 'internal_error' } });
  await slack.press({ as: ANA, place, blockId: 'type', actionId: 'type', element });
  await expect.poll(() => waiting).toBe(1);
  // The next one works once it has read the channels.
  const method = 'conversations.history';
  slack.failNext({ method, times: 99, how: { error: 'fatal_error' } });
  const before = slack.calls(method).length;
  const freeze = { from: '2026-11-20T00:00Z', until: '2026-11-21T00:00Z', reason: 'sale' };
  const reloading = sandbox.reload((file) => ({ ...Object(file), freezes: [freeze] }));
  await expect.poll(() => slack.calls(method).length).toBeGreaterThan(before);
  await sandbox.press(BEN, card, 'change.approve');
  // The previous one ends what it sent, and there is work now.
  proxies[0]?.refuse();
  const metrics = async () => (await fetch(`${sandbox.url}/metrics`)).text();
  await expect.poll(metrics).toContain('command="service stop",state="unknown"} 1');
  pause.resolve();
  expect(await reloading).toEqual({ ok: true });
  slack.clearFaults();
  sandbox.wake();
  await sandbox.privateMessage(BEN, 'sale');
});

test('settings that need a restart are not reloaded', async () => {
  const sandbox = await startTestSandbox();
  if (!sandbox.started.ok) throw new Error('It does not run');
  const { config } = sandbox;
  const previousKeys = [new Secret('another key')];
  const next = { ...config, port: 1, key: null, previousKeys };
  const refused = await sandbox.started.reload({ ok: true, config: next });
  expect(refused).toEqual({
    ok: false,
    problems: [
      { where: 'SIGNALBOX_KEY', problem: 'cannot change at runtime', hint: 'restart Signalbox' },
      {
        where: 'SIGNALBOX_PREVIOUS_KEYS',
        problem: 'cannot change at runtime',
        hint: 'restart Signalbox',
      },
      { where: 'PORT', problem: 'cannot change at runtime', hint: 'restart Signalbox' },
    ],
  });
});

test('commands, changes, refusals and API calls are counted in the metrics', async () => {
  const sandbox = await startTestSandbox();
  await sandbox.press(ANA, await requestChange(sandbox), 'change.approve');
  await sandbox.privateMessage(ANA, 'You requested this change');
  await sandbox.press(BEN, await sandbox.card('requests: '), 'change.approve');
  await sandbox.card('staging is stopping');
  const told = await (await fetch(`${sandbox.url}/metrics`)).text();
  for (const line of [
    'signalbox_answers_total{command="service stop",ending="drafted"} 1',
    'signalbox_change_moves_total{command="service stop",state="succeeded"} 1',
    'signalbox_refusals_total{reason="self-approval"} 1',
    'signalbox_ack_seconds_count{kind="block_actions"} 3',
    'signalbox_api_call_seconds_count{api="cloud",operation="updateServiceState",status="200"} 1',
    'signalbox_open_changes{state="pending"} 0',
    'signalbox_database_readable 1',
  ]) {
    expect(told).toContain(line);
  }
});
