import { expect, test } from 'vitest';
import { freePort } from '../../sandbox/free-port.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';

test('with OPS_PORT, the port for Slack has no probes and no metrics, and both have one address', async () => {
  const opsPort = await freePort();
  const sandbox = await startTestSandbox({
    env: { OPS_PORT: String(opsPort), BIND_ADDRESS: '127.0.0.1' },
  });
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect((await fetch(`${sandbox.url}${path}`)).status, path).toBe(404);
    expect((await fetch(`http://127.0.0.1:${opsPort}${path}`)).status, path).toBe(200);
  }
  // Linux answers on all of 127.0.0.0/8 where a port is open on every address.
  for (const port of [opsPort, new URL(sandbox.url).port]) {
    await expect(fetch(`http://127.0.0.2:${port}/healthz`)).rejects.toThrow('fetch failed');
  }
  const delivery = await fetch(`http://127.0.0.1:${opsPort}/slack/events`, { method: 'POST' });
  expect(delivery.status).toBe(404);
});
