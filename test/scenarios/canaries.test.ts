import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ALERTS_TOKEN, CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { createLog } from '../../src/base/log.ts';
import { openStore, reading, sql } from '../../src/storage/index.ts';
import { SIGNING_SECRET } from '../harness/simulators.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN } from '../harness/users.ts';
import { ENGINES, emptyUrl } from '../storage/engines.ts';

const CREATION =
  '/service create "analytics new" provider=aws region=eu-west-1 ip=10.0.0.0/8 min=16 max=32 "a new market"';

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  // A server that listens on TCP has an address of this kind.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a server that repeats the request headers in its error, as debug pages do. */
async function startEchoServer(): Promise<string> {
  const server = createServer((request, reply) => {
    const said = `you sent ${request.headers.authorization}`;
    reply.writeHead(422, { 'content-type': 'application/json', 'x-echo': said });
    reply.end(JSON.stringify({ error: said, status: 422, headers: request.rawHeaders }));
  });
  return listening(server);
}

function recordedLog() {
  const lines: string[] = [];
  const log = createLog({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
  return { log, lines };
}

function secretsOf(sandbox: TestSandbox): Readonly<Record<string, string>> {
  const created = sandbox.cloud.requests().find(({ operation }) => operation === 'create service');
  const password = /"password":"([^"]+)"/.exec(JSON.stringify(created))?.[1];
  if (!password) throw new Error('No service was created');
  return {
    'the bot token': sandbox.slack.botToken,
    'the signing secret': SIGNING_SECRET,
    'the cloud key': CLOUD_KEY.secret,
    'the cloud key as it is sent': basic(CLOUD_KEY.id, CLOUD_KEY.secret),
    'the alerts token': ALERTS_TOKEN,
    'the sealing key': Buffer.alloc(32, 7).toString('base64'),
    'the password of a created service': password,
  };
}

function basic(id: string, secret: string): string {
  return Buffer.from(`${id}:${secret}`).toString('base64');
}

test('no secret gets into the database, the log or Slack, whatever a server repeats', async () => {
  const databaseUrl = await emptyUrl('sqlite');
  const { log, lines } = recordedLog();
  let apis = 0;
  const sandbox = await startTestSandbox({
    databaseUrl,
    log,
    // The first URL is that of the cloud. The alerts API is replaced by the echoing server.
    through: async (url) => (apis++ === 0 ? url : startEchoServer()),
  });
  await sandbox.confirm(ANA, CREATION, 'analytics new?');
  await sandbox.press(BEN, await sandbox.card('requests: '), 'change.approve');
  await sandbox.card('Service analytics new is being created');
  for (const line of ['/alert list', '/alert show 1', '/cost 7d', '/service show staging']) {
    await sandbox.slack.command(ANA, 'ops', line);
  }
  await sandbox.privateMessage(ANA, '[secret]');
  log.info({ config: sandbox.config }, 'as somebody might log it');

  const path = databaseUrl.slice('file:'.length);
  const files = [path, `${path}-wal`, `${path}.key`].filter(existsSync);
  const places: Readonly<Record<string, string>> = {
    database: files.map((file) => readFileSync(file, 'latin1')).join(),
    log: lines.join(),
    Slack: JSON.stringify([
      sandbox.slack.calls(),
      sandbox.slack.clientState(ANA),
      sandbox.slack.clientState(BEN),
    ]),
    inspected: inspect(sandbox.config, { depth: 20 }),
  };
  const found = Object.entries(secretsOf(sandbox)).flatMap(([what, secret]) =>
    Object.entries(places).flatMap(([where, text]) =>
      text.includes(secret) ? [`${what} in ${where}`] : [],
    ),
  );
  expect(found).toEqual([]);
  // The search must be able to find something.
  expect(places.database).toContain('a new market');
  expect(places.Slack).toContain('a new market');
});

/** Starts a proxy that answers a creation with a page, which quotes the reply of the server. */
async function startWrappingProxy(url: string, status: number): Promise<string> {
  const server = createServer(async (request, reply) => {
    const [method = 'GET', body] = [request.method, Buffer.concat(await request.toArray())];
    const { host: _, connection: __, ...headers } = request.headers;
    const sent = { method, headers: headers as Record<string, string> };
    const answer = await fetch(url + request.url, method === 'GET' ? sent : { ...sent, body });
    const text = await answer.text();
    const isWrapped = method === 'POST' && answer.ok && text.includes('password');
    const type = isWrapped ? 'text/html' : (answer.headers.get('content-type') ?? '');
    reply.writeHead(isWrapped ? status : answer.status, { 'content-type': type });
    reply.end(isWrapped ? `<html><pre>${text}</pre></html>` : text);
  });
  return listening(server);
}

/** All that is stored in the tables. */
async function storedIn(databaseUrl: string): Promise<string> {
  const store = await openStore(databaseUrl, { as: 'beside' });
  try {
    const names = databaseUrl.startsWith('file:')
      ? sql<{ name: string }>`select name from sqlite_master where type = 'table'`
      : sql<{ name: string }>`select table_name as name from information_schema.tables
          where table_schema = current_schema()`;
    return await reading(store, async (reader) => {
      const stored: unknown[] = [];
      for (const { name } of (await names.execute(reader)).rows) {
        stored.push((await sql`select * from ${sql.table(name)}`.execute(reader)).rows);
      }
      return JSON.stringify(stored);
    });
  } finally {
    await store.close();
  }
}

test.for(ENGINES.flatMap((engine) => [200, 502].map((status) => [engine, status] as const)))(
  'the password of a creation gets nowhere when a proxy wraps its reply in a page, on %s with %s',
  async ([engine, status]) => {
    const databaseUrl = await emptyUrl(engine);
    const { log, lines } = recordedLog();
    let apis = 0;
    const sandbox = await startTestSandbox({
      databaseUrl,
      log,
      through: async (url) => (apis++ === 0 ? startWrappingProxy(url, status) : url),
    });
    await sandbox.confirm(ANA, CREATION, 'analytics new?');
    await sandbox.press(BEN, await sandbox.card('requests: '), 'change.approve');
    await sandbox.card('outcome unknown');
    const password = secretsOf(sandbox)['the password of a created service'] ?? '';
    const shown = [sandbox.slack.calls(), sandbox.slack.clientState(ANA)];
    const stored = await storedIn(databaseUrl);
    expect(stored).toContain('a new market');
    expect(stored).not.toContain(password);
    expect(JSON.stringify(shown)).not.toContain(password);
    expect(lines.join()).not.toContain(password);
  },
);

test('the error of an unreachable database does not contain its password', async () => {
  const url = 'postgres://signalbox:canary-of-the-database@127.0.0.1:1/signalbox';
  const failed = await openStore(url).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(Error);
  expect(inspect(failed, { depth: 20 })).not.toContain('canary');
});

test('external text stays on one line of the log and contains no terminal control characters', async () => {
  const { log, lines } = recordedLog();
  const evil = 'x\r\n{"level":60,"msg":"all is well"}\u001b[2J\u2028"}';
  log.warn({ said: evil, err: new Error(evil) }, evil);
  expect(lines).toHaveLength(1);
  const [line = ''] = lines;
  expect([...line.trimEnd()].filter((letter) => letter < ' ')).toEqual([]);
  expect(JSON.parse(line)).toMatchObject({ level: 40, said: evil });
});
