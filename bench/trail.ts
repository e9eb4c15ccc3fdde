import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendEvent } from '../src/log/old/append.ts';
import { exportEvents } from '../src/log/old/audit-export.ts';
import { verifyChain } from '../src/log/old/verify-chain.ts';
import { openDatabase } from '../src/storage/old/database.ts';
import { openReader } from '../src/storage/old/reader.ts';

// A trail of its own, written as Signalbox writes it; verified and exported as the command does it.

const EVENTS = 200_000;
const IN_ONE_COMMIT = 5_000;
const KEY = Buffer.alloc(32, 7);
const BEGAN = Date.parse('2026-01-01T00:00:00Z');
const GROUPS = [{ id: 'S0LEADS', size: 3, readAt: '2026-01-01T00:00:00.000Z' }];

const folder = mkdtempSync(join(tmpdir(), 'signalbox-trail-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGINT', () => process.exit(130));
const url = `file:${join(folder, 'signalbox.db')}`;

/** Events in a second, for so many of them. */
async function rate(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return (EVENTS / (performance.now() - began)) * 1_000;
}

const database = await openDatabase(url);
const written = await rate(async () => {
  for (let n = 0; n < EVENTS; n += IN_ONE_COMMIT) {
    await database.transaction(async (tx) => {
      for (let m = n; m < n + IN_ONE_COMMIT; m += 1) {
        const body = { by: 'U0BEN00001', digest: 'ab'.repeat(32), rule: 2, groups: GROUPS };
        await appendEvent(tx, KEY, { kind: 'approved', at: new Date(BEGAN + m * 60_000), body });
      }
    });
  }
});
await database.close();

const reader = await openReader(url);
const verified = await rate(async () => {
  const found = await verifyChain(reader.db, KEY);
  if (!found.ok || found.seq !== EVENTS) throw new Error('The trail is not as it was written');
});
const span = { since: new Date(BEGAN), until: new Date(8.64e15) };
let bytes = 0;
const rates: Record<string, number> = { written, verified };
for (const format of ['jsonl', 'csv'] as const) {
  rates[`exported as ${format}`] = await rate(async () => {
    for await (const text of exportEvents(reader.db, span, format)) bytes += text.length;
  });
}
await reader.close();

const lines = Object.entries(rates).map(
  ([what, perSecond]) =>
    `${what.padEnd(20)}${Math.round(perSecond).toString().padStart(9)} a second`,
);
const memory = `${Math.round(process.resourceUsage().maxRSS / 1_024)} MiB at most`;
process.stdout.write(`${EVENTS} events, ${Math.round(bytes / 2e6)} MB in a format\n`);
process.stdout.write(`${lines.join('\n')}\n${memory}\n`);
