import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAlertsSimulator } from '../../../sandbox/alerts/simulator.ts';
import { startCloudSimulator } from '../../../sandbox/cloud/simulator.ts';
import { sandboxYaml } from '../../../sandbox/configuration.ts';
import { ALERTS_TOKEN, CLOUD_KEY } from '../../../sandbox/seed/organization.ts';
import type { OrganizationSeed } from '../../../sandbox/seed/shapes.ts';
import { startSlackSimulator } from '../../../sandbox/slack/server.ts';
import type { Workspace } from '../../../sandbox/slack/workspace.ts';
import { type BotProcess, startBot } from './child.ts';

export const NOON = new Date('2026-11-20T12:00:00.000Z');
const SECRET = 'a-signing-secret-of-the-tests';
export const AUDIT_KEY = Buffer.alloc(32, 7);

export interface StageOptions {
  readonly databaseUrl: string;
  readonly organization?: OrganizationSeed;
  readonly workspace?: Workspace;
  readonly yaml?: string;
}

/** The stand-ins in this process, and the bot between them in as many others as are wanted. */
export async function openProcessStage(options: StageOptions) {
  const { organization, workspace } = options;
  const clock = { now: NOON };
  const now = () => clock.now;
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-chaos-'));
  const cloud = await startCloudSimulator({ now, ...(organization ? { organization } : {}) });
  const alerts = await startAlertsSimulator({ now });
  const slack = await startSlackSimulator({
    manifest: JSON.parse(readFileSync('manifest.json', 'utf8')),
    delivery: { mode: 'http', signingSecret: SECRET },
    now,
    ...(workspace ? { workspace } : {}),
  });
  writeFileSync(join(folder, 'signalbox.yaml'), options.yaml ?? sandboxYaml());
  const env = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: SECRET,
    SLACK_API_URL: slack.apiUrl,
    PORT: '0',
    CLOUD_API_URL: cloud.url,
    CLOUD_API_KEY_ID: CLOUD_KEY.id,
    CLOUD_API_KEY_SECRET: CLOUD_KEY.secret,
    ALERTS_API_URL: alerts.url,
    ALERTS_API_TOKEN: ALERTS_TOKEN,
    DATABASE_URL: options.databaseUrl,
    SIGNALBOX_KEY: AUDIT_KEY.toString('base64'),
    SIGNALBOX_CONFIG: join(folder, 'signalbox.yaml'),
  };
  const bots: BotProcess[] = [];
  const living = () => bots.filter(({ isAlive }) => isAlive());

  async function start(death = ''): Promise<BotProcess | null> {
    const own = { ...env, CHAOS_NOW: clock.now.toISOString(), CHAOS_DEATH: death };
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
    /** Time passes for everybody, and whoever lives looks what is due. */
    pass: (ms: number) => {
      clock.now = new Date(clock.now.getTime() + ms);
      for (const bot of living()) {
        bot.tell({ now: clock.now.toISOString() });
        bot.tell({ do: 'wake' });
      }
    },
    stopBots: async () => {
      for (const bot of living()) bot.tell({ do: 'stop' });
      await Promise.all(bots.map(({ died }) => died));
    },
    close: async () => {
      await Promise.all(living().map(({ kill }) => kill()));
      await Promise.all([slack.stop(), cloud.stop(), alerts.stop()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type ProcessStage = Awaited<ReturnType<typeof openProcessStage>>;
