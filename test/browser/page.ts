import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Builds the page as it is now. */
export default async function setup(): Promise<void> {
  await buildPage();
}

// As users build it: with the NODE_ENV of vitest it would contain React's slow development build.
async function buildPage(): Promise<void> {
  const env = { ...process.env, NODE_ENV: 'production' };
  const words = ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn', 'sandbox/page'];
  await promisify(execFile)(process.execPath, words, { env });
}
