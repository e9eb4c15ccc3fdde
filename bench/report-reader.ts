import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { request } from 'undici';
import { Secret } from '../src/base/errors.ts';
import { createReportReader } from '../src/maths/report.ts';
import { createCloudClient } from '../src/servers/cloud.ts';

// Reads one report again and again, as the client does or with JSON.parse of the whole body, and
// sends the time, the longest block of the event loop and the growth of the memory.

const TIMES = 5;
const PERIOD = { from_date: '2026-10-01', to_date: '2026-10-31' };
const SPAN = { first: PERIOD.from_date, last: PERIOD.to_date };
const { URL: url = '' } = process.env;

const cloud = createCloudClient({
  baseUrl: url,
  keyId: 'bench',
  keySecret: new Secret('bench'),
  organizationId: '7d5e2c1a-8f0b-4c62-9a55-0b2f6f1f9f10',
  version: 'bench',
  privateAddresses: true,
});

async function parseWhole(): Promise<number> {
  const { body } = await request(url);
  // The shape is known: it is this benchmark's own report.
  const reply = JSON.parse(await body.text()) as { result: { costs: unknown[] } };
  return reply.result.costs.length;
}

/** The transport alone: rows are parsed, checked and not kept. */
async function receiveRows(): Promise<number> {
  let count = 0;
  const takeRows = () => (rows: readonly unknown[]) => {
    count += rows.length;
  };
  await cloud.getUsageCost(PERIOD, { takeRows });
  return count;
}

/** As `/cost` does: rows are read into a report. */
async function readReport(): Promise<number> {
  let reader = createReportReader(SPAN);
  const takeRows = () => {
    reader = createReportReader(SPAN);
    return reader.add;
  };
  const { result } = await cloud.getUsageCost(PERIOD, { takeRows });
  return reader.finish(result.grandTotalCredits).rows.length;
}

const READERS = new Map([
  ['whole', parseWhole],
  ['rows', receiveRows],
  ['report', readReport],
]);

async function measured(read: () => Promise<number>) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const cpu = process.cpuUsage();
  const start = performance.now();
  const rows = await read();
  const ms = performance.now() - start;
  const used = process.cpuUsage(cpu);
  await wait(5);
  delay.disable();
  return { rows, ms, cpuMs: (used.user + used.system) / 1e3, blockMs: delay.max / 1e6 };
}

const before = process.memoryUsage.rss();
const read = READERS.get(process.env.READER ?? '') ?? parseWhole;
const first = await measured(read);
const grownBytes = process.resourceUsage().maxRSS * 1024 - before;
const all = [first];
for (let time = 1; time < TIMES; time += 1) all.push(await measured(read));
process.send?.({
  rows: first.rows,
  ms: all.map(({ ms }) => ms),
  cpuMs: all.map(({ cpuMs }) => cpuMs),
  blockMs: Math.max(...all.map(({ blockMs }) => blockMs)),
  grownBytes,
});
await cloud.close();
