import { globSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { build, type InlineConfig } from 'vite';
import { withKillPoints } from '../chaos/processes/kill-points.ts';
import { BOT, CRASHING_BOT } from './programs.ts';

const CONFIG = 'deploy/bundle.config.ts';
const CRASHING = 'test/chaos/processes';

function crashing(): InlineConfig {
  const addKillPoints = withKillPoints();
  const transform = (code: string, id: string) => addKillPoints(id.split('?')[0] ?? id, code);
  return {
    plugins: [{ name: 'kill-points', enforce: 'pre', transform }],
    build: { sourcemap: false, rolldownOptions: { input: { bot: `${CRASHING}/bot.ts` } } },
  };
}

/** Builds the bundles that tests start as a process, unless they were built from this source. */
export default async function setup(): Promise<void> {
  if ([BOT, CRASHING_BOT].every(isCurrent)) return;
  await Promise.all([buildFor(BOT), buildFor(CRASHING_BOT, crashing())]);
}

async function buildFor(program: string, config: InlineConfig = {}): Promise<void> {
  const began = new Date();
  const bundle = dirname(program);
  // Replaced when it is complete: an interrupted build leaves no bundle, and another run may use this one.
  const outDir = `${bundle}-${process.pid}`;
  const output = { ...config.build, outDir, emptyOutDir: true };
  await build({ ...config, configFile: CONFIG, build: output });
  // As in a release. Without it, Node parses each file first to see whether it is a module.
  writeFileSync(`${outDir}/package.json`, '{ "type": "module" }\n');
  // A file that is edited during the build is newer than its bundle.
  utimesSync(`${outDir}/${basename(program)}`, began, began);
  rmSync(bundle, { recursive: true, force: true });
  renameSync(outDir, bundle);
}

// A removed file changes the time of its folder.
function isCurrent(program: string): boolean {
  const builtAt = statSync(program, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const own = [...globSync('src/**'), ...globSync(`${CRASHING}/**`)];
  const sources = [...own, 'package-lock.json', 'package.json', CONFIG];
  return sources.every((path) => statSync(path).mtimeMs < builtAt);
}
