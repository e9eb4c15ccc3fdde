import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../../sandbox/free-port.ts';
import { startForwarder } from './forwarder.ts';
import { until } from './until.ts';

const NEEDED = ['initdb', 'postgres', 'pg_basebackup', 'pg_ctl'];

/** The folder with the newest installed PostgreSQL; null if there is none with all four programs. */
export function installedPostgres(): string | null {
  const complete = globSync('/usr/lib/postgresql/*/bin/initdb')
    .map(dirname)
    .filter((bin) => NEEDED.every((name) => globSync(join(bin, name)).length === 1));
  return complete.toSorted().at(-1) ?? null;
}

/** PostgreSQL refuses to run as root; the user `nobody` exists on every machine. */
function owner() {
  if (process.getuid?.() !== 0) return {};
  const id = (which: string) => Number(execFileSync('id', [which, 'nobody']));
  return { uid: id('-u'), gid: id('-g') };
}

/** A primary and its asynchronous standby, and two addresses that lead to the one in charge. */
export async function startPair(bin: string, folder: string) {
  const user = owner();
  mkdirSync(folder);
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid);
  const as = { ...user, cwd: folder };
  // This process forwards for the programs, so it must not wait for them.
  const run = (program: string, ...args: readonly string[]) =>
    promisify(execFile)(join(bin, program), args, as);
  const running = new Set<ChildProcess>();
  const start = (data: string, port: number) => startServer({ bin, as, data, port, running });

  const [first, second] = [join(folder, 'primary'), join(folder, 'standby')];
  await run(
    'initdb',
    ...['-D', first, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'],
  );
  const [firstPort, secondPort] = [await freePort(), await freePort()];
  const primary = await start(first, firstPort);
  // The stream goes through a wire of its own, so that it can stall while both servers run.
  const [wire, near, far] = await Promise.all([1, 2, 3].map(() => startForwarder()));
  if (!wire || !near || !far) throw new Error('No forwarder');
  for (const each of [wire, near, far]) each.to(firstPort);
  const source = ['-h', '127.0.0.1', '-p', String(wire.port), '-U', 'postgres'];
  await run('pg_basebackup', ...source, '-D', second, '-R', '-X', 'stream', '-c', 'fast');
  await start(second, secondPort);

  const onPrimary = (text: string) => onlyValue(firstPort, text);
  const onStandby = (text: string) => onlyValue(secondPort, text);
  const mode = () =>
    onPrimary(`select coalesce(max(state || ' ' || sync_state), '') from pg_stat_replication`);
  await until('the stream to the standby', async () => (await mode()) === 'streaming async');
  return {
    /** From the side of the primary. */
    url: urlOf(near.port),
    /** From the side of the standby. */
    farUrl: urlOf(far.port),
    onPrimary,
    onStandby,
    /** Waits until the standby has everything that the primary has written so far. */
    caughtUp: async () => {
      const written = await onPrimary('select pg_current_wal_lsn()');
      const has = `select pg_last_wal_replay_lsn() >= '${written}'::pg_lsn`;
      await until('the standby', async () => (await onStandby(has)) === 'true');
    },
    /** From now on nothing reaches the side of the standby, and nobody has a reason to notice. */
    stall: () => {
      wire.stall();
      far.stall();
    },
    /** The machine of the primary is gone at once, and what it had sent to the standby with it. */
    killPrimary: async () => {
      const ended = once(primary, 'exit');
      const all = [primary.pid, ...childrenOf(primary.pid)];
      for (const each of [wire, near, far]) each.cut();
      for (const pid of all) killNow(pid);
      await ended;
    },
    /** The standby becomes the primary, at the same addresses. */
    promote: async () => {
      await run('pg_ctl', 'promote', '-D', second, '-w', '-t', '60');
      await until('the promotion', async () => {
        return (await onStandby('select pg_is_in_recovery()')) === 'false';
      });
      for (const each of [near, far]) each.to(secondPort);
    },
    stop: async () => {
      for (const each of [wire, near, far]) each.close();
      const ended = [...running].map((server) => once(server, 'exit'));
      for (const server of running) server.kill('SIGINT');
      await Promise.all(ended);
    },
  };
}

const urlOf = (port: number) => `postgres://postgres@127.0.0.1:${port}/postgres`;

export type Pair = Awaited<ReturnType<typeof startPair>>;

interface ServerStart {
  readonly bin: string;
  readonly as: { readonly cwd: string };
  readonly data: string;
  readonly port: number;
  readonly running: Set<ChildProcess>;
}

async function startServer({ bin, as, data, port, running }: ServerStart): Promise<ChildProcess> {
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'jit=off'];
  const flags = [...settings, 'synchronous_standby_names='].flatMap((each) => ['-c', each]);
  const args = ['-D', data, '-p', String(port), ...flags];
  const server = spawn(join(bin, 'postgres'), args, { ...as, stdio: ['ignore', 'ignore', 'pipe'] });
  running.add(server);
  const stopAtExit = () => void server.kill('SIGQUIT');
  process.once('exit', stopAtExit);
  server.once('exit', () => {
    running.delete(server);
    process.off('exit', stopAtExit);
  });
  let log = '';
  server.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk).slice(-4_000);
  });
  await until('PostgreSQL', async () => {
    if (server.exitCode !== null) throw new Error(`PostgreSQL did not start:\n${log}`);
    return /ready to accept (read-only )?connections/.test(log);
  });
  return server;
}

function childrenOf(pid: number | undefined): readonly number[] {
  const listed = globSync(`/proc/${pid}/task/${pid}/children`).map((file) => readFileSync(file));
  return listed.join(' ').split(/\s+/).filter(Boolean).map(Number);
}

function killNow(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** The only value of a statement, as text. */
async function onlyValue(port: number, text: string): Promise<string> {
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query({ text, rowMode: 'array' });
    return String(rows[0]?.[0]);
  } finally {
    await client.end();
  }
}
