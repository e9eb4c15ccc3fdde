import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// An empty base gives relative URLs, so that the page can be served below any path.
export default defineConfig({
  base: '',
  plugins: [react()],
  build: { outDir: 'dist', emptyOutDir: true, chunkSizeWarningLimit: 1500 },
});
