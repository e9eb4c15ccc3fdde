import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { COMPILED_CODE } from '../compiled-code.ts';

/**
 * The variables that every process of a test has. Compiled code is shared between the processes, as with
 * `npm start`; without it each start takes twice the processor time.
 */
export const PROCESS_ENV: Readonly<Record<string, string>> = {
  PATH: process.env.PATH ?? '',
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? COMPILED_CODE,
};

export interface CommandResult {
  readonly out: string;
  readonly err: string;
  readonly code: number | null;
}

/** Runs a command as users run it, with no variables of Signalbox but these. */
export async function runCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program = process.execPath,
): Promise<CommandResult> {
  const child = spawn(program, words, { env: { ...PROCESS_ENV, ...env } });
  const [out, err, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on('close', resolve)),
  ]);
  return { out, err, code };
}
