import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Router } from 'express';
import { startAlertsSimulator } from './alerts/simulator.ts';
import { panelRoutes } from './api/panel.ts';
import type { Simulator } from './api/simulator.ts';
import { type ClockMover, createClockMover } from './clock/clock-mover.ts';
import { clockRoutes } from './clock/routes.ts';
import { createWorldClock } from './clock/world-clock.ts';
import { startCloudFront } from './cloud/front.ts';
import { startCloudSimulator } from './cloud/simulator.ts';
import { sandboxYamlWithReports } from './configuration.ts';
import { freePort } from './free-port.ts';
import { guideProgress, guideRoutes } from './guide/guide.ts';
import { historyBegin, playHistory } from './history.ts';
import {
  ALERTS_TOKEN,
  cloudKeys,
  NAMES,
  ORGANIZATION,
  OTHER_KEY,
  otherOrganization,
  SANDBOX_ORGANIZATION,
} from './seed/organization.ts';
import { startSlackSimulator } from './slack/server.ts';
import type { SlackSimulator } from './slack/simulator.ts';
import type { RateLimits } from './slack/web-api/rate-limits.ts';
import { sandboxWorkspace } from './slack/workspace/sandbox-workspace.ts';
import type { Workspace } from './slack/workspace/workspace.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
// With hard limits a start waits up to 60 s for its first Socket Mode connection.
const READY_WITHIN_MS = 90_000;

export interface SandboxOptions {
  readonly port: number;
  readonly delivery: 'http' | 'socket';
  readonly rateLimits?: RateLimits;
  readonly workspace?: Workspace;
  /** Two: a second one has services of the same names. */
  readonly organizations?: 1 | 2;
  /** Shows money beside credits. */
  readonly priced?: boolean;
  /** Begins the day before, so that there is a finished change and a digest. False by default. */
  readonly history?: boolean;
  /** How long Slack waits for an acknowledgement or a modal; 3000 ms by default. Tests wait longer. */
  readonly slackTimeoutMs?: number;
  /** Where the clock of the whole sandbox begins; the time of this machine by default. */
  readonly at?: Date;
  /** The bot; its source by default. */
  readonly program?: string;
}

/** Starts Signalbox with simulators of Slack and both APIs, all on this machine. */
export async function startSandbox(options: SandboxOptions) {
  const {
    port,
    delivery,
    rateLimits = 'with-bursts',
    workspace = sandboxWorkspace,
    priced = false,
    organizations = 1,
    history = false,
    slackTimeoutMs = 3000,
    program = join(ROOT, 'src/main.ts'),
  } = options;
  const startedAt = options.at ?? new Date();
  const clock = createWorldClock(history ? historyBegin(startedAt) : startedAt);
  const { now } = clock;
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-sandbox-'));
  const [cloud, alerts, second] = await Promise.all([
    startCloudSimulator({ organization: SANDBOX_ORGANIZATION, now }),
    startAlertsSimulator({ now }),
    organizations > 1
      ? startCloudSimulator({ organization: otherOrganization(), key: OTHER_KEY, now })
      : null,
  ]);
  const seeds = [ORGANIZATION, otherOrganization()] as const;
  const front =
    second &&
    (await startCloudFront([
      { id: seeds[0].id, cloud },
      { id: seeds[1].id, cloud: second },
    ]));
  const stopApis = () => Promise.all([front?.stop(), second?.stop(), cloud.stop(), alerts.stop()]);
  const signingSecret = randomBytes(16).toString('hex');
  const botPort = await freePort();
  const webhookSecret = randomBytes(24).toString('hex');
  alerts.deliverTo(`http://127.0.0.1:${botPort}/alerts/${webhookSecret}`);
  const mcpUrl = `http://127.0.0.1:${botPort}/mcp`;
  const eventsUrl = `http://127.0.0.1:${botPort}/slack/events`;
  const page = { changed: () => {} };
  const guide = { since: startedAt };
  const slack: SlackSimulator = await startSlackSimulator({
    port,
    manifest: JSON.parse(readFileSync(join(ROOT, 'manifest.json'), 'utf8')),
    delivery: delivery === 'http' ? { mode: 'http', eventsUrl, signingSecret } : { mode: 'socket' },
    rateLimits,
    workspace,
    ackTimeoutMs: slackTimeoutMs,
    triggerTimeoutMs: slackTimeoutMs,
    page: join(ROOT, 'sandbox/page/dist'),
    ...{ now, signedAt: now, mcp: { url: mcpUrl, signingSecret, signedAt: now } },
    routes: Router()
      .use(panelRoutes({ cloud, alerts, changed: () => page.changed() }))
      .use(clockRoutes(clock, () => mover))
      .use(guideRoutes(() => guideProgress({ ...slack, effects: cloud.effects }, guide.since))),
  }).catch(async (error: unknown) => {
    await stopApis();
    rmSync(folder, { recursive: true });
    throw error;
  });
  page.changed = slack.changed;

  const { orgWide = false } = workspace;
  const yaml = sandboxYamlWithReports(
    { priced, mcpUrl, orgWide, organizations: second ? seeds : undefined },
    now(),
  );
  writeFileSync(join(folder, 'signalbox.yaml'), yaml);
  const env = {
    SLACK_BOT_TOKEN: slack.botToken,
    // Slackbot signs its calls with Socket Mode too.
    SLACK_SIGNING_SECRET: signingSecret,
    ...(delivery === 'socket' && { SLACK_APP_TOKEN: slack.appToken }),
    SLACK_API_URL: slack.apiUrl,
    PORT: String(botPort),
    CLOUD_API_URL: front?.url ?? cloud.url,
    ...cloudKeys(organizations),
    ALERTS_API_URL: alerts.url,
    ALERTS_API_TOKEN: ALERTS_TOKEN,
    ALERTS_WEBHOOK_SECRET: webhookSecret,
    DATABASE_URL: `file:${join(folder, 'signalbox.db')}`,
    SIGNALBOX_CONFIG: join(folder, 'signalbox.yaml'),
    SIGNALBOX_KEY: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'warn',
  };
  // The doctor reads this file in another shell.
  const envFile = join(folder, 'env');
  writeFileSync(envFile, envText(env), { mode: 0o600 });
  const readyUrl = `http://127.0.0.1:${botPort}/readyz`;
  const start = () =>
    startBot(program, { ...env, SANDBOX_CLOCK_OFFSET_MS: String(clock.offsetMs()) });
  const running = { bot: start(), stopping: false };
  const mover: ClockMover = createClockMover({
    clock,
    bot: () => running.bot,
    activity: () =>
      slack.calls().length +
      [cloud, alerts, ...(second ? [second] : [])].reduce((sum, api) => sum + requestCount(api), 0),
    changed: slack.changed,
  });
  // A bot that crashes or is killed restarts with the same database.
  const restartOnExit = () => {
    running.bot.once('exit', (code, signal) => {
      if (running.stopping) return;
      process.stderr.write(`The bot stopped (${signal ?? code}). Restarting it.\n`);
      running.bot = start();
      restartOnExit();
    });
  };

  const stop = async () => {
    running.stopping = true;
    await stopBot(running.bot);
    await Promise.all([slack.stop(), stopApis()]);
    rmSync(folder, { recursive: true });
  };
  try {
    await waitUntilReady(readyUrl, running.bot);
    restartOnExit();
    const ends = () => options.at ?? new Date();
    const service = second ? `${NAMES[0]}/ci` : 'ci';
    if (history) await playHistory({ slack, cloud, service, mover, startedAt, ends });
    guide.since = now();
  } catch (error) {
    await stop();
    throw error;
  }
  const bot = () => running.bot;
  return { url: slack.url, envFile, slack, cloud, alerts, clock, mover, bot, stop };
}

const requestCount = ({ operations, count }: Simulator): number =>
  operations.reduce((sum, operation) => sum + count(operation), 0);

function envText(env: Readonly<Record<string, string>>): string {
  return Object.entries(env)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join('');
}

function startBot(program: string, env: Readonly<Record<string, string>>): ChildProcess {
  const path = {
    PATH: process.env.PATH ?? '',
    NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/compile'),
  };
  // The bot logs to standard error, so that standard output contains only the guide.
  const clock = pathToFileURL(join(ROOT, 'sandbox/clock/bot-clock.ts')).href;
  return spawn(process.execPath, ['--import', clock, program], {
    cwd: ROOT,
    env: { ...path, ...env },
    stdio: ['ignore', 2, 2, 'ipc'],
  });
}

async function stopBot(bot: ChildProcess): Promise<void> {
  if (bot.exitCode !== null || bot.signalCode !== null) return;
  const exited = new Promise((resolve) => bot.once('exit', resolve));
  bot.kill('SIGTERM');
  await exited;
}

async function waitUntilReady(url: string, bot: ChildProcess): Promise<void> {
  const until = performance.now() + READY_WITHIN_MS;
  while (performance.now() < until) {
    if (bot.exitCode !== null) throw new Error('The bot exited during its start.');
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return;
    await wait(50);
  }
  throw new Error('The bot did not become ready within 90 s.');
}
