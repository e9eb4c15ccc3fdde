import { expect, test } from 'vitest';
import { freePort } from '../../sandbox/free-port.ts';
import { PROCESS_LIMITS, startProcessSandbox } from '../harness/bot-process.ts';
import { startHttpProxy } from '../harness/http-proxy.ts';
import { placeOf } from '../harness/messages.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { requestChange } from '../harness/requests.ts';
import { runCommand } from '../harness/run-command.ts';
import { ANA, BEN } from '../harness/users.ts';
import { emptyUrl } from '../storage/engines.ts';

/** A bot and a doctor behind a proxy. Both APIs have ports on which nothing listens, as what a firewall hides. */
async function behindProxy() {
  const databaseUrl = await emptyUrl('sqlite');
  const sandbox = await startProcessSandbox({ databaseUrl, delivery: 'socket' });
  const ports = new Map<number, number>();
  const hidden = async (url: string) => {
    const other = new URL(url);
    const port = await freePort();
    ports.set(port, Number(other.port));
    other.port = String(port);
    return other.href;
  };
  const { slack, cloud, env } = sandbox;
  const names = ['CLOUD_API_URL', 'ALERTS_API_URL'] as const;
  const direct = Object.fromEntries(names.map((name) => [name, env[name]]));
  for (const name of names) env[name] = await hidden(env[name] ?? '');
  const proxy = await startHttpProxy(ports);
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY']) env[name] = proxy.url;
  const portOf = (url: string) => new URL(url).port;
  return { sandbox, proxy, direct, slackPort: portOf(slack.url), cloudPort: portOf(cloud.url) };
}

test('behind a proxy everything passes it: Slack, its sockets, answers and both APIs', async () => {
  const { sandbox, proxy, slackPort, cloudPort } = await behindProxy();
  const { slack, cloud } = sandbox;
  await sandbox.start();
  expect(slack.connections()).toBeGreaterThan(0);
  const card = await requestChange(sandbox);
  await slack.click(BEN, placeOf(card), 'change.approve');
  await expect.poll(() => cloud.count('set state'), PROCESS_LIMITS).toBe(1);
  await slack.command(ANA, 'ops', '/alert list');
  await sandbox.privateMessage(ANA, 'alerts');
  expect(proxy.seen).toContain(`CONNECT ${slackPort}`);
  expect(proxy.seen).toContain(`POST ${slackPort}/api/chat.postMessage`);
  expect(proxy.seen).toContain(`CONNECT ${cloudPort}`);
  // The answer to the command, at its response URL.
  expect(proxy.seen.join('\n')).toMatch(new RegExp(`POST ${slackPort}/(?!api/)`));
});

test('behind a proxy the doctor opens a socket through it', async () => {
  const { sandbox, proxy, slackPort } = await behindProxy();
  const { out } = await runCommand([SIGNALBOX, 'doctor'], sandbox.env);
  expect(out).toMatch(/✓ delivery +Socket Mode: a connection was opened/);
  expect(proxy.seen).toContain(`CONNECT ${slackPort}`);
});

test('a proxy that lets no socket through is what the doctor reports', async () => {
  const { sandbox, proxy } = await behindProxy();
  proxy.refuseTunnels();
  const { out } = await runCommand([SIGNALBOX, 'doctor'], sandbox.env);
  expect(out).toMatch(/✗ delivery .*no connection/);
});

test('what NO_PROXY names is reached directly: sockets as well', async () => {
  const { sandbox, proxy, direct } = await behindProxy();
  Object.assign(sandbox.env, direct, { NO_PROXY: '127.0.0.1' });
  await sandbox.start();
  expect(sandbox.slack.connections()).toBeGreaterThan(0);
  await sandbox.ask(ANA, '/alert list', 'alerts');
  expect(proxy.seen).toEqual([]);
});
