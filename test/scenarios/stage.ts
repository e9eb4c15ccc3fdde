import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { startAlertsSimulator } from '../../sandbox/alerts/simulator.ts';
import { startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import type { Json } from '../../sandbox/json.ts';
import { ALERTS_TOKEN, CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import type { OrganizationSeed } from '../../sandbox/seed/shapes.ts';
import { elementsIn } from '../../sandbox/slack/input-state.ts';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import { startSlackSimulator } from '../../sandbox/slack/server.ts';
import type { Workspace } from '../../sandbox/slack/workspace.ts';
import { startApp } from '../../src/app.ts';
import { commandNames } from '../../src/commands/index.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import type { Clock } from '../../src/http/clock.ts';
import { createLog } from '../../src/observability/log.ts';

export const NOON = new Date('2026-11-20T12:00:00.000Z');
export const SECRET = 'a-signing-secret-of-the-tests';

export const ANA = 'U0ANA00001';
export const FINN = 'U0FINN0001';
export const BEN = 'U0BEN00001';
export const CLEO = 'U0CLEO0001';
export const GUS = 'U0GUS00001';
export const DORA = 'U0DORA0001';
export const EMIL = 'U0EMIL0001';
export const GINA = 'U0GINA0001';
export const SVEN = 'U0SVEN0001';

export interface StageOptions {
  readonly databaseUrl?: string;
  readonly delivery?: 'http' | 'socket';
  readonly workspace?: Workspace;
  readonly organization?: OrganizationSeed;
  /** Slack applies its rate limits, by the clock of the stage. */
  readonly rateLimits?: boolean;
  readonly log?: Logger;
  /** Puts a proxy between the bot and an API: gets the API's URL and returns the proxy's. */
  readonly through?: (url: string) => Promise<string>;
  /** Edits the configuration file before the bot reads it. */
  readonly yaml?: (file: Record<string, never>) => unknown;
}

/** The real bot with simulators of Slack and both APIs, all on one clock. */
export async function openStage(options: StageOptions = {}) {
  const clock = { now: NOON };
  const now = () => clock.now;
  const { delivery = 'http', databaseUrl = 'file::memory:', workspace, organization } = options;
  const cloud = await startCloudSimulator({ now, ...(organization ? { organization } : {}) });
  const alerts = await startAlertsSimulator({ now });
  const slack = await startSlackSimulator({
    manifest: JSON.parse(readFileSync('manifest.json', 'utf8')),
    delivery: delivery === 'http' ? { mode: 'http', signingSecret: SECRET } : { mode: 'socket' },
    now,
    ...(workspace ? { workspace } : {}),
    ...(options.rateLimits ? { rateLimits: true } : {}),
  });
  const { through = async (url: string) => url } = options;
  const env = {
    SLACK_BOT_TOKEN: slack.botToken,
    ...(delivery === 'http'
      ? { SLACK_SIGNING_SECRET: SECRET }
      : { SLACK_APP_TOKEN: slack.appToken }),
    SLACK_API_URL: slack.apiUrl,
    PORT: '0',
    CLOUD_API_URL: await through(cloud.url),
    CLOUD_API_KEY_ID: CLOUD_KEY.id,
    CLOUD_API_KEY_SECRET: CLOUD_KEY.secret,
    ALERTS_API_URL: await through(alerts.url),
    ALERTS_API_TOKEN: ALERTS_TOKEN,
    DATABASE_URL: databaseUrl,
    SIGNALBOX_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const startOne = (yaml = options.yaml) => {
    const config = loaded(env, yaml);
    const { log = createLog({ level: process.env.TEST_LOG ?? 'silent' }) } = options;
    return startApp({ config, version: 'test', log, now, clock: clientClock(now) });
  };
  const start = async (yaml = options.yaml) => {
    const started = await startOne(yaml);
    if (started.ok) slack.deliverTo(`http://127.0.0.1:${started.port}/slack/events`);
    return started;
  };
  let app = await start();
  // Waits for the daily anchor in the audit channel, so that tests do not count it.
  if (app.ok && anchorsIn(options)) {
    await expect.poll(() => slack.messages('db-audit').length, { interval: 5 }).toBeGreaterThan(0);
  }
  onTestFinished(async () => {
    if (app.ok) await app.stop();
    await Promise.all([slack.stop(), cloud.stop(), alerts.stop()]);
  });

  return {
    slack,
    cloud,
    alerts,
    clock,
    started: app,
    config: loaded(env, options.yaml),
    url: app.ok ? `http://127.0.0.1:${app.port}` : '',
    wake: () => {
      if (app.ok) app.wake();
    },
    /** Starts a second bot on the same database. */
    replica: async () => {
      const other = await startOne();
      if (!other.ok) throw new Error(JSON.stringify(other.problems));
      onTestFinished(other.stop);
      return other;
    },
    /** Stops the bot until `restart`. */
    down: async () => {
      if (app.ok) await app.stop();
      app = { ok: false, problems: [], lasting: false };
    },
    /** Reloads an edited configuration file without a restart. */
    reload: async (yaml: StageOptions['yaml']) => {
      if (!app.ok) throw new Error('It does not run');
      return app.reload(loaded(env, yaml));
    },
    /** Restarts the bot, for example with an edited policy. */
    restart: async (yaml = options.yaml) => {
      if (app.ok) await app.stop();
      app = await start(yaml);
      if (!app.ok) throw new Error(JSON.stringify(app.problems));
    },
    ...peopleOf(slack),
  };
}

function anchorsIn({ yaml, workspace }: StageOptions): boolean {
  const file = yaml ? yaml(parse(sandboxYaml())) : parse(sandboxYaml());
  return !workspace && file?.channels?.audit === '#db-audit';
}

// The clients use the clock of the stage; a sleep returns at once.
function clientClock(now: () => Date): Clock {
  return {
    now: () => now().getTime(),
    sleep: async () => undefined,
    timeout: (ms) => AbortSignal.timeout(Math.ceil(ms)),
    random: () => 0.5,
  };
}

export type Stage = Awaited<ReturnType<typeof openStage>>;

function loaded(env: Readonly<Record<string, string>>, yaml: StageOptions['yaml']) {
  const text = yaml ? stringify(yaml(parse(sandboxYaml()))) : sandboxYaml();
  const read = loadConfig({
    env,
    readFile: () => text,
    commands: commandNames,
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems, null, 2));
  return read.config;
}

type Slack = Awaited<ReturnType<typeof startSlackSimulator>>;

function peopleOf(slack: Slack) {
  const of = (channel: string, as?: string) =>
    slack
      .messages(channel)
      .filter(({ ephemeralFor }) => ephemeralFor === null || ephemeralFor === as);
  const privately = (as: string) =>
    slack
      .clientState(as)
      .messages.filter((message) => message.ephemeral || message.channel[0] === 'D');
  return {
    /** Waits for a private message with these words and returns the newest one. */
    privateWord: async (as: string, words: string) => {
      await expect
        .poll(() => textsOf(privately(as)))
        .toContainEqual(expect.stringContaining(words));
      return privately(as).findLast((message) => textOf(message).includes(words));
    },
    card: async (words: string, channel = 'db-approvals') => {
      const cards = () => of(channel).filter(({ threadTs }) => threadTs === null);
      await expect.poll(() => textsOf(cards())).toContainEqual(expect.stringContaining(words));
      return cards().findLast((message) => textOf(message).includes(words));
    },
    /** Waits for a modal, which opens after the click was acknowledged. */
    modal: async (as: string, callbackId: string) => {
      const top = () => slack.clientState(as).views.at(-1);
      await expect.poll(() => top()?.callbackId).toBe(callbackId);
      return top()?.id ?? '';
    },
    press: (as: string, message: Pick<StoredMessage, 'channel' | 'ts'> | undefined, id: string) =>
      slack.click(as, placeOf(message), id),
  };
}

function placeOf(message: { channel: string; ts: string } | undefined) {
  if (!message) throw new Error('There is no such message');
  return { in: 'message', channel: message.channel, ts: message.ts } as const;
}

interface Readable {
  readonly text: string;
  readonly blocks: readonly Json[];
}

/** The text and the blocks of a message as one string. */
export function textOf({ text, blocks }: Readable): string {
  return `${text}\n${JSON.stringify(blocks)}`;
}

function textsOf(messages: readonly Readable[]): string[] {
  return messages.map(textOf);
}

export function buttonsOf({ blocks }: Readable): string[] {
  return elementsIn(blocks).map(({ element }) => String(element.action_id));
}
