import { commandNames, commands, nouns } from '../commands/index.ts';
import type { Env, ReadFile } from '../config/environment.ts';
import { loadConfig } from '../config/load-config.ts';
import type { CheckContext } from './check-context.ts';
import { checkup, configurationRefused } from './checkup.ts';
import { manifestBeside, secretsOf } from './manifest-file.ts';
import { cleaned, type DoctorReport } from './report.ts';

export interface CheckInput extends Pick<CheckContext, 'version' | 'now' | 'withinMs'> {
  readonly env: Env;
  readonly readFile: ReadFile;
}

/** Everything that is found, without a secret in it whatever a server may have quoted. */
export async function runChecks(given: CheckInput): Promise<DoctorReport> {
  const { env, readFile, version } = given;
  const loaded = loadConfig({
    env,
    readFile,
    commands: commandNames,
  });
  if (!loaded.ok) return { version, sections: configurationRefused(loaded.problems) };
  const { config } = loaded;
  const manifest = manifestBeside(readFile);
  const sections = await checkup({ ...given, config, commands, nouns, manifest });
  return { version, sections: cleaned(sections, secretsOf(config)) };
}
