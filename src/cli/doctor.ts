import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { DOCTOR_USAGE, readDoctorOptions } from '../doctor/options.ts';
import { passed, reportText, toJson, wantsColour } from '../doctor/report.ts';
import { runChecks } from '../doctor/run-checks.ts';

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
const { stdout, stderr } = process;
const WITHIN_MS = 5_000;

function leave(sentence: string): never {
  stderr.write(`${sentence}\n\n${DOCTOR_USAGE}`);
  process.exit(2);
}

function variablesOf(file: string | null) {
  if (file === null) return process.env;
  try {
    return parseEnv(readFileSync(file, 'utf8'));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
    return leave(`${file} cannot be read (${code}).`);
  }
}

const options = readDoctorOptions(process.argv.slice(2));
if (!options.ok) leave(options.sentence);
if (options.help) {
  stdout.write(DOCTOR_USAGE);
  process.exit(0);
}
const report = await runChecks({
  env: variablesOf(options.file),
  readFile: (path) => readFileSync(path, 'utf8'),
  version,
  withinMs: WITHIN_MS,
  now: () => new Date(),
});
const colour = wantsColour(stdout.isTTY === true, process.env);
const text = options.json ? toJson(report) : reportText(report, { colour });
// Whatever still hangs is left behind, once this is written.
stdout.write(text, () => process.exit(passed(report) ? 0 : 1));
