import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/** Node loads TypeScript files as `patch` returns them. */
export function loadPatched(patch: (path: string, text: string) => string): void {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.startsWith('file:') || !url.endsWith('.ts') || !loaded.source) return loaded;
      const text = Buffer.from(loaded.source as Uint8Array).toString();
      const patched = patch(fileURLToPath(url), text);
      // A file as it is comes from the compile cache.
      return patched === text ? loaded : { ...loaded, source: patched };
    },
  });
}
