import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { withDefect } from '../controls/patch.ts';

/**
 * Loaded before the bot in a process of its own. Its commits are told to `death.ts`, which kills
 * the process where the test wants it dead: the product has no hooks for that.
 */
interface Hook {
  readonly file: string;
  readonly find: string;
  readonly put: string;
}

const HOOKS: readonly Hook[] = [
  {
    file: 'src/storage/engine/database.ts',
    find: 'transaction: (body) => runTransaction(root, body),',
    put: 'transaction: (body) => globalThis.commits((b) => runTransaction(root, b), body),',
  },
  noted('src/storage/audit/append.ts', 'const { seq, hash } = await tx', 'event.kind'),
  noted(
    'src/storage/tables/queues/inbox.ts',
    'const received = toText(at);',
    "'received ' + (body.verb ?? kind)",
  ),
  noted(
    'src/storage/tables/changes/changes.ts',
    ".updateTable('change')\n    .set({ card_channel",
    "'card drawn'",
  ),
];

/** A transaction that comes by here has this to its name. */
function noted(file: string, find: string, what: string): Hook {
  const isCall = find.startsWith('.');
  const put = isCall ? `.$call((q) => (globalThis.notes(${what}), q))\n    ` : '';
  if (!isCall) return { file, find, put: `globalThis.notes(${what});\n  ${find}` };
  const [first = '', second = ''] = find.split('\n');
  return { file, find, put: `${first}\n    ${put}${second.trim()}` };
}

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.startsWith('file:') || !url.endsWith('.ts') || !loaded.source) return loaded;
    const path = fileURLToPath(url);
    const source = Buffer.from(loaded.source as Uint8Array).toString();
    const own = HOOKS.filter(({ file }) => path.endsWith(`/${file}`));
    return { ...loaded, source: own.reduce(hooked, withDefect(path, source)) };
  },
});

function hooked(source: string, { file, find, put }: Hook): string {
  const parts = source.split(find);
  if (parts.length !== 2) throw new Error(`The hook “${find}” does not fit ${file} any more`);
  return parts.join(put);
}
