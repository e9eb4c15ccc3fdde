import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAlertsSimulator } from '../../sandbox/alerts/simulator.ts';
import type { Wait } from '../../sandbox/api/simulator.ts';
import { startCloudFront } from '../../sandbox/cloud/front.ts';
import { startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import type { Json } from '../../sandbox/json.ts';
import {
  ALERTS_TOKEN,
  cloudKeys,
  ORGANIZATION,
  OTHER_KEY,
} from '../../sandbox/seed/organization.ts';
import type { OrganizationSeed } from '../../sandbox/seed/shapes.ts';
import { type SlackOptions, startSlackSimulator } from '../../sandbox/slack/server.ts';
import type { Workspace } from '../../sandbox/slack/workspace/workspace.ts';

export const SIGNING_SECRET = 'a-signing-secret-of-the-tests';
export const AUDIT_KEY = Buffer.alloc(32, 7);
export const MANIFEST: Json = JSON.parse(
  readFileSync(new URL('../../manifest.json', import.meta.url), 'utf8'),
);

/**
 * How long Slack waits for the bot in tests. In reality it is 3 s, which a loaded machine exceeds, and what is late is
 * lost: Slack does not send it again.
 */
export const SLACK_TIMEOUT_MS = 60_000;

export interface SimulatorOptions {
  /** The clock of all simulators; the system clock by default. */
  readonly now?: () => Date;
  /** How the delays of both APIs pass. */
  readonly wait?: Wait;
  readonly delivery?: 'http' | 'socket';
  readonly organization?: OrganizationSeed;
  /** A second organization with its own simulator, behind the address of the first one. */
  readonly other?: OrganizationSeed;
  readonly workspace?: Workspace;
  /** Other options of the Slack simulator. */
  readonly slack?: Partial<SlackOptions>;
}

/** Slack and both APIs, and the environment with which a bot connects to them. */
export async function startSimulators(options: SimulatorOptions = {}) {
  const { delivery = 'http', organization = ORGANIZATION, other: second, workspace } = options;
  const { now, wait } = options;
  const clock = now ? { now } : {};
  const timing = { ...clock, ...(wait ? { wait } : {}) };
  const [cloud, other, alerts, slack] = await Promise.all([
    startCloudSimulator({ ...timing, organization }),
    second ? startCloudSimulator({ ...timing, organization: second, key: OTHER_KEY }) : null,
    startAlertsSimulator(timing),
    startSlackSimulator({
      manifest: MANIFEST,
      ackTimeoutMs: SLACK_TIMEOUT_MS,
      // By the clock of the test, and by the clock of the machine if the bot is a process.
      ...(now ? {} : { triggerTimeoutMs: SLACK_TIMEOUT_MS }),
      delivery:
        delivery === 'http' ? { mode: 'http', signingSecret: SIGNING_SECRET } : { mode: 'socket' },
      ...clock,
      ...(workspace ? { workspace } : {}),
      ...options.slack,
    }),
  ]);
  const front =
    second && other
      ? await startCloudFront([
          { id: organization.id, cloud },
          { id: second.id, cloud: other },
        ])
      : null;
  const env = {
    SLACK_BOT_TOKEN: slack.botToken,
    ...(delivery === 'http'
      ? { SLACK_SIGNING_SECRET: SIGNING_SECRET }
      : { SLACK_APP_TOKEN: slack.appToken }),
    SLACK_API_URL: slack.apiUrl,
    PORT: '0',
    CLOUD_API_URL: front?.url ?? cloud.url,
    ...cloudKeys(front ? 2 : 1),
    ALERTS_API_URL: alerts.url,
    ALERTS_API_TOKEN: ALERTS_TOKEN,
    SIGNALBOX_KEY: AUDIT_KEY.toString('base64'),
  };
  const stop = async () => {
    await front?.stop();
    await Promise.all([slack.stop(), cloud.stop(), other?.stop(), alerts.stop()]);
  };
  /** Delivers Slack's requests to the bot at this port or URL. */
  const deliverTo = (bot: { readonly url: string }) => slack.deliverTo(`${bot.url}/slack/events`);
  return { cloud, other, alerts, slack, env, deliverTo, stop };
}

export interface ProcessOptions extends SimulatorOptions {
  readonly databaseUrl: string;
  /** The configuration file; by default the one of the sandbox. */
  readonly yaml?: string;
}

/** The simulators, and the environment and configuration file of a bot in a process of its own. */
export async function startSimulatorsForProcess({ databaseUrl, yaml, ...options }: ProcessOptions) {
  const simulators = await startSimulators(options);
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-test-'));
  const file = join(folder, 'signalbox.yaml');
  const writeConfig = (text: string) => writeFileSync(file, text);
  writeConfig(yaml ?? sandboxYaml());
  return {
    ...simulators,
    writeConfig,
    env: { ...simulators.env, DATABASE_URL: databaseUrl, SIGNALBOX_CONFIG: file },
    stop: async () => {
      await simulators.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
