import { matchesOf } from '../controls/seed-defect.ts';

/** A source snippet that becomes observable in a child process: crash tests stop the bot at it. */
export interface HookPoint {
  readonly file: string;
  readonly find: RegExp;
  readonly put: string;
}

// `commits` and `notes` are defined by crash-point.ts: the product itself has no test hooks.
export const HOOK_POINTS: readonly HookPoint[] = [
  {
    file: 'src/storage/engine/database.ts',
    find: /runTransaction\((opened), (\w+)\)/,
    put: 'globalThis.commits((b) => runTransaction($1, b), $2)',
  },
  {
    file: 'src/storage/audit/append.ts',
    find: /(const keyId = head\.hash === appended\.hash)/,
    put: 'globalThis.notes(event.kind);\n  $1',
  },
  {
    file: 'src/storage/tables/queues/inbox.ts',
    find: /(const click = \{ dedup_key: key,)/,
    put: "globalThis.notes('received ' + (body.verb ?? kind));\n  $1",
  },
  {
    file: 'src/storage/tables/changes/changes.ts',
    find: /(return updateCard\.with\()/,
    put: "globalThis.notes('card drawn');\n  $1",
  },
];

/** The source of a file with its hook points, each of which must occur once. */
export function withHookPoints(path: string, source: string): string {
  return HOOK_POINTS.filter(({ file }) => path.endsWith(`/${file}`)).reduce(patched, source);
}

function patched(source: string, point: HookPoint): string {
  const count = matchesOf(point, source);
  if (count === 1) return source.replace(point.find, point.put);
  throw new Error(`The hook point ${point.find} occurs ${count} times in ${point.file}, not once`);
}
