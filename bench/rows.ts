import type { Day } from '../src/base/time.ts';
import { cost } from '../src/commands/cost.ts';
import type { CommandContext } from '../src/commands/index.ts';
import { createReportReader } from '../src/maths/report.ts';
import type { CostRow } from '../src/maths/rows.ts';
import { UsageCosts } from '../src/servers/cloud-replies.ts';
import { percentile } from './figures.ts';
import { reportBody } from './report-body.ts';

// The report of a very large organization: 31 days of 2,000 services, 62,000 rows. What does it take
// to read it, to check it and to answer `/cost`, against JSON.parse of the same body?

const TIMES = 9;
const SERVICES = 2_000;
const SPAN = { first: '2026-10-01' as Day, last: '2026-10-31' as Day };
const NOW = new Date('2026-11-20T12:00:00Z');

const body = reportBody(SERVICES);

function timed<T>(run: () => T): { ms: number; out: T } {
  const start = performance.now();
  const out = run();
  return { ms: performance.now() - start, out };
}

function readRows({ costs, grandTotalCredits }: UsageCosts): readonly CostRow[] {
  const reader = createReportReader(SPAN);
  reader.add(costs);
  return reader.finish(grandTotalCredits).rows;
}

async function answered(rows: readonly CostRow[]): Promise<number> {
  const read = { rows, fetchedAt: NOW, problems: [], gaps: [] };
  // Only what the command asks for: it throws if it ever asks for more.
  const reach = {
    costs: async () => read,
    services: [],
    now: () => NOW,
  } as unknown as CommandContext;
  const start = performance.now();
  await cost.answer({ words: '2026-10 by service' }, reach, {
    by: 'U0BENCH' as never,
    channel: null,
  });
  return performance.now() - start;
}

const heap = () => {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1e6;
};

const figures: Record<string, number[]> = {};
const note = (label: string, ms: number) => {
  figures[label] = [...(figures[label] ?? []), ms];
};

for (let round = 0; round < TIMES; round += 1) {
  const parsed = timed<{ result: unknown }>(() => JSON.parse(body));
  note('JSON.parse', parsed.ms);
  const checked = timed(() => UsageCosts.parse(parsed.out.result));
  note('checking the reply', checked.ms);
  const read = timed(() => readRows(checked.out));
  note('reading the report', read.ms);
  const answeredMs = await answered(read.out);
  note('summary and table', answeredMs);
  note('all but JSON.parse', checked.ms + read.ms + answeredMs);
}

const median = (label: string) => percentile(figures[label] ?? [], 0.5);
for (const label of Object.keys(figures)) {
  process.stdout.write(`${label.padEnd(22)}${median(label).toFixed(1).padStart(9)} ms\n`);
}
const aim = 1.5 * median('JSON.parse') + 50;
process.stdout.write(`${'aim of the last two'.padEnd(22)}${aim.toFixed(1).padStart(9)} ms\n`);

if (globalThis.gc) {
  const empty = heap();
  const parsed: { result: unknown } = JSON.parse(body);
  const ofParsed = heap() - empty;
  const rows = readRows(UsageCosts.parse(parsed.result));
  const ofAll = heap() - empty;
  await answered(rows);
  const peak = process.memoryUsage().heapUsed / 1e6 - empty;
  const text = [ofParsed, ofAll, peak].map((mb) => mb.toFixed(0)).join(' / ');
  process.stdout.write(`heap in MB: parsed / and read / after the answer   ${text}\n`);
}
