import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import express from 'express';
import { expect, onTestFinished, test } from 'vitest';
import { ana, ben, clock, general, startSlack, sven } from './bolt-app.ts';
import { listener } from './client.ts';

async function started(options: Parameters<typeof startSlack>[0] = {}) {
  const slack = await startSlack(options);
  const received = await listener(slack);
  const send = async (route: string, body: unknown) => {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${slack.url}/sandbox/${route}`, init);
    return { status: response.status, body: await response.json() };
  };
  return { slack, received, send };
}

test('the page reads the client state of one user', async () => {
  const { slack } = await started({ now: clock().now });
  const response = await fetch(`${slack.url}/sandbox/state?as=${ana}`);
  const now = expect.stringMatching(/^2026-11-20T12:00:0/);
  const shown = JSON.parse(JSON.stringify(slack.clientState(ana)));
  expect(await response.json()).toEqual({ ...shown, now });
  expect(slack.clientState(ana)).toMatchObject({
    me: { id: ana, name: 'Ana', title: 'Operator', kind: 'member' },
    commands: [{ command: '/service', usageHint: 'stop <service>' }],
    shortcuts: [{ kind: 'global' }, { kind: 'message' }],
  });
});

test.for<[string, string, object, number]>([
  ['an unknown user', 'command', { as: 'U0NOBODY001', channel: general, text: '/service' }, 409],
  ['a channel of others', 'command', { as: sven, channel: general, text: '/service' }, 409],
  ['an incomplete request', 'command', { as: ana }, 400],
  ['a modal that is closed', 'submit', { as: ana, viewId: 'V0', values: {} }, 409],
])("the server refuses the page's request with %s", async ([, route, body, status]) => {
  const { send, received } = await started();
  const answer = await send(route, body);
  expect(answer).toMatchObject({ status, body: { error: expect.any(String) } });
  expect(received).toEqual([]);
});

test('the page is notified of a change', async () => {
  const { slack } = await started();
  const leaving = new AbortController();
  const url = `${slack.url}/sandbox/events?as=${ben}`;
  const response = await fetch(url, { signal: leaving.signal });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toBe('retry: 1000\n\n');
  // One chunk has several events if the test reads late.
  const isEvents = /^(event: changed\ndata: \{\}\n\n)+$/;
  await slack.sendMessage({ as: ana, channel: general, text: 'news' });
  expect((await reader?.read())?.value).toMatch(isEvents);
  slack.changed();
  expect((await reader?.read())?.value).toMatch(isEvents);
  leaving.abort();
});

test('the built page and additional routes are served', async () => {
  const page = await mkdtemp(join(tmpdir(), 'sandbox-page-'));
  onTestFinished(() => rm(page, { recursive: true }));
  await writeFile(join(page, 'index.html'), '<title>Sandbox</title>');
  const routes = express.Router().get('/panel', (_, response) => {
    response.json({ requests: [] });
  });
  const { slack } = await started({ page, routes });
  expect(await (await fetch(`${slack.url}/`)).text()).toBe('<title>Sandbox</title>');
  expect(await (await fetch(`${slack.url}/sandbox/panel`)).json()).toEqual({ requests: [] });
});

test('each simulator has its own workspace and stops with open connections', async () => {
  const first = await startSlack();
  const url = `${first.url}/sandbox/events?as=${ana}`;
  const stream = await fetch(url);
  first.admin.kick('general', ana);
  await first.stop();
  await expect(stream.text()).rejects.toThrow();
  const { slack } = await started();
  expect(slack.clientState(ana).channels.map(({ name }) => name)).toContain('general');
});
