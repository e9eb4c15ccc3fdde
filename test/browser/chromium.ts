import { existsSync } from 'node:fs';

/** The first has no user interface, and the tests need less processor time with it. */
const USUAL = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'] as const;

/** The path of the browser for the tests. The file may not exist. */
export const CHROMIUM =
  process.env.CHROMIUM_PATH || (USUAL.find((path) => existsSync(path)) ?? USUAL[0]);

// Without the other flags Chromium contacts servers of its vendor, which a closed network refuses.
export const FLAGS = [
  // The pages of a file of tests share a process.
  '--process-per-site',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // The optimizing compilers of V8 cost the short life of a page more processor time than they save.
  '--js-flags=--no-maglev --no-turbofan',
];
