import { parseArgs } from 'node:util';

export const DOCTOR_USAGE = `npm run doctor -- [--json] [--env <file>]
    Looks whether Signalbox can run here: configuration, Slack, channels, people, both APIs, the
    database, what runs already. It reads, beside a running Signalbox too, and changes nothing.
    --json      for programs: ok, version, failed, warnings, and a list of checks
    --env       the variables of this file, and no others, instead of the environment

✓ fine   ! worth a look   ✗ in the way, with what to do   – cannot be seen from here
Exit code: 0 nothing is in the way, 1 something is, 2 the command is not clear.
`;

export type DoctorOptions =
  | {
      readonly ok: true;
      readonly help: boolean;
      readonly json: boolean;
      readonly file: string | null;
    }
  | { readonly ok: false; readonly sentence: string };

export function readDoctorOptions(args: readonly string[]): DoctorOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        env: { type: 'string' },
      },
    });
    const { json, help, env = null } = values;
    return { ok: true, json, help, file: env };
  } catch (error) {
    return { ok: false, sentence: error instanceof Error ? error.message : String(error) };
  }
}
