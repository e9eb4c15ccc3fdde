import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Relative addresses let the page be served below any path; the requests go to /sandbox.
export default defineConfig({
  base: './/',
  plugins: [react()],
  build: { outDir: 'dist', emptyOutDir: true, chunkSizeWarningLimit: 1500 },
});
