import { z } from 'zod';
import { startChild } from './child.ts';
import { median } from './figures.ts';

const Served = z.object({ url: z.string(), bytes: z.number() });
const Read = z.object({
  rows: z.number(),
  ms: z.array(z.number()),
  cpuMs: z.array(z.number()),
  blockMs: z.number(),
  grownBytes: z.number(),
});

const MOST_TIME = 1.2;
const MOST_MEMORY = 2;
const MIB = 2 ** 20;
const WITHIN_MS = 120_000;

/** Reads usage reports of this many services over HTTP, and compares with fetch + JSON.parse. */
export async function transportTest(services: readonly number[]): Promise<string> {
  const texts: string[] = [];
  for (const count of services) texts.push(await transportOf(count));
  return texts.join('\n');
}

async function transportOf(services: number): Promise<string> {
  const server = startChild('bench/report-server.ts', { env: { SERVICES: String(services) } });
  const { url, bytes } = Served.parse(await server.told(WITHIN_MS));
  const whole = await readBy('whole', url);
  const client = await readBy('rows', url);
  const report = await readBy('report', url);
  await server.stop();
  const time = median(client.ms) / median(whole.ms);
  const memory = client.grownBytes / bytes;
  const line = (label: string, { ms, cpuMs, blockMs, grownBytes }: z.infer<typeof Read>) =>
    `  ${label.padEnd(20)}${median(ms).toFixed(0).padStart(6)} ms (CPU ${median(cpuMs).toFixed(0).padStart(5)}), longest block ` +
    `${blockMs.toFixed(0).padStart(4)} ms, memory ${(grownBytes / bytes).toFixed(2)} × body`;
  return [
    `${client.rows} rows, ${(bytes / MIB).toFixed(1)} MiB`,
    line('fetch + JSON.parse', whole),
    line('getUsageCost', client),
    line('and the report', report),
    `  time ${time.toFixed(2)} × (≤ ${MOST_TIME}: ${metText(time <= MOST_TIME)}), ` +
      `memory ${memory.toFixed(2)} × body (≤ ${MOST_MEMORY}: ${metText(memory <= MOST_MEMORY)})`,
  ].join('\n');
}

function metText(isMet: boolean): string {
  return isMet ? 'met' : 'missed';
}

async function readBy(
  reader: 'whole' | 'rows' | 'report',
  url: string,
): Promise<z.infer<typeof Read>> {
  const child = startChild('bench/report-reader.ts', { env: { READER: reader, URL: url } });
  const read = Read.parse(await child.told(WITHIN_MS));
  await child.stop();
  return read;
}
