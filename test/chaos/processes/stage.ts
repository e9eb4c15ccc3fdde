import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sandboxYaml } from '../../../sandbox/configuration.ts';
import type { OrganizationSeed } from '../../../sandbox/seed/shapes.ts';
import type { Workspace } from '../../../sandbox/slack/workspace.ts';
import { AUDIT_KEY, startSimulators } from '../../harness/simulators.ts';
import { type BotProcess, startBot } from './child.ts';

export const NOON = new Date('2026-11-20T12:00:00.000Z');

export interface StageOptions {
  readonly databaseUrl: string;
  readonly organization?: OrganizationSeed;
  readonly workspace?: Workspace;
  readonly yaml?: string;
}

/** Starts the simulators in this process; `start` adds a bot in a child process. */
export async function openProcessStage(options: StageOptions) {
  const { organization, workspace } = options;
  const clock = { now: NOON };
  const now = () => clock.now;
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-chaos-'));
  const simulators = await startSimulators({
    now,
    ...(organization ? { organization } : {}),
    ...(workspace ? { workspace } : {}),
  });
  const { slack, cloud } = simulators;
  writeFileSync(join(folder, 'signalbox.yaml'), options.yaml ?? sandboxYaml());
  const env = {
    ...simulators.env,
    DATABASE_URL: options.databaseUrl,
    SIGNALBOX_KEY: AUDIT_KEY.toString('base64'),
    SIGNALBOX_CONFIG: join(folder, 'signalbox.yaml'),
  };
  const bots: BotProcess[] = [];
  const living = () => bots.filter(({ isAlive }) => isAlive());

  async function start(death = ''): Promise<BotProcess | null> {
    const own = { ...env, CHAOS_NOW: clock.now.toISOString(), CHAOS_CRASH: death };
    const bot = await startBot(own);
    if (bot) bots.push(bot);
    return bot;
  }

  return {
    slack,
    cloud,
    clock,
    start,
    living,
    deliverTo: (bot: BotProcess) => slack.deliverTo(`http://127.0.0.1:${bot.port}/slack/events`),
    /** Advances the clock of all processes and wakes their background loops. */
    pass: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
      for (const bot of living()) {
        bot.tell({ now: clock.now.toISOString() });
        bot.tell({ do: 'wake' });
      }
    },
    stopBots: async () => {
      for (const bot of living()) bot.tell({ do: 'stop' });
      await Promise.all(bots.map(({ exited }) => exited));
    },
    close: async () => {
      await Promise.all(living().map(({ kill }) => kill()));
      await simulators.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type ProcessStage = Awaited<ReturnType<typeof openProcessStage>>;
