import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figures } from './figures.ts';
import { readOptions, USAGE } from './options.ts';
import { type Bench, openBench } from './round.ts';
import { type Rounds, summary } from './summary.ts';
import { table } from './table.ts';

const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
// Leaving by exit lets everything that was started be stopped and thrown away.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

async function measured(bench: Bench, rounds: number): Promise<Rounds> {
  const blank = [await noted(bench, 'blank')];
  const bare: Figures[] = [];
  const signalbox: Figures[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push(await noted(bench, 'bare'));
    signalbox.push(await noted(bench, 'signalbox'));
  }
  return { blank, bare, signalbox };
}

async function noted(bench: Bench, name: keyof Rounds): Promise<Figures> {
  process.stderr.write(`measuring ${name} …\n`);
  return bench.measure(name);
}

async function costsMeasured(): Promise<never> {
  const { costMeasurements, costOptions } = await import('./costs.ts');
  await costMeasurements(costOptions(process.argv.slice(3)), (text) =>
    process.stdout.write(`${text}\n`),
  );
  process.exit();
}

async function soaked(): Promise<never> {
  const { soak } = await import('./soak.ts');
  process.exit((await soak(process.argv.slice(3), folder)) ? 0 : 1);
}

async function pressed(): Promise<never> {
  const { press } = await import('./press.ts');
  process.exit((await press(folder)) ? 0 : 1);
}

async function standingMeasured(): Promise<never> {
  const { standingMeasurements } = await import('./standing.ts');
  const tell = (text: string) => process.stdout.write(`${text}\n`);
  process.exit(standingMeasurements(process.argv.slice(3), tell) ? 0 : 1);
}

try {
  if (process.argv[2] === 'standing') await standingMeasured();
  if (process.argv[2] === 'press') await pressed();
  if (process.argv[2] === 'soak') await soaked();
  if (process.argv[2] === 'costs') await costsMeasured();
  const { rate, seconds, rounds, json, profile } = readOptions(process.argv.slice(2));
  const bench = await openBench({ pace: { rate, seconds }, folder, profile });
  const figures = await measured(bench, rounds);
  await bench.stop();

  const lines = summary(figures);
  const machine = { cpus: cpus().length, node: process.version, platform: process.platform };
  const offered = { rate, seconds, rounds };
  process.stdout.write(
    json
      ? `${JSON.stringify({ machine, offered, rounds: figures, summary: lines }, null, 2)}\n`
      : `${rate} commands/s for ${seconds} s, ${rounds} rounds; ${machine.cpus} CPUs, ` +
          `Node ${machine.node}\n\n${table(lines)}\n\n` +
          'blank answers at once: its column is what the generator itself can do.\n',
  );
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}\n`);
  process.exitCode = 1;
  process.exit();
}
