import { readFileSync } from 'node:fs';
import { startAlertsSimulator } from '../../sandbox/alerts/simulator.ts';
import type { Wait } from '../../sandbox/api/simulator.ts';
import { startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import type { Json } from '../../sandbox/json.ts';
import { ALERTS_TOKEN, CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import type { OrganizationSeed } from '../../sandbox/seed/shapes.ts';
import { startSlackSimulator } from '../../sandbox/slack/server.ts';
import type { Workspace } from '../../sandbox/slack/workspace.ts';

export const SIGNING_SECRET = 'a-signing-secret-of-the-tests';
export const AUDIT_KEY = Buffer.alloc(32, 7);
export const MANIFEST: Json = JSON.parse(
  readFileSync(new URL('../../manifest.json', import.meta.url), 'utf8'),
);

export interface SimulatorOptions {
  /** The clock of all simulators; the system clock by default. */
  readonly now?: () => Date;
  /** How the delays of both APIs pass. */
  readonly wait?: Wait;
  readonly delivery?: 'http' | 'socket';
  readonly manifest?: Json;
  readonly organization?: OrganizationSeed;
  readonly workspace?: Workspace;
}

/** Slack and both APIs, and the environment with which a bot connects to them. */
export async function startSimulators(options: SimulatorOptions = {}) {
  const { delivery = 'http', manifest = MANIFEST, organization, workspace, now, wait } = options;
  const timing = { ...(now ? { now } : {}), ...(wait ? { wait } : {}) };
  const [cloud, alerts, slack] = await Promise.all([
    startCloudSimulator({ ...timing, ...(organization ? { organization } : {}) }),
    startAlertsSimulator(timing),
    startSlackSimulator({
      manifest,
      delivery:
        delivery === 'http' ? { mode: 'http', signingSecret: SIGNING_SECRET } : { mode: 'socket' },
      ...(now ? { now } : {}),
      ...(workspace ? { workspace } : {}),
    }),
  ]);
  const env = {
    SLACK_BOT_TOKEN: slack.botToken,
    ...(delivery === 'http'
      ? { SLACK_SIGNING_SECRET: SIGNING_SECRET }
      : { SLACK_APP_TOKEN: slack.appToken }),
    SLACK_API_URL: slack.apiUrl,
    PORT: '0',
    CLOUD_API_URL: cloud.url,
    CLOUD_API_KEY_ID: CLOUD_KEY.id,
    CLOUD_API_KEY_SECRET: CLOUD_KEY.secret,
    ALERTS_API_URL: alerts.url,
    ALERTS_API_TOKEN: ALERTS_TOKEN,
  };
  const stop = async () => void (await Promise.all([slack.stop(), cloud.stop(), alerts.stop()]));
  return { cloud, alerts, slack, env, stop };
}
