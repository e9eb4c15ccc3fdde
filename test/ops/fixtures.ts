import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { commandNames } from '../../src/commands/index.ts';
import { loadConfig } from '../../src/ops/config.ts';
import type { Env } from '../../src/ops/environment.ts';

export const EXAMPLE = readFileSync(
  new URL('../../signalbox.example.yaml', import.meta.url),
  'utf8',
);

export const KEY = Buffer.alloc(32, 7).toString('base64');

export const ENV: Env = {
  SLACK_BOT_TOKEN: 'xoxb-1-canary',
  SLACK_APP_TOKEN: 'xapp-1-canary',
  CLOUD_API_URL: 'https://api.example.com',
  CLOUD_API_KEY_ID: 'key-id',
  CLOUD_API_KEY_SECRET: 'canary-cloud',
  ALERTS_API_URL: 'https://alerts.example.com',
  ALERTS_API_TOKEN: 'canary-alerts',
  SIGNALBOX_KEY: KEY,
};

type Files = Readonly<Record<string, string>>;

/** What is loaded from these variables, and from files that exist nowhere but here. */
export function load(env: Env = {}, files: Files = {}) {
  const all: Files = { './signalbox.yaml': EXAMPLE, ...files };
  const readFile = (path: string) => {
    const text = all[path];
    if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
    return text;
  };
  return loadConfig({ env: { ...ENV, ...env }, readFile, commands: commandNames });
}

/** The example with some of its text replaced; it throws where there is no such text. */
export function edited(...edits: readonly (readonly [string, string])[]): string {
  return edits.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`the example has no “${from}”`);
    return text.replace(from, () => to);
  }, EXAMPLE);
}

/** What is said, a line for each problem. */
export function said(env: Env, yaml: string = EXAMPLE, files: Files = {}): readonly string[] {
  const loaded = load(env, { './signalbox.yaml': yaml, ...files });
  if (loaded.ok) return [];
  return loaded.problems.map(({ where, problem, hint }) =>
    hint === null ? `${where}: ${problem}` : `${where}: ${problem} (${hint})`,
  );
}

/** The variables of a YAML object; null stands for a variable that is not set. */
export function envOf(text: string): Env {
  const entries = Object.entries(parse(text)).map(([name, value]) => [name, value ?? undefined]);
  return Object.fromEntries(entries);
}
