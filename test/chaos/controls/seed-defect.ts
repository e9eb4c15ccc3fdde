import type { Plugin } from 'vite';
import { DEFECTS, HARMLESS, type Replacement } from './defects.ts';

/** How often the snippet of a defect occurs in a source text. A usable defect has exactly 1. */
export function matchesOf({ find }: Pick<Replacement, 'find'>, source: string): number {
  return [...source.matchAll(new RegExp(find, 'g'))].length;
}

/** The source of a file with the defect that SIGNALBOX_DEFECT names; other files are unchanged. */
export function seedDefect(path: string, source: string): string {
  const name = process.env.SIGNALBOX_DEFECT;
  if (name === undefined) return source;
  const defect = [...DEFECTS, ...HARMLESS].find((each) => each.name === name);
  if (!defect) throw new Error(`SIGNALBOX_DEFECT names no known defect: “${name}”`);
  if (!path.endsWith(`/${defect.file}`)) return source;
  const count = matchesOf(defect, source);
  if (count === 1) return source.replace(defect.find, defect.put);
  throw new Error(`The snippet of “${name}” occurs ${count} times in ${defect.file}, not once`);
}

/** A Vite plugin that seeds the named defect into the source that the tests load. */
export function seededDefect(): Plugin {
  return {
    name: 'seeded-defect',
    enforce: 'pre',
    transform: (code, id) => seedDefect(id.split('?')[0] ?? id, code),
  };
}
