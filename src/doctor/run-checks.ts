import { commandNames, commands, nouns } from '../commands/index.ts';
import type { Env, ReadFile } from '../config/environment.ts';
import { loadConfig } from '../config/load-config.ts';
import type { Patient } from './check-context.ts';
import { checkup, refused } from './checkup.ts';
import { manifestBeside, secretsOf } from './manifest-file.ts';
import { cleaned, type Report } from './report.ts';

export interface Given extends Pick<Patient, 'version' | 'now' | 'withinMs'> {
  readonly env: Env;
  readonly readFile: ReadFile;
}

/** Everything that is found, without a secret in it whatever a server may have quoted. */
export async function examined(given: Given): Promise<Report> {
  const { env, readFile, version } = given;
  const loaded = loadConfig({
    env,
    readFile,
    commands: commandNames,
  });
  if (!loaded.ok) return { version, sections: refused(loaded.problems) };
  const { config } = loaded;
  const manifest = manifestBeside(readFile);
  const sections = await checkup({ ...given, config, commands, nouns, manifest });
  return { version, sections: cleaned(sections, secretsOf(config)) };
}
