import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Import {
  readonly file: string;
  /** A path from the project's root, or the name of a package. */
  readonly of: string;
  readonly typeOnly: boolean;
}

/** Every source file of the bot and of the sandbox. */
export const sourceFiles = globSync('{src,sandbox}/**/*.{ts,tsx}').filter(
  (file) => !/node_modules|\/dist\//.test(file),
);

/** The file without its comments. */
export function code(file: string): string {
  return readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

const IMPORT =
  /^(?:import|export)(?<type> type)?\s[\w\s{},*]*\bfrom '(?<of>[^']+)'|\bimport(?:\(| )'(?<bare>[^']+)'/gm;

/** All imports of a file: static and dynamic, of values and of types. */
export function importsOf(file: string): readonly Import[] {
  return [...code(file).matchAll(IMPORT)].map(({ groups = {} }) => {
    const of = groups.of ?? groups.bare ?? '';
    const typeOnly = groups.type !== undefined;
    return { file, of: of.startsWith('.') ? join(file, '..', of) : of, typeOnly };
  });
}

/** Groups of files that import each other, directly or through others; each is a list of paths. */
export function importCycles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  // Tarjan's algorithm: files that reach each other have the same lowest number.
  const visit = (file: string): number => {
    const own = order.size;
    order.set(file, own);
    stack.push(file);
    let low = own;
    for (const next of imports.get(file) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? own);
    }
    lowest.set(file, low);
    if (low === own) {
      const group = stack.splice(stack.indexOf(file));
      if (group.length > 1 || imports.get(file)?.includes(file)) cycles.push(group.toSorted());
    }
    return low;
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return cycles;
}

/** The names of functions, types, constants and classes that a file exports where it defines them. */
export function exportedNames(file: string): readonly string[] {
  const exported = /^export (?:async )?(?:function\*?|interface|type|const|class) (\w+)/gm;
  return [...new Set([...code(file).matchAll(exported)].map(([, name = '']) => name))];
}
