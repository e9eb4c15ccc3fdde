import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { matchesOf, seedDefect } from '../controls/seed-defect.ts';
import { HOOK_POINTS, type HookPoint } from './hook-points.ts';

// Loaded before the bot in a child process: patches the hook points and the seeded defect, if any.
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.startsWith('file:') || !url.endsWith('.ts') || !loaded.source) return loaded;
    const path = fileURLToPath(url);
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    const points = HOOK_POINTS.filter(({ file }) => path.endsWith(`/${file}`));
    const own = points.reduce(patched, seedDefect(path, source));
    // A file as it is comes from the compile cache.
    return own === source ? loaded : { ...loaded, source: own };
  },
});

function patched(source: string, point: HookPoint): string {
  const count = matchesOf(point, source);
  if (count === 1) return source.replace(point.find, point.put);
  throw new Error(`The hook point ${point.find} occurs ${count} times in ${point.file}, not once`);
}
