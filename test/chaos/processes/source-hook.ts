import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** A place in `src`, found by its text alone: files are merged, moved and renamed, and the place stays. */
export interface SourceHook {
  readonly find: RegExp;
  /** Replaces the text; `$1` is its first group. */
  readonly put: string;
}

interface SourceFile {
  readonly path: string;
  readonly text: string;
}

export function readSource(): readonly SourceFile[] {
  const paths = globSync('src/**/*.ts').map((file) => resolve(file));
  return paths.map((path) => ({ path, text: readFileSync(path, 'utf8') }));
}

/** The file of each place that has the text. A usable hook has exactly one place. */
export function placesOf(
  { find }: Pick<SourceHook, 'find'>,
  source: readonly SourceFile[],
): readonly string[] {
  const all = new RegExp(find, 'g');
  return source.flatMap(({ path, text }) => [...text.matchAll(all)].map(() => path));
}

/** Returns why the hook cannot be used, or null if exactly one place has its text. */
export function hookProblem(
  { find, put }: SourceHook,
  source: readonly SourceFile[],
): string | null {
  const places = placesOf({ find }, source);
  if (places.length !== 1) return `${find} has ${places.length} places in src, not one`;
  const text = source.find(({ path }) => path === places[0])?.text ?? '';
  return text.replace(find, put) === text ? `${find} does not change the text` : null;
}

/**
 * Returns a function that patches the text of each loaded file that has one of the hooks. Throws if a hook
 * cannot be used, so that no test passes without it.
 */
export function patcherOf(hooks: readonly SourceHook[]): (path: string, text: string) => string {
  const source = readSource();
  const problems = hooks.flatMap((hook) => hookProblem(hook, source) ?? []);
  if (problems.length > 0) throw new Error(problems.join('\n'));
  const hooksOf = Map.groupBy(hooks, (hook) => placesOf(hook, source)[0]);
  return (path, text) =>
    (hooksOf.get(path) ?? []).reduce((patched, { find, put }) => {
      if (find.test(patched)) return patched.replace(find, put);
      throw new Error(`${find} is in ${path}, but not in the text that is loaded from it`);
    }, text);
}
