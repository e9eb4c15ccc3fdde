import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { problemReport, readCases } from './policy/read-files.ts';
import { runCases } from './policy/run-cases.ts';
import { POLICY_USAGE, type PolicyRequest, readPolicyOptions } from './policy-options.ts';

const { stdout, stderr } = process;

function leave(sentence: string): never {
  stderr.write(sentence);
  process.exit(2);
}

async function write(text: string): Promise<void> {
  if (!stdout.write(text)) await once(stdout, 'drain');
}

async function run(request: PolicyRequest): Promise<boolean> {
  if (request.kind === 'help') return write(POLICY_USAGE).then(() => true);
  const { cases, config } = request;
  const path = config ?? (process.env.SIGNALBOX_CONFIG || './signalbox.yaml');
  const readFile = (name: string) => readFileSync(name, 'utf8');
  const read = readCases({ cases, config: path, readFile });
  if (!read.ok) return leave(problemReport(read.problems));
  const { text, isAsExpected } = runCases(cases, read.value);
  await write(text);
  return isAsExpected;
}

/** `signalbox policy …`: sets the exit code. */
export async function runPolicy(args: readonly string[]): Promise<void> {
  // A reader such as `… | head` may close the pipe early: then the result is incomplete.
  stdout.on('error', () => process.exit(2));

  const options = readPolicyOptions(args);
  if (!options.ok) leave(`${options.sentence}\n\n${POLICY_USAGE}`);
  const isAsExpected = await run(options.request).catch((error: unknown) =>
    leave(`${error instanceof Error ? error.message : String(error)}\n`),
  );
  process.exitCode = isAsExpected ? 0 : 1;
}
