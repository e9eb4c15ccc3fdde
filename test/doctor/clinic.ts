import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import type { Json } from '../../sandbox/json.ts';
import type { Workspace } from '../../sandbox/slack/workspace.ts';
import { startApp } from '../../src/app.ts';
import { commandNames } from '../../src/commands/index.ts';
import { loadConfig } from '../../src/config/load-config.ts';
import { runChecks } from '../../src/doctor/run-checks.ts';
import { AUDIT_KEY, MANIFEST, startSimulators } from '../harness/simulators.ts';
import { freshUrl } from '../storage/engines.ts';

const PATIENCE_MS = 5_000;

export interface ClinicOptions {
  readonly workspace?: Workspace;
  readonly delivery?: 'http' | 'socket';
  readonly databaseUrl?: string;
  readonly yaml?: (file: Record<string, never>) => unknown;
  /** Edits the manifest that the app was installed with. */
  readonly installed?: (manifest: Json) => Json;
}

/** The simulators and the doctor; a bot runs only after `start`. */
export async function openClinic(options: ClinicOptions = {}) {
  const { delivery = 'http', workspace, yaml = (file) => file } = options;
  const databaseUrl = options.databaseUrl ?? (await freshUrl('sqlite'));
  const simulators = await startSimulators({
    delivery,
    manifest: options.installed?.(MANIFEST) ?? MANIFEST,
    ...(workspace ? { workspace } : {}),
  });
  const { slack, cloud, alerts, stop } = simulators;
  onTestFinished(stop);
  const env: Readonly<Record<string, string>> = {
    ...simulators.env,
    DATABASE_URL: databaseUrl,
    SIGNALBOX_KEY: AUDIT_KEY.toString('base64'),
  };
  const text = stringify(yaml(parse(sandboxYaml())));
  const readFile = (path: string) => (path.endsWith('.yaml') ? text : readFileSync(path, 'utf8'));

  /** `withinMs` is short in tests with servers that never answer. */
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
