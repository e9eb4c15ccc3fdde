import { readFileSync } from 'node:fs';
import { startAlertsSimulator } from '../../sandbox/alerts/simulator.ts';
import { startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import { ALERTS_TOKEN, CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { startSlackSimulator } from '../../sandbox/slack/server.ts';
import { startSide } from '../side.ts';
import { organization, workspace, yaml } from './company.ts';

const SECRET = 'a-signing-secret-of-the-measurement';

/** The stand-ins in this process, where they can be looked into, and the bot in one of its own. */
export async function openStage(folder: string) {
  const manifest = JSON.parse(
    readFileSync(new URL('../../manifest.json', import.meta.url), 'utf8'),
  );
  const [cloud, alerts, slack] = await Promise.all([
    startCloudSimulator({ organization: organization() }),
    startAlertsSimulator(),
    startSlackSimulator({ manifest, delivery: { mode: 'http', signingSecret: SECRET }, workspace }),
  ]);
  const env = {
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_SIGNING_SECRET: SECRET,
    SLACK_API_URL: slack.apiUrl,
    CLOUD_API_URL: cloud.url,
    CLOUD_API_KEY_ID: CLOUD_KEY.id,
    CLOUD_API_KEY_SECRET: CLOUD_KEY.secret,
    ALERTS_API_URL: alerts.url,
    ALERTS_API_TOKEN: ALERTS_TOKEN,
    // Warnings are what the faults are for; they would bury the outcome.
    LOG_LEVEL: 'fatal',
  };
  const bot = await startSide('signalbox', { env, folder, profile: null, yaml: yaml() });
  slack.deliverTo(`${bot.origin}/slack/events`);
  const close = async () => {
    await bot.stop();
    await Promise.all([slack.stop(), cloud.stop(), alerts.stop()]);
  };
  return { slack, cloud, alerts, bot, close };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;
