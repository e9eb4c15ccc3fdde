import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { seedDefect } from '../controls/seed-defect.ts';
import { withHookPoints } from './hook-points.ts';

// Loaded before the bot in a child process that has a seeded defect; the others start a bundle with the hook points.
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.startsWith('file:') || !url.endsWith('.ts') || !loaded.source) return loaded;
    const path = fileURLToPath(url);
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    const own = withHookPoints(path, seedDefect(path, source));
    // A file as it is comes from the compile cache.
    return own === source ? loaded : { ...loaded, source: own };
  },
});
