// The conformance suite of the protocol against the sandbox: npm run conformance [-- --scenario X]. The suite cannot prove who it is, so a
// proxy signs its requests as Slack, for Ana. What fails and why is listed in conformance-expected.yaml.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as send,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { signatureOf } from '../sandbox/slack/delivery/signed-http.ts';
import { startSandbox } from '../sandbox/start.ts';

const SUITE = '@modelcontextprotocol/conformance@0.1.16';
const EXPECTED = fileURLToPath(new URL('conformance-expected.yaml', import.meta.url));

const sandbox = await startSandbox({ port: 0, delivery: 'http' });
const env = parseEnv(readFileSync(sandbox.envFile, 'utf8'));
const door = `127.0.0.1:${env.PORT}`;
const ana = { user_id: 'U0ANA00001', team_id: sandbox.slack.workspace.teamId };

function signed(raw: Buffer): Buffer {
  const message = JSON.parse(raw.toString('utf8'));
  if (message.method !== 'tools/call') return raw;
  const meta = { ...message.params?._meta, slack: ana };
  return Buffer.from(JSON.stringify({ ...message, params: { ...message.params, _meta: meta } }));
}

async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const given = Buffer.concat(await request.toArray());
  const body = request.method === 'POST' ? signed(given) : given;
  const own = [`127.0.0.1:${port}`, `localhost:${port}`];
  // A foreign host stays what it is: the door refuses it.
  const host = own.includes(request.headers.host ?? '') ? door : request.headers.host;
  const { 'content-length': _, ...headers } = request.headers;
  const signature = signatureOf(
    env.SLACK_SIGNING_SECRET ?? '',
    sandbox.clock.now(),
    body.toString(),
  );
  const origin = own.includes(headers.origin?.replace('http://', '') ?? '')
    ? { origin: `http://${door}` }
    : {};
  const options = {
    method: request.method,
    headers: { ...headers, ...origin, ...signature, host },
  };
  const sent = send(`http://${door}${request.url}`, options, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  sent.on('error', () => response.destroy());
  sent.end(body);
}

const proxy = createServer((request, response) => void forward(request, response));
await once(proxy.listen(0, '127.0.0.1'), 'listening');
const { port } = proxy.address() as AddressInfo;
const url = `http://127.0.0.1:${port}/mcp`;
const options = ['server', '--url', url, '--expected-failures', EXPECTED, ...process.argv.slice(2)];
const suite = spawn('npx', ['--yes', SUITE, ...options], { stdio: 'inherit' });
const [code] = await once(suite, 'exit');
proxy.close().closeAllConnections();
await sandbox.stop();
process.exitCode = code ?? 1;
