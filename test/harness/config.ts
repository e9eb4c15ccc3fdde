import { parse } from 'yaml';
import { sandboxYaml } from '../../sandbox/configuration.ts';
import { commandNames } from '../../src/commands/index.ts';
import { loadConfig, readConfigFile } from '../../src/ops/index.ts';
import { ANA, BEN, CLEO, DORA, FINN, GUS } from './users.ts';

/** Edits the parsed configuration file of the sandbox. */
export type EditYaml = (file: Record<string, never>) => unknown;

const SANDBOX_YAML = sandboxYaml();
const SANDBOX_FILE = parse(SANDBOX_YAML);

/** The configuration file of the sandbox, edited, as parsed YAML. */
export function sandboxFile(edit: EditYaml = (file) => file): Readonly<Record<string, unknown>> {
  return Object(edit(structuredClone(SANDBOX_FILE)));
}

/** Lists the members of the sandbox's groups by id in each role, without a user group. */
export function withPeople(file: Record<string, never>): unknown {
  return {
    ...file,
    roles: {
      viewer: { users: [ANA, FINN, BEN, CLEO, GUS, DORA] },
      operator: { users: [ANA, FINN] },
      approver: { users: [BEN, CLEO, GUS] },
      oncall: { users: [ANA] },
    },
  };
}

// Checking a file takes longer than starting all simulators, and most tests have the same file.
const contents = new Map<string, ReturnType<typeof readConfigFile>>();

function contentOf(source: Parameters<typeof readConfigFile>[0]) {
  const key = source.readFile(source.path);
  const content = contents.get(key) ?? readConfigFile(source);
  contents.set(key, content);
  return content;
}

/** The configuration from these variables and the edited file of the sandbox. */
export function testConfig(env: Readonly<Record<string, string>>, edit?: EditYaml) {
  // JSON is YAML, and is written and read in less time.
  const text = edit ? JSON.stringify(sandboxFile(edit)) : SANDBOX_YAML;
  const read = loadConfig({ env, readFile: () => text, commands: commandNames }, contentOf);
  if (!read.ok) throw new Error(JSON.stringify(read.problems, null, 2));
  return read.config;
}
