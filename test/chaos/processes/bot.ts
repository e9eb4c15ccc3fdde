import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { z } from 'zod';
import { startApp } from '../../../src/app.ts';
import { systemClock } from '../../../src/base/time.ts';
import { commandNames } from '../../../src/commands/index.ts';
import { loadConfig } from '../../../src/ops/index.ts';
import { crashAt, parseCrashPoint } from './crash-point.ts';

/** The bot in a child process; its parent sets its clock and stops it. */
const Order = z.union([
  z.strictObject({ now: z.string() }),
  z.strictObject({ do: z.enum(['wake', 'stop']) }),
]);

/** The time limit of requests, shorter than that of a test, and long enough for an answer on a loaded machine. */
const REQUEST_TIMEOUT_MS = 5_000;

const PAUSE_MS = 20;

const clock = { now: new Date(process.env.CHAOS_NOW ?? 0) };
const now = () => clock.now;
crashAt(parseCrashPoint(process.env.CHAOS_CRASH));

// A seeded defect is not a variable of Signalbox, which refuses unknown ones.
const { SIGNALBOX_DEFECT: _, ...env } = process.env;
const config = loadConfig({
  env,
  readFile: (path) => readFileSync(path, 'utf8'),
  commands: commandNames,
});
if (!config.ok) throw new Error(JSON.stringify(config.problems));

const started = await startApp({
  config: config.config,
  version: 'chaos',
  log: pino({ level: process.env.TEST_LOG ?? 'silent' }, pino.destination(2)),
  now,
  clock: {
    now: () => now().getTime(),
    // The parent moves the clock by messages, which arrive only during a real pause.
    sleep: () => pause(PAUSE_MS),
    timeout: (ms) => AbortSignal.timeout(Math.ceil(Math.min(ms, REQUEST_TIMEOUT_MS))),
    after: systemClock.after,
    random: () => 0.5,
  },
});
if (!started.ok) throw new Error(JSON.stringify(started.problems));

process.on('message', (message) => {
  const order = Order.parse(message);
  if ('now' in order) clock.now = new Date(order.now);
  else if (order.do === 'wake') started.wake();
  else void started.stop().then(() => process.exit());
});
process.send?.({ port: started.port });
