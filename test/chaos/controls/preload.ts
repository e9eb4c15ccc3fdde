import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { withDefect } from './patch.ts';

// For processes of their own, which read the source without the test runner.
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.startsWith('file:') || !loaded.source || !url.endsWith('.ts')) return loaded;
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    return { ...loaded, source: withDefect(fileURLToPath(url), source) };
  },
});
