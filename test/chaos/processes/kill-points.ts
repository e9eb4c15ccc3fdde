import { patcherOf, type SourceHook } from './source-hook.ts';

/**
 * The places at which crash tests stop the bot in a child process. `commits` and `notes` are defined by
 * crash-point.ts: the product itself has no test hooks.
 */
export const KILL_POINTS: readonly SourceHook[] = [
  {
    find: /return store\.commit\((\(tx\) => inside\.run\(true, \(\) => body\(tx\)\))\);/,
    put: 'return globalThis.commits((b) => store.commit(b), $1);',
  },
  {
    find: /(added\.push\(row\);)/,
    put: "globalThis.notes(event.type + (event.verb ? ' ' + event.verb : ''));\n    $1",
  },
  {
    find: /(const \{ kind, key, owner, asked \} = job;)/,
    put: "$1\n  globalThis.notes('job ' + kind);",
  },
  {
    find: /(begun\.set\(claim\.mark\.nonce, null\);)(?=\s*const result)/,
    put: "await globalThis.commits((body) => body(), async () => globalThis.notes('note'));\n  $1",
  },
];

/** Adds the kill points to the source as it is loaded. Throws if one of them has no place. */
export const withKillPoints = () => patcherOf(KILL_POINTS);

/**
 * The last five pauses before an outcome is stored, shorter.
 * test/workflow/record-retries.test.ts checks their real length.
 */
export const SHORTER_PAUSES: SourceHook = {
  find: /fill\(15_000\)/,
  put: 'fill(3_000)',
};
