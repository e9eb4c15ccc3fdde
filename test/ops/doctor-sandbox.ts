import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { onTestFinished } from 'vitest';
import { stringify } from 'yaml';
import type { Json } from '../../sandbox/json.ts';
import type { OrganizationSeed } from '../../sandbox/seed/shapes.ts';
import type { Workspace } from '../../sandbox/slack/workspace/workspace.ts';
import { startApp } from '../../src/app.ts';
import { commandNames } from '../../src/commands/index.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { runChecks } from '../../src/ops/doctor.ts';
import { type EditYaml, sandboxFile } from '../harness/config.ts';
import { MANIFEST, startSimulators } from '../harness/simulators.ts';
import { emptyUrl } from '../storage/engines.ts';

/** Only a server that never answers reaches it. */
const PATIENCE_MS = 20_000;

export interface DoctorSandboxOptions {
  readonly workspace?: Workspace;
  /** A second organization. */
  readonly other?: OrganizationSeed;
  readonly delivery?: 'http' | 'socket';
  readonly databaseUrl?: string;
  readonly yaml?: EditYaml;
  /** Edits the manifest that the app was installed with. */
  readonly installed?: (manifest: Json) => Json;
}

/** The simulators and the doctor; a bot runs only after `start`. */
export async function startDoctorSandbox(options: DoctorSandboxOptions = {}) {
  const { delivery = 'http', workspace, other: second } = options;
  const databaseUrl = options.databaseUrl ?? (await emptyUrl('sqlite'));
  const simulators = await startSimulators({
    delivery,
    slack: { manifest: options.installed?.(MANIFEST) ?? MANIFEST },
    ...(workspace ? { workspace } : {}),
    ...(second ? { other: second } : {}),
  });
  const { slack, cloud, other, alerts, stop } = simulators;
  onTestFinished(stop);
  const env: Readonly<Record<string, string>> = {
    ...simulators.env,
    DATABASE_URL: databaseUrl,
  };
  const text = stringify(sandboxFile(options.yaml));
  const readFile = (path: string) => (path.endsWith('.yaml') ? text : readFileSync(path, 'utf8'));

  /** `withinMs` is short in tests with servers that never answer. */
  const diagnose = async (changes: Record<string, string> = {}, withinMs = PATIENCE_MS) => {
    const given = { version: '1.0.0', now: () => new Date(), withinMs };
    const { sections } = await runChecks({ ...given, readFile, env: { ...env, ...changes } });
    return sections.flatMap(({ lines }) => lines);
  };
  /** The refusal of a start with these variables. */
  const refusedStart = async (changes: Record<string, string> = {}) => {
    const started = await tryStart({ ...env, ...changes }, readFile);
    if (!started.ok) return started;
    await started.stop();
    throw new Error('The bot starts');
  };
  return {
    slack,
    cloud,
    other,
    alerts,
    env,
    diagnose,
    refusedStart,
    start: () => startBot(env, readFile),
  };
}

/**
 * A limit that every server keeps that answers, also on a loaded machine: four times what all checks take. They run in
 * a sandbox of their own, because they use up the rate limit of the cloud.
 */
export async function shortLimitMs(options: DoctorSandboxOptions = {}): Promise<number> {
  const { diagnose } = await startDoctorSandbox(options);
  const began = performance.now();
  await diagnose();
  return Math.max(500, 100 * Math.ceil((performance.now() - began) / 25));
}

function tryStart(env: Record<string, string>, readFile: (path: string) => string) {
  const loaded = loadConfig({ env, readFile, commands: commandNames });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const log = pino({ level: 'silent' });
  return startApp({ config: loaded.config, version: '1.0.0', log });
}

async function startBot(env: Record<string, string>, readFile: (path: string) => string) {
  const started = await tryStart(env, readFile);
  if (!started.ok) throw new Error(JSON.stringify(started.problems));
  onTestFinished(started.stop);
  return { PORT: String(started.port) };
}
