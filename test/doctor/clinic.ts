import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { startAlertsSimulator } from '../../sandbox/alerts/simulator.ts';
import { startCloudSimulator } from '../../sandbox/cloud/simulator.ts';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import type { Json } from '../../sandbox/json.ts';
import { ALERTS_TOKEN, CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { startSlackSimulator } from '../../sandbox/slack/server.ts';
import type { Workspace } from '../../sandbox/slack/workspace.ts';
import { startApp } from '../../src/app.ts';
import { commandNames } from '../../src/commands/index.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { runChecks } from '../../src/doctor/run-checks.ts';
import { freshUrl } from '../storage/engines.ts';

export const SECRET = 'a-signing-secret-of-the-tests';
const PATIENCE_MS = 5_000;

export interface ClinicOptions {
  readonly workspace?: Workspace;
  readonly delivery?: 'http' | 'socket';
  readonly databaseUrl?: string;
  readonly yaml?: (file: Record<string, never>) => unknown;
  /** Edits the manifest that the app was installed with. */
  readonly installed?: (manifest: Json) => Json;
}

/** Stand-ins for everything that is asked, with no Signalbox between them until one is started. */
export async function openClinic(options: ClinicOptions = {}) {
  const { delivery = 'http', workspace, yaml = (file) => file } = options;
  const manifest: Json = JSON.parse(readFileSync('manifest.json', 'utf8'));
  const [cloud, alerts, slack, databaseUrl] = await Promise.all([
    startCloudSimulator(),
    startAlertsSimulator(),
    startSlackSimulator({
      manifest: options.installed?.(manifest) ?? manifest,
      delivery: delivery === 'http' ? { mode: 'http', signingSecret: SECRET } : { mode: 'socket' },
      ...(workspace ? { workspace } : {}),
    }),
    options.databaseUrl ?? freshUrl('sqlite'),
  ]);
  onTestFinished(async () => void (await Promise.all([slack.stop(), cloud.stop(), alerts.stop()])));
  const env: Readonly<Record<string, string>> = {
    SLACK_BOT_TOKEN: slack.botToken,
    ...(delivery === 'http'
      ? { SLACK_SIGNING_SECRET: SECRET }
      : { SLACK_APP_TOKEN: slack.appToken }),
    SLACK_API_URL: slack.apiUrl,
    PORT: '0',
    CLOUD_API_URL: cloud.url,
    CLOUD_API_KEY_ID: CLOUD_KEY.id,
    CLOUD_API_KEY_SECRET: CLOUD_KEY.secret,
    ALERTS_API_URL: alerts.url,
    ALERTS_API_TOKEN: ALERTS_TOKEN,
    DATABASE_URL: databaseUrl,
    SIGNALBOX_KEY: Buffer.alloc(32, 7).toString('base64'),
  };
  const text = stringify(yaml(parse(sandboxYaml())));
  const readFile = (path: string) => (path.endsWith('.yaml') ? text : readFileSync(path, 'utf8'));

  /** `withinMs` is short where the test is about somebody who never answers. */
  const diagnose = async (changes: Record<string, string> = {}, withinMs = PATIENCE_MS) => {
    const given = { version: '1.0.0', now: () => new Date(), withinMs };
    const { sections } = await runChecks({ ...given, readFile, env: { ...env, ...changes } });
    return sections.flatMap(({ lines }) => lines);
  };
  return { slack, cloud, alerts, env, diagnose, start: () => startBot(env, readFile) };
}

async function startBot(env: Record<string, string>, readFile: (path: string) => string) {
  const loaded = loadConfig({ env, readFile, commands: commandNames });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const log = pino({ level: 'silent' });
  const started = await startApp({ config: loaded.config, version: '1.0.0', log });
  if (!started.ok) throw new Error(JSON.stringify(started.problems));
  onTestFinished(started.stop);
  return { PORT: String(started.port) };
}
