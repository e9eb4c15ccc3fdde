import { pino } from 'pino';
import type { AlertsSimulator } from '../../sandbox/alerts/simulator.ts';
import type { CloudSimulator } from '../../sandbox/cloud/simulator.ts';
import { ORGANIZATION } from '../../sandbox/seed/organization.ts';
import type { OrganizationSeed } from '../../sandbox/seed/shapes.ts';
import { startApp } from '../../src/app.ts';
import { testConfig } from '../harness/config.ts';
import { startSimulators } from '../harness/simulators.ts';
import { NOON } from '../harness/users.ts';
import { createTime } from './time.ts';
import { typingUser } from './typing-user.ts';

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
  const { of, file: edit = (file) => file } = options;
  const time = createTime(NOON);
  const simulators = await startSimulators({
    now: time.now,
    wait: async (ms) => time.pass(ms),
    organization: { ...(options.organization ?? ORGANIZATION), ...of },
  });
  const { cloud, alerts, slack, env } = simulators;
  options.prepare?.({ cloud, alerts });
  const { urls = { cloud: cloud.url, alerts: alerts.url } } = options;
  const config = testConfig(
    {
      ...env,
      CLOUD_API_URL: urls.cloud,
      ALERTS_API_URL: urls.alerts,
      DATABASE_URL: 'file::memory:',
    },
    (file: ConfigFile) =>
      edit({
        ...withoutApprovals(file),
        organization: { ...Object(file.organization), ...of },
      }),
  );
  const log = pino({ level: process.env.TEST_LOG ?? 'silent' });
  const app = await startApp({ config, version: 'test', log, now: time.now, clock: time.clock });
  if (!app.ok) throw new Error(JSON.stringify(app.problems));
  simulators.deliverTo({ url: `http://127.0.0.1:${app.port}` });

  return {
    cloud,
    alerts,
    slack,
    time,
    wake: app.wake,
    ...typingUser(slack, () => time.pass(A_WHILE_MS)),
    close: async () => {
      await app.stop();
      await simulators.stop();
    },
  };
}

export type ContractBot = Awaited<ReturnType<typeof openContractBot>>;

function withoutApprovals(file: ConfigFile & { policy?: readonly object[] }): ConfigFile {
  const rules = file.policy ?? [];
  return {
    ...file,
    policy: rules.map((rule) => ({ ...rule, approvals: undefined, reason: undefined })),
  };
}
