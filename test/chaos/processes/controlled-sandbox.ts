import { type ProcessOptions, startSimulatorsForProcess } from '../../harness/simulators.ts';
import { NOON } from '../../harness/users.ts';
import { type ControlledBot, startControlledBot } from './child.ts';

/** Starts the simulators in this process; `start` adds a bot in a child process with a set clock. */
export async function startControlledSandbox(options: Omit<ProcessOptions, 'now'>) {
  const clock = { now: NOON };
  const simulators = await startSimulatorsForProcess({ ...options, now: () => clock.now });
  const { slack, cloud, env } = simulators;
  const bots: ControlledBot[] = [];
  const living = () => bots.filter(({ isAlive }) => isAlive());

  async function start(crashPoint = ''): Promise<ControlledBot | null> {
    const own = { ...env, CHAOS_NOW: clock.now.toISOString(), CHAOS_CRASH: crashPoint };
    const bot = await startControlledBot(own);
    if (bot) bots.push(bot);
    return bot;
  }

  return {
    slack,
    cloud,
    clock,
    start,
    living,
    deliverTo: simulators.deliverTo,
    /** Advances the clock of all processes and wakes their background loops. */
    pass: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
      for (const bot of living()) {
        bot.send({ now: clock.now.toISOString() });
        bot.send({ do: 'wake' });
      }
    },
    stopBots: async () => {
      for (const bot of living()) bot.send({ do: 'stop' });
      await Promise.all(bots.map(({ exited }) => exited));
    },
    close: async () => {
      await Promise.all(living().map(({ kill }) => kill()));
      await simulators.stop();
    },
  };
}

export type ControlledSandbox = Awaited<ReturnType<typeof startControlledSandbox>>;
