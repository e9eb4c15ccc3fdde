import {
  globSync,
  lstatSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { build, type InlineConfig } from 'vite';
import { withKillPoints } from '../chaos/processes/kill-points.ts';
import { BOT, CRASHING_BOT } from './programs.ts';

const CONFIG = 'deploy/bundle.config.ts';
const CRASHING = 'test/chaos/processes';
const AN_HOUR_MS = 3_600_000;

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
  const outDir = `${bundle}-${Date.now()}`;
  const output = { ...config.build, outDir, emptyOutDir: true };
  await build({ ...config, configFile: CONFIG, build: output });
  // As in a release. Without it, Node parses each file first to see whether it is a module.
  writeFileSync(`${outDir}/package.json`, '{ "type": "module" }\n');
  // A file that is edited during the build is newer than its bundle.
  utimesSync(`${outDir}/${basename(program)}`, began, began);
  replaceBy(outDir, bundle);
}

/**
 * Makes the bundle a link to this folder, in one step: another run may be starting programs from it. What they started
 * from stays for an hour, because they load parts of it later.
 */
function replaceBy(folder: string, bundle: string): void {
  const link = `${folder}.link`;
  symlinkSync(basename(folder), link);
  const isLink = lstatSync(bundle, { throwIfNoEntry: false })?.isSymbolicLink() ?? true;
  if (!isLink) rmSync(bundle, { recursive: true });
  renameSync(link, bundle);
  for (const old of globSync(`${bundle}-[0-9]*`)) {
    const isUsed = lstatSync(old).mtimeMs > Date.now() - AN_HOUR_MS || old === folder;
    if (!isUsed) rmSync(old, { recursive: true, force: true });
  }
}

// A removed file changes the time of its folder.
function isCurrent(program: string): boolean {
  const builtAt = statSync(program, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const own = [...globSync('src/**'), ...globSync(`${CRASHING}/**`)];
  const sources = [...own, 'package-lock.json', 'package.json', CONFIG];
  return sources.every((path) => statSync(path).mtimeMs < builtAt);
}
