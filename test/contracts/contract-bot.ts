import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { parse, stringify } from 'yaml';
import { type AlertsSimulator, startAlertsSimulator } from '../../sandbox/alerts/simulator.ts';
import { type CloudSimulator, startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { ALERTS_TOKEN, CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import type { OrganizationSeed } from '../../sandbox/seed/shapes.ts';
import { startSlackSimulator } from '../../sandbox/slack/server.ts';
import { startApp } from '../../src/app.ts';
import { commandNames } from '../../src/commands/index.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { createTime } from './time.ts';
import { typingUser } from './typing-user.ts';

const NOON = new Date('2026-11-20T12:00:00.000Z');
const SECRET = 'a-signing-secret-of-the-tests';
const A_WHILE_MS = 600_000;

export interface ContractBotOptions {
  /** Servers to use in place of the simulators, for example a recorder. */
  readonly urls?: { readonly cloud: string; readonly alerts: string };
  readonly organization?: OrganizationSeed;
  /** The plan and the tier, in the configuration and in the cloud simulator. */
  readonly of?: Partial<Pick<OrganizationSeed, 'plan' | 'tier'>>;
  /** Runs before the bot starts, because the bot reads the usage report at once. */
  readonly prepare?: (servers: {
    readonly cloud: CloudSimulator;
    readonly alerts: AlertsSimulator;
  }) => void;
  readonly file?: (file: ConfigFile) => ConfigFile;
}

/** signalbox.yaml as it is parsed. */
export type ConfigFile = Readonly<Record<string, unknown>>;

/**
 * The real bot for the tests of one file: it stays open between them, nothing needs an approval, and
 * time passes only as far as a server or the bot waits for it.
 */
export async function openContractBot(options: ContractBotOptions = {}) {
  const time = createTime(NOON);
  const organization = { ...(options.organization ?? ORGANIZATION), ...options.of };
  const simulated = { now: time.now, wait: async (ms: number) => time.pass(ms) };
  const cloud = await startCloudSimulator({ ...simulated, organization });
  const alerts = await startAlertsSimulator(simulated);
  options.prepare?.({ cloud, alerts });
  const slack = await startSlackSimulator({
    manifest: JSON.parse(readFileSync('manifest.json', 'utf8')),
    delivery: { mode: 'http', signingSecret: SECRET },
    now: time.now,
  });
  const { urls = { cloud: cloud.url, alerts: alerts.url } } = options;
  const config = configOf({ slack, urls }, options);
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const app = await startApp({ config, version: 'test', log, now: time.now, clock: time.clock });
  if (!app.ok) throw new Error(JSON.stringify(app.problems));
  slack.deliverTo(`http://127.0.0.1:${app.port}/slack/events`);

  return {
    cloud,
    alerts,
    slack,
    time,
    wake: app.wake,
    ...typingUser(slack, () => time.pass(A_WHILE_MS)),
    close: async () => {
      await app.stop();
      await Promise.all([slack.stop(), cloud.stop(), alerts.stop()]);
    },
  };
}

export type ContractBot = Awaited<ReturnType<typeof openContractBot>>;

interface Endpoints {
  readonly slack: { readonly botToken: string; readonly apiUrl: string };
  readonly urls: { readonly cloud: string; readonly alerts: string };
}

function configOf({ slack, urls }: Endpoints, { of, file: edit }: ContractBotOptions) {
  const plain: ConfigFile = withoutApprovals(parse(sandboxYaml()));
  const file = { ...plain, organization: { ...Object(plain.organization), ...of } };
  const read = loadConfig({
    env: {
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_SIGNING_SECRET: SECRET,
      SLACK_API_URL: slack.apiUrl,
      PORT: '0',
      CLOUD_API_URL: urls.cloud,
      CLOUD_API_KEY_ID: CLOUD_KEY.id,
      CLOUD_API_KEY_SECRET: CLOUD_KEY.secret,
      ALERTS_API_URL: urls.alerts,
      ALERTS_API_TOKEN: ALERTS_TOKEN,
      DATABASE_URL: 'file::memory:',
      SIGNALBOX_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
    readFile: () => stringify(edit ? edit(file) : file),
    commands: commandNames,
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems, null, 2));
  return read.config;
}

function withoutApprovals(file: ConfigFile & { policy?: readonly object[] }): ConfigFile {
  const rules = file.policy ?? [];
  return {
    ...file,
    policy: rules.map((rule) => ({ ...rule, approvals: undefined, reason: undefined })),
  };
}
