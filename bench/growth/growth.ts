import { Kysely } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { startApp } from '../../src/app.ts';
import { exportEvents } from '../../src/log/old/audit-export.ts';
import { verifyChain } from '../../src/log/old/verify-chain.ts';
import { openPostgres } from '../../src/storage/old/postgres.ts';
import { openReader } from '../../src/storage/old/reader.ts';
import type { Tables } from '../../src/storage/old/schema.ts';
import { createTime } from '../../test/contracts/time.ts';
import { testConfig } from '../../test/harness/config.ts';
import { organizationWith, withDevServices } from '../../test/harness/services.ts';
import { AUDIT_KEY, startSimulators } from '../../test/harness/simulators.ts';
import { ownServer } from '../../test/storage/postgres.ts';
import { percentile } from '../figures.ts';
import { fill } from './fill.ts';
import { lanesOf } from './lanes.ts';
import { startReplicas, workspaceOfYear } from './replicas.ts';
import { screensOf } from './screens.ts';
import { load, markdown, sizes } from './sizes.ts';
import { explain, recordStatements, type Statement, takeStatements } from './statements.ts';
import { idOf, SERVICES, YEAR } from './year.ts';

const LANE_TIMES = 100;
const SCREEN_TIMES = 30;
const WARM_UP = 2;
/** A slow query is repeated until this time only. */
const LONGEST_MS = 5_000;
const BUDGET_MS = { lane: 5, screen: 50 };
/** Scans of smaller tables are faster than an index. */
const LARGE = 5_000;
/** Between two commands of a user, who may send 60 a minute. */
const APART_MS = 1_100;

const ids = { open: idOf(YEAR.changes - 100), ended: idOf(YEAR.changes - 5_000) };

/** Fills a year, and prints the times of every screen and background query as tables. */
export async function growth(): Promise<void> {
  const given = process.env.GROWTH_DATABASE_URL;
  const server = given ? null : await ownServer();
  await server?.start();
  const url = given ?? server?.url ?? '';
  try {
    if (!(await isFilled(url))) await filled(url);
    print('Sizes', await sizes(url));
    recordStatements();
    const replicas = await startReplicas(url);
    const starts = replicas.readyMs.map((ms, n) => {
      return [ms.toFixed(0), (replicas.memoryMib[n] ?? 0).toFixed(0), load()];
    });
    print('Starts', [['until ready, ms', 'memory, MiB', 'load'], ...starts]);
    await measureLanes(url).finally(replicas.stop);
    await measureScreens(url);
    await measureTrail(url);
  } finally {
    await server?.remove();
  }
}

async function filled(url: string): Promise<void> {
  const began = performance.now();
  const { seq } = await fill(url, new Date());
  const seconds = ((performance.now() - began) / 1_000).toFixed(0);
  process.stdout.write(`${YEAR.changes} changes, ${seq} signed events, filled in ${seconds} s\n`);
}

async function isFilled(url: string): Promise<boolean> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query("select to_regclass('change') is not null as is");
    return rows[0]?.is === true;
  } finally {
    await client.end();
  }
}

class RolledBack extends Error {}

async function measureLanes(url: string): Promise<void> {
  const dialect = openPostgres(url, { onError: () => undefined });
  const database = new Kysely<Tables>({ dialect });
  const rows = [
    ['query', 'fastest ms', 'p50 ms', 'p99 ms', 'load', '', 'pages', 'indexes', 'large scans'],
  ];
  const now = new Date();
  for (const [name, lane] of Object.entries(lanesOf(now, ids.open))) {
    const times: number[] = [];
    takeStatements();
    let statements: readonly Statement[] = [];
    for (let n = 0; n < LANE_TIMES + WARM_UP; n += 1) {
      const ms = await rolledBack(database, lane);
      if (n >= WARM_UP) times.push(ms);
      if (n === 0) statements = takeStatements();
      if (n * ms > LONGEST_MS && n > WARM_UP) break;
    }
    rows.push([name, ...figures(times, BUDGET_MS.lane), ...(await planOf(url, statements))]);
    process.stderr.write(`${rows.at(-1)?.join('  ')}\n`);
  }
  await database.destroy();
  print(`Background queries, ${LANE_TIMES} times`, rows);
}

async function rolledBack(
  database: Kysely<Tables>,
  lane: ReturnType<typeof lanesOf>[string],
): Promise<number> {
  let ms = 0;
  const work = database.transaction().execute(async (tx) => {
    const began = performance.now();
    await lane(tx);
    ms = performance.now() - began;
    throw new RolledBack();
  });
  await work.catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error;
  });
  return ms;
}

async function measureScreens(url: string): Promise<void> {
  const time = createTime(new Date());
  const simulators = await startSimulators({
    now: time.now,
    wait: async (ms) => time.pass(ms),
    organization: organizationWith(SERVICES),
    workspace: workspaceOfYear(),
  });
  simulators.alerts.addAlerts(1_000);
  const config = testConfig({ ...simulators.env, DATABASE_URL: url }, (file) =>
    withDevServices(file, SERVICES),
  );
  const log = pino({ level: 'error' }, pino.destination(2));
  const app = await startApp({ config, version: 'bench', log, now: time.now, clock: time.clock });
  if (!app.ok) throw new Error(JSON.stringify(app.problems));
  simulators.deliverTo({ url: `http://127.0.0.1:${app.port}` });

  const rows = [
    [
      'screen',
      'fastest ms',
      'p50 ms',
      'p99 ms',
      'load',
      '',
      'in queries p50 ms',
      'slowest',
      'pages',
      'indexes',
      'large scans',
    ],
  ];
  const screens = Object.entries(screensOf(simulators.slack, ids));
  for (const [name, open] of screens) {
    const times: number[] = [];
    const inQueries: number[] = [];
    const seen = new Map<string, Statement>();
    for (let n = 0; n < SCREEN_TIMES + WARM_UP; n += 1) {
      time.pass(APART_MS);
      takeStatements();
      const began = performance.now();
      await open();
      const ms = performance.now() - began;
      const statements = takeStatements();
      for (const one of statements) {
        if (one.ms > (seen.get(one.sql)?.ms ?? 0)) seen.set(one.sql, one);
      }
      if (n < WARM_UP) continue;
      times.push(ms);
      inQueries.push(statements.reduce((sum, one) => sum + one.ms, 0));
      if (n * ms > LONGEST_MS && n > WARM_UP) break;
    }
    const used = [...seen.values()];
    const slowest = Math.max(0, ...used.map(({ ms }) => ms)).toFixed(1);
    const measured = [...figures(times, BUDGET_MS.screen), percentile(inQueries, 0.5).toFixed(1)];
    rows.push([name, ...measured, slowest, ...(await planOf(url, used))]);
    process.stderr.write(`${rows.at(-1)?.slice(0, 6).join('  ')}\n`);
  }
  await app.stop();
  await simulators.stop();
  print(`Screens, ${SCREEN_TIMES} times`, rows);
}

function figures(times: readonly number[], budgetMs: number): string[] {
  const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
  return [
    Math.min(...times).toFixed(1),
    p50.toFixed(1),
    p99.toFixed(1),
    load(),
    p50 > budgetMs ? 'missed' : p99 > budgetMs ? 'p99' : '',
  ];
}

async function planOf(url: string, statements: readonly Statement[]): Promise<string[]> {
  const { indexes, scans, pages } = await explain(url, statements);
  const large = [...scans].filter(([, rows]) => rows > LARGE);
  return [
    String(pages),
    indexes.join(' '),
    large.map(([table, rows]) => `${table} (${rows})`).join(' '),
  ];
}

async function measureTrail(url: string): Promise<void> {
  const reader = await openReader(url);
  const rows = [['audit trail', 'events', 'seconds', 'events a second', 'load']];
  const add = async (name: string, work: () => Promise<number>) => {
    const began = performance.now();
    const events = await work();
    const seconds = (performance.now() - began) / 1_000;
    rows.push([name, String(events), seconds.toFixed(0), (events / seconds).toFixed(0), load()]);
  };
  await add('verify', async () => {
    const found = await verifyChain(reader.db, AUDIT_KEY);
    if (!found.ok) throw new Error(`Event ${found.seq}: ${found.problem}`);
    return found.seq;
  });
  await add('export as jsonl, 30 days', async () => {
    const now = Date.now();
    const span = { since: new Date(now - 30 * 86_400_000), until: new Date(now) };
    let events = 0;
    for await (const text of exportEvents(reader.db, span, 'jsonl')) {
      events += text.split('\n').length - 1;
    }
    return events;
  });
  await reader.close();
  print('Trail', rows);
}

function print(title: string, rows: readonly (readonly string[])[]): void {
  process.stdout.write(`\n## ${title}\n\n${markdown(rows)}\n`);
}
