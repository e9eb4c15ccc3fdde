import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { quoted, suggestion } from '../base/problem.ts';

/** Parses options and words. Returns a sentence for an unknown option, with the nearest known one. */
export function parseOptions<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
    if (unknown === undefined) return { sentence: message };
    const known = Object.keys(options).map((name) => `--${name}`);
    return { sentence: unknownWord('option', unknown, known) };
  }
}

/** Returns the sentence for an unknown subcommand, with the nearest known one. */
export function unknownCommand(word: string, known: readonly string[]): string {
  return unknownWord('command', word, known);
}

function unknownWord(what: string, word: string, known: readonly string[]): string {
  const hint = suggestion(word, known) ?? '';
  return `Unknown ${what} ${quoted(word)}: ${hint}${hint.endsWith('?') ? '' : '.'}`;
}
