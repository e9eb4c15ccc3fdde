import { globSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { BOT, BUNDLE } from './programs.ts';

const CONFIG = 'deploy/bundle.config.ts';

/** Builds the bundle that tests start as a process, unless it was built from this source. */
export default async function setup(): Promise<void> {
  if (isCurrent()) return;
  const began = new Date();
  // Replaced when it is complete: an interrupted build leaves no bundle, and another run may use this one.
  const outDir = `${BUNDLE}-${process.pid}`;
  await build({ configFile: CONFIG, build: { outDir, emptyOutDir: true } });
  // A file that is edited during the build is newer than its bundle.
  utimesSync(join(outDir, 'main.js'), began, began);
  rmSync(BUNDLE, { recursive: true, force: true });
  renameSync(outDir, BUNDLE);
}

// A removed file changes the time of its folder.
function isCurrent(): boolean {
  const builtAt = statSync(BOT, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = [...globSync('src/**'), 'package-lock.json', 'package.json', CONFIG];
  return sources.every((path) => statSync(path).mtimeMs < builtAt);
}
