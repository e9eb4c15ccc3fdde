import { expect, onTestFinished, test } from 'vitest';
import { ana, type BoltApp, general, socketBot, startSlack } from './bolt-app.ts';
import { clientOf } from './client.ts';

test('two connections receive payloads in turn', async () => {
  const slack = await startSlack({ delivery: { mode: 'socket' } });
  const received: string[] = [];
  for (const name of ['one', 'two']) {
    await socketBot(slack, (app) => {
      app.command('/service', async ({ ack }) => {
        received.push(name);
        await ack();
      });
    });
  }
  for (let n = 0; n < 4; n += 1) await slack.command(ana, general, '/service stop');
  expect(received.toSorted()).toEqual(['one', 'one', 'two', 'two']);
});

test('an app reconnects after Slack closes its connection', async () => {
  const slack = await startSlack({ delivery: { mode: 'socket' } });
  // The client waits one ping timeout before it comes back, so this one is impatient.
  const listen = (app: BoltApp) => app.command('/service', ({ ack }) => ack());
  await socketBot(slack, listen, 500);
  slack.refreshSockets('refresh_requested');
  const reopened = () => slack.calls('apps.connections.open').length === 2;
  await expect.poll(() => reopened() && slack.connections(), { timeout: 4000 }).toBe(1);
  expect(await slack.command(ana, general, '/service stop')).toMatchObject({ error: null });
});

test('a ticket is valid for one connection', async () => {
  const slack = await startSlack({ delivery: { mode: 'socket' } });
  const { url = '' } = await clientOf(slack, slack.appToken).apps.connections.open({});
  const tryIn = async () => {
    const socket = new WebSocket(url);
    onTestFinished(() => socket.close());
    return new Promise((resolve) => {
      socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)).type);
      socket.onerror = () => resolve('refused');
    });
  };
  expect([await tryIn(), await tryIn()]).toEqual(['hello', 'refused']);
});

test('an eleventh connection is refused', async () => {
  const slack = await startSlack({ delivery: { mode: 'socket' } });
  const client = clientOf(slack, slack.appToken);
  const first: string[] = [];
  for (let n = 0; n < 11; n += 1) {
    const { url = '' } = await client.apps.connections.open({});
    const socket = new WebSocket(url);
    onTestFinished(() => socket.close());
    first.push(
      await new Promise((resolve) => {
        socket.onmessage = ({ data }) => resolve(JSON.parse(String(data)).type);
      }),
    );
  }
  expect(first).toEqual([...Array.from({ length: 10 }, () => 'hello'), 'disconnect']);
  expect(slack.connections()).toBe(10);
});
