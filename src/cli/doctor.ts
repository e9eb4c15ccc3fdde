import { readFileSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };
import { passed, reportText, toJson, wantsColour } from '../doctor/report.ts';
import { runChecks } from '../doctor/run-checks.ts';
import { parseOptions } from './parse-options.ts';

const USAGE = `signalbox doctor [--json]
    Checks the installation: configuration, Slack, channels, people, both APIs, the database and
    running replicas. It changes no setting, and it works next to a running Signalbox.
    --json      JSON output with the fields ok, version, failed, warnings and checks

✓ ok   ! warning   ✗ failed, with the next step   – not checked
Exit code: 0 no check failed, 1 a check failed, 2 wrong options.
`;

const OPTIONS = { json: { type: 'boolean' }, help: { type: 'boolean' } } as const;

const { version } = packageJson;
const { stdout, stderr } = process;
const WITHIN_MS = 5_000;

function leave(sentence: string): never {
  stderr.write(`${sentence}\n\n${USAGE}`);
  process.exit(2);
}

function readOptions(args: readonly string[]) {
  const parsed = parseOptions(args, OPTIONS);
  if ('sentence' in parsed) return leave(parsed.sentence);
  const [word] = parsed.positionals;
  return word === undefined ? parsed.values : leave(`doctor takes options only, not ${word}.`);
}

/** `signalbox doctor`: exits with the result. */
export async function runDoctor(args: readonly string[]): Promise<void> {
  const options = readOptions(args);
  if (options.help) {
    stdout.write(USAGE);
    process.exit(0);
  }
  const report = await runChecks({
    env: process.env,
    readFile: (path) => readFileSync(path, 'utf8'),
    version,
    withinMs: WITHIN_MS,
    now: () => new Date(),
  });
  const colour = wantsColour(stdout.isTTY === true, process.env);
  const text = options.json ? toJson(report) : reportText(report, { colour });
  // The process exits after this write, even if a check still waits for an answer.
  stdout.write(text, () => process.exit(passed(report) ? 0 : 1));
}
