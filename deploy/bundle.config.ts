import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

/**
 * The source and its packages in a few files, because a start spends most of its time with finding and
 * linking files. Source: docs/decisions.md#a-bundle-for-production
 */
export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  publicDir: false,
  logLevel: 'warn',
  // pg requires them only where they are installed, and neither is.
  ssr: { noExternal: true, external: ['pg-native', 'pg-cloudflare'] },
  build: {
    ssr: true,
    target: 'node26',
    outDir: 'dist',
    sourcemap: true,
    // The image has no package, and their licenses must go with their code.
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      input: { main: 'src/main.ts' },
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        // Node keeps the text of each file in memory: two bytes per character if one of them is not Latin-1.
        charset: 'ascii',
        comments: { legal: true, jsdoc: false },
      },
    },
  },
});
