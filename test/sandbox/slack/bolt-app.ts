import type { AddressInfo } from 'node:net';
import { App, HTTPReceiver, LogLevel, SocketModeReceiver } from '@slack/bolt';
import { onTestFinished } from 'vitest';
import type { Json } from '../../../sandbox/json.ts';
import { type SlackOptions, startSlackSimulator } from '../../../sandbox/slack/server.ts';
import { SLACK_TIMEOUT_MS } from '../../harness/simulators.ts';

export const SECRET = 'a-signing-secret-for-tests';
export const ana = 'U0ANA00001';
export const ben = 'U0BEN00001';
export const cleo = 'U0CLEO0001';
export const dora = 'U0DORA0001';
export const emil = 'U0EMIL0001';
export const gina = 'U0GINA0001';
export const sven = 'U0SVEN0001';
export const hugo = 'U0HUGO0001';
export const approvals = 'C0APPROVALS';
export const general = 'C0GENERAL01';
export const partners = 'C0PARTNERS1';

export const manifest: Json = {
  features: {
    app_home: { home_tab_enabled: true, messages_tab_enabled: true },
    slash_commands: [
      { command: '/service', description: 'Services', usage_hint: 'stop <service>' },
    ],
    shortcuts: [
      { name: 'Stop', type: 'global', callback_id: 'service.stop', description: 'Stop one' },
      { name: 'Ask', type: 'message', callback_id: 'ask', description: 'About a message' },
    ],
  },
  oauth_config: {
    scopes: {
      bot: [
        'commands',
        'chat:write',
        'users:read',
        'usergroups:read',
        'channels:read',
        'files:write',
        'channels:history',
        'im:write',
      ],
    },
  },
  settings: {
    event_subscriptions: {
      bot_events: [
        'app_home_opened',
        'subteam_updated',
        'subteam_members_changed',
        'user_change',
        'team_join',
      ],
    },
  },
};

/** A clock that moves only when `advance` is called. */
export function clock(start = '2026-11-20T12:00:00Z') {
  let at = new Date(start).getTime();
  return {
    now: () => new Date(at),
    advance: (ms: number) => {
      at += ms;
    },
  };
}

/** A Slack simulator that stops at the end of the test. */
export async function startSlack(options: Partial<SlackOptions> = {}) {
  const slack = await startSlackSimulator({
    manifest,
    delivery: { mode: 'http', signingSecret: SECRET },
    ackTimeoutMs: SLACK_TIMEOUT_MS,
    wait: async () => {},
    ...options,
  });
  onTestFinished(slack.stop);
  return slack;
}

type SlackForTest = Awaited<ReturnType<typeof startSlack>>;
export type BoltApp = App;

export const quiet = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  setName() {},
  getLevel: () => LogLevel.ERROR,
};

/** A Bolt app over HTTP, to which the simulator delivers from now on. */
export async function httpBot(slack: SlackForTest, listen: (app: BoltApp) => void) {
  const receiver = new HTTPReceiver({ signingSecret: SECRET, port: 0, logger: quiet });
  const app = await appOn(slack, receiver, listen);
  const server = await receiver.start(0);
  // A listening TCP server always has an address of this shape.
  const { port } = server.address() as AddressInfo;
  slack.deliverTo(`http://127.0.0.1:${port}/slack/events`);
  onTestFinished(() => receiver.stop());
  return app;
}

export async function socketBot(
  slack: SlackForTest,
  listen: (app: BoltApp) => void,
  clientPingTimeout = 5000,
) {
  const receiver = new SocketModeReceiver({
    appToken: slack.appToken,
    logger: quiet,
    clientPingTimeout,
    installerOptions: { clientOptions: { slackApiUrl: slack.apiUrl } },
  });
  const app = await appOn(slack, receiver, listen);
  await receiver.start();
  onTestFinished(() => receiver.client.disconnect());
  return app;
}

async function appOn(
  slack: SlackForTest,
  receiver: HTTPReceiver | SocketModeReceiver,
  listen: (app: BoltApp) => void,
) {
  const app = new App({
    token: slack.botToken,
    receiver,
    deferInitialization: true,
    logger: quiet,
    clientOptions: { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 } },
  });
  listen(app);
  await app.init();
  return app;
}
