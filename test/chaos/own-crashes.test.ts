import { expect, test } from 'vitest';
import { readEndState, violationsOfLocks } from '../harness/end-state.ts';
import { isCard, textOf } from '../harness/messages.ts';
import { eventsIn, withLog } from '../harness/read-log.ts';
import { NO_MESSAGE, STAGING } from '../harness/requests.ts';
import { ENGINES, type Engine, emptyUrl } from '../storage/engines.ts';
import { type ControlledSandbox, startControlledSandbox } from './processes/controlled-sandbox.ts';
import { startDriver } from './processes/driver.ts';

const FREEZE = '/change freeze tag=staging until=4h launch';
const SCHEDULE =
  '/service schedule staging stop="weekdays 20:00" start="weekdays 07:00" zone=Europe/Berlin nights';
const FIRST_STOP = new Date('2026-11-20T19:00:00.000Z');

type Live = (
  driver: Awaited<ReturnType<typeof startDriver>>,
  sandbox: ControlledSandbox,
) => Promise<unknown>;

/** Kills the bot before or after its n-th commit, and returns the violated promises. */
async function withCrash(engine: Engine, crash: string, live: Live) {
  const databaseUrl = await emptyUrl(engine);
  const sandbox = await startControlledSandbox({ databaseUrl });
  try {
    const driver = await startDriver(sandbox, crash);
    await live(driver, sandbox);
    await sandbox.stopBots();
    const { length } = await eventsIn(databaseUrl, 'created');
    const effects = sandbox.cloud.effectCount('set state', STAGING);
    return [
      ...(await wrongOf(databaseUrl)),
      ...(driver.crashes() > 0 || crash.includes('any') ? [] : ['it was not killed']),
      ...(length === 1 ? [] : [`it came into force ${length} times`]),
      ...(effects > 1 ? ['the run took effect twice'] : []),
    ];
  } finally {
    await sandbox.close();
  }
}

const freeze: Live = (driver) => driver.live({ line: FREEZE });

/** A schedule and its first run. */
const schedule: Live = async (driver, { slack }) => {
  await driver.live({ line: SCHEDULE });
  const shown = () => {
    const text = textOf(slack.messages('db-approvals').find(isCard) ?? NO_MESSAGE);
    return /Last run [^\n]*: (accepted|succeeded|done|outcome unknown)/.test(text) || undefined;
  };
  await driver.from(FIRST_STOP, shown, 'the run on the card');
};

/** An operation of Signalbox itself has no unknown outcome. */
function wrongOf(databaseUrl: string): Promise<string[]> {
  return withLog(databaseUrl, async (log) => {
    const { confirmed, violations } = await readEndState(log);
    const own = confirmed.filter(({ command }) => /freeze|schedule/.test(command));
    return [
      ...violations,
      ...own.flatMap(({ command, state }) =>
        state === 'succeeded' ? [] : [`${command} ended as ${state}`],
      ),
      ...(await violationsOfLocks(log, confirmed)),
    ];
  });
}

type Crash = readonly [kill: string, engine: Engine];

/** A kill before and after each of so many commits, or without CHAOS=long at these alone. */
function crashes(commits: number, ...some: readonly Crash[]): readonly Crash[] {
  if (process.env.CHAOS !== 'long') return some;
  return ENGINES.flatMap((engine) =>
    Array.from({ length: commits }, (_, index) => index + 1).flatMap((nth) =>
      ['before', 'after'].map((when) => [`${when} any ${nth}`, engine] as const),
    ),
  );
}

test.for(crashes(24, ['before created', 'sqlite'], ['after created', 'postgres']))(
  'a freeze comes into force once, with a kill %s on %s',
  async ([crash, engine]) => {
    const wrong = await withCrash(engine, crash, freeze);
    expect(wrong, wrong.join()).toEqual([]);
  },
);

test.for(crashes(40, ['after created', 'sqlite'], ['before succeeded 2', 'postgres']))(
  'a schedule and its run happen once, with a kill %s on %s',
  async ([crash, engine]) => {
    const wrong = await withCrash(engine, crash, schedule);
    expect(wrong, wrong.join()).toEqual([]);
  },
);
