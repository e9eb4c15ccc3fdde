import type { Plugin } from 'vite';
import { withDefect } from './patch.ts';

/** Puts a named defect into the source that the tests read. Without a name it does nothing. */
export function seededDefect(): Plugin {
  return {
    name: 'seeded-defect',
    enforce: 'pre',
    transform: (code, id) => withDefect(id.split('?')[0] ?? id, code),
  };
}
