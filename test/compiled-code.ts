import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where `npm start`, the sandbox and the tests keep compiled code. */
export const COMPILED_CODE = fileURLToPath(
  new URL('../node_modules/.cache/compile', import.meta.url),
);
/** A whole run of the tests adds about 1,100 files to some thousands. */
const MOST_FILES = 20_000;

/**
 * Sets the folder in which the workers, and the processes that tests start, share compiled code. Vitest imports a test
 * file under a new address in each run, so that the compiled code of test files is never used again. The folder is
 * therefore emptied when it has too many files. A folder that the environment names is left as it is.
 */
export function shareCompiledCode(): void {
  process.env.NODE_COMPILE_CACHE ??= COMPILED_CODE;
  mkdirSync(COMPILED_CODE, { recursive: true });
  if (readdirSync(COMPILED_CODE, { recursive: true }).length > MOST_FILES) {
    rmSync(COMPILED_CODE, { recursive: true, force: true });
  }
}
