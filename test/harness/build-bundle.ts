import { globSync, statSync } from 'node:fs';
import { build } from 'vite';
import { BOT, BUNDLE } from './programs.ts';

const CONFIG = 'deploy/bundle.config.ts';

/** Builds the bundle that tests start as a process, unless it was built from this source. */
export default async function setup(): Promise<void> {
  if (isCurrent()) return;
  await build({ configFile: CONFIG, build: { outDir: BUNDLE, emptyOutDir: true } });
}

// A removed file changes the time of its folder.
function isCurrent(): boolean {
  const builtAt = statSync(BOT, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = [...globSync('src/**'), 'package-lock.json', 'package.json', CONFIG];
  return sources.every((path) => statSync(path).mtimeMs < builtAt);
}
