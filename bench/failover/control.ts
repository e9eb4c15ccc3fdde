import type { SourceHook } from '../../test/chaos/processes/source-hook.ts';

/** The mistake that no mark in Slack is foreign to the log, so that Signalbox believes whatever the database has. */
export const MISTAKE: SourceHook = {
  find: /return seen\.filter\(\(\{ hash \}\) => !known\.has\(hash\)\);/,
  put: 'return [];',
};
