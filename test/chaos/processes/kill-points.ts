import { patcherOf, type SourceHook } from './source-hook.ts';

/**
 * The places at which crash tests stop the bot in a child process. `commits` and `notes` are defined by
 * crash-point.ts: the product itself has no test hooks.
 */
export const KILL_POINTS: readonly SourceHook[] = [
  {
    find: /(runTransaction\w*)\(\s*(opened),\s*(\w+),?\s*\)/,
    put: 'globalThis.commits((b) => $1($2, b), $3)',
  },
  {
    find: /(const keyId\s*=\s*\w+\.hash\s*===\s*appended\w*\.hash)/,
    put: 'globalThis.notes(event.kind);\n  $1',
  },
  {
    find: /(const click\s*=\s*\{\s*dedup_key:\s*key,)/,
    put: "globalThis.notes('received ' + (body.verb ?? kind));\n  $1",
  },
  {
    find: /(return\s+updateCard\w*\.with\()/,
    put: "globalThis.notes('card drawn');\n  $1",
  },
];

/** Adds the kill points to the source as it is loaded. Throws if one of them has no place. */
export const withKillPoints = () => patcherOf(KILL_POINTS);

/**
 * The last five pauses before an outcome is stored, shorter.
 * test/workflow/record-retries.test.ts checks their real length.
 */
export const SHORTER_PAUSES: SourceHook = {
  find: /(?:15_000,\s*){4}15_000(?=,?\s*\])/,
  put: '3_000, 3_000, 3_000, 3_000, 3_000',
};
