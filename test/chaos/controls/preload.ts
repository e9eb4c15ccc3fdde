import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { seedDefect } from './seed-defect.ts';

// Child processes load the source without Vitest, so the Vite plugin does not reach them.
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.startsWith('file:') || !loaded.source || !url.endsWith('.ts')) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    return { ...loaded, source: seedDefect(fileURLToPath(url), source) };
  },
});
