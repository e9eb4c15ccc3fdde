import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Compiled code of all programs of the project, as with `npm start`. */
export const COMPILED_CODE = fileURLToPath(
  new URL('../node_modules/.cache/compile', import.meta.url),
);
const MOST_FILES = 5_000;

/**
 * Sets the folder in which the workers, and the processes that tests start, share compiled code. Vitest imports each
 * file of tests under a new address in each run, and never uses its compiled code again: a folder with many files is
 * emptied.
 */
export function shareCompiledCode(): void {
  process.env.NODE_COMPILE_CACHE ??= COMPILED_CODE;
  mkdirSync(COMPILED_CODE, { recursive: true });
  if (readdirSync(COMPILED_CODE, { recursive: true }).length > MOST_FILES) {
    rmSync(COMPILED_CODE, { recursive: true, force: true });
  }
}
