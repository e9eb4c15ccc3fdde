import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type BrowserServer, chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { CHROMIUM } from './chromium.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address at which all files of tests use one Chromium. */
    readonly browserUrl: string;
  }
}

// Without the other flags Chromium contacts servers of its vendor, which a closed network refuses.
const FLAGS = [
  // The pages of a file of tests share a process.
  '--process-per-site',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Builds the page as it is now, and starts the browser. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const launch: Promise<BrowserServer> = chromium.launchServer({
    executablePath: CHROMIUM,
    args: FLAGS,
  });
  const [server] = await Promise.all([launch, buildPage()]);
  project.provide('browserUrl', server.wsEndpoint());
  return () => server.close();
}

// As users build it: with the NODE_ENV of vitest it would contain React's slow development build.
async function buildPage(): Promise<void> {
  const env = { ...process.env, NODE_ENV: 'production' };
  const words = ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn', 'sandbox/page'];
  await promisify(execFile)(process.execPath, words, { env });
}
