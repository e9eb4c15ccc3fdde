import { setTimeout as wait } from 'node:timers/promises';
import { openLargeOrganization } from '../test/contracts/large-organization.ts';
import { ANA } from '../test/harness/users.ts';
import { percentile } from './figures.ts';

// How long people wait in a large organization: 300 services and 5,000 alerts. The bot, Slack's
// stand-in and both simulators share this one process, so that what is measured is the upper end.

const TIMES = 200;
const WARM_UP = 5;

const bot = await openLargeOrganization({ services: 300, alerts: 5_000 });
const { slack } = bot;

async function opened(line: string, callbackId: string): Promise<void> {
  const view = await bot.form(line, callbackId);
  await slack.close(ANA, view.id);
}

/** A type-ahead is asked from within its form, which stays open meanwhile. */
function suggested(line: string, callbackId: string, blockId: string, value: string) {
  let viewId: string | null = null;
  return async () => {
    viewId ??= (await bot.form(line, callbackId)).id;
    const place = { in: 'view', viewId } as const;
    const found = await slack.suggest({ as: ANA, place, blockId, actionId: blockId, value });
    if (found.options.length === 0) throw new Error(`Nothing was found for ${value}`);
  };
}

const findAlert = suggested('/alert edit', 'alert.edit', 'alert', 'latency');
const findService = suggested('/service stop', 'service.stop', 'service', 'team-217');

const SETTLED_AFTER_MS = 100;
/** After this many answers the clock passes the rate limit of the user. */
const ANSWERS_AT_ONCE = 10;

/** Ends the background work that a new time begins: the simulators would do their part in this process. */
async function settled(): Promise<void> {
  bot.wake();
  for (let before = -1; before !== bot.cloud.requests().length; ) {
    before = bot.cloud.requests().length;
    await wait(SETTLED_AFTER_MS);
  }
}

/** Everything has to be read again: what was kept is half a minute old. */
async function stale(): Promise<void> {
  bot.time.pass(31_000);
  await settled();
}

interface Step {
  readonly label: string;
  readonly aimMs: number;
  readonly before?: () => Promise<void>;
  readonly run: () => Promise<unknown>;
}

const STEPS: readonly Step[] = [
  { label: 'service list', aimMs: 300, run: () => bot.run('/service list') },
  {
    label: 'alert list, all read again',
    aimMs: 250,
    before: stale,
    run: () => bot.run('/alert list'),
  },
  { label: 'alert list', aimMs: 300, run: () => bot.run('/alert list') },
  { label: 'alert list, page 51', aimMs: 300, run: () => bot.run('/alert list page=51') },
  { label: 'alert search', aimMs: 300, run: () => bot.run('/alert list checkout latency') },
  {
    label: 'alert type-ahead, all read again',
    aimMs: 250,
    before: stale,
    run: findAlert,
  },
  { label: 'alert type-ahead', aimMs: 300, run: findAlert },
  {
    label: 'service type-ahead',
    aimMs: 300,
    run: findService,
  },
  {
    label: 'open the form of a scale',
    aimMs: 100,
    run: () => opened('/service scale', 'service.scale'),
  },
  {
    label: 'open the form of a creation',
    aimMs: 100,
    run: () => opened('/service create', 'service.create'),
  },
];

async function measured({ before, run }: Step): Promise<readonly number[]> {
  const times: number[] = [];
  for (let round = 0; round < WARM_UP + TIMES; round += 1) {
    if (round % ANSWERS_AT_ONCE === 0) {
      bot.rest();
      await settled();
    }
    await before?.();
    const start = performance.now();
    await run();
    if (round >= WARM_UP) times.push(performance.now() - start);
  }
  return times;
}

function row(cells: readonly string[]): string {
  const [first = '', ...rest] = cells;
  return [first.padEnd(34), ...rest.map((cell) => cell.padStart(9))].join('');
}

const lines = [row(['', 'p50 ms', 'p99 ms', 'aim ms'])];
for (const step of STEPS) {
  bot.time.pass(60_000);
  const times = await measured(step);
  const figures = [percentile(times, 0.5), percentile(times, 0.99)].map((ms) => ms.toFixed(1));
  lines.push(row([step.label, ...figures, String(step.aimMs)]));
}
process.stdout.write(`${lines.join('\n')}\n`);
await bot.close();
