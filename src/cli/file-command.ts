import { databaseSentence } from '../storage/errors.ts';
import { parseOptions } from './parse-options.ts';
import { leave, storeOf } from './store.ts';

interface FileCommand {
  readonly name: string;
  readonly usage: string;
  /** What did not happen, before the reason: `No backup was made`. */
  readonly failure: string;
}

/**
 * Runs a command that takes the database and one file, and writes the sentence that `run` returns.
 * Exits with 1 if `run` throws, and with 2 for wrong options.
 */
export async function runFileCommand(
  { name, usage, failure }: FileCommand,
  args: readonly string[],
  run: (url: string, file: string) => Promise<string>,
): Promise<void> {
  const parsed = parseOptions(args, { help: { type: 'boolean' } });
  if ('sentence' in parsed) leave(`${parsed.sentence}\n\n${usage}`, 2);
  const [file, ...more] = parsed.positionals;
  if (parsed.values.help) {
    process.stdout.write(usage);
    return;
  }
  if (file === undefined || more.length > 0) leave(`${name} needs one file.\n\n${usage}`, 2);
  const done = await run(storeOf(process.env).url, file).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    return leave(`${failure}: ${databaseSentence(error) ?? reason}`, 1);
  });
  process.stdout.write(`${done}\n`);
}
