import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

/** Replaces an export of a module of Node, for all its importers, until the test ends. */
export function replaceExport<T extends object, Name extends keyof T>(
  builtin: T,
  name: Name,
  replacement: T[Name],
): void {
  const real = builtin[name];
  const put = (value: T[Name]) => {
    builtin[name] = value;
    syncBuiltinESMExports();
  };
  put(replacement);
  onTestFinished(() => put(real));
}
