import { type CommandResult, runCommand } from './run-command.ts';

const RIGHTS = '-dac_override,-dac_read_search,-fowner';

/** Runs Node; root loses its right to open and change every file. */
export function runUnprivileged(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  if (process.getuid?.() !== 0) return runCommand(words, env);
  const limits = ['--bounding-set', RIGHTS, '--inh-caps', RIGHTS, process.execPath];
  return runCommand([...limits, ...words], env, 'setpriv');
}

/** Runs Node where no file of the process can grow beyond these bytes, as on a full disk. */
export function runOnFullDisk(
  bytes: number,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const limits = [`--fsize=${bytes}:unlimited`, process.execPath, ...words];
  return runCommand(limits, { ...env, NODE_DISABLE_COMPILE_CACHE: '1' }, 'prlimit');
}
