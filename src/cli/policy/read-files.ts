import {
  type ConfigProblem,
  type ConfigResult,
  lineOfItem,
  parseConfig,
  readYaml,
  withLines,
} from '../../base/problem.ts';
import { commandNames } from '../../commands/registry.ts';
import { declaredNames, readDeclaredParts } from '../../config/declared-parts.ts';
import { readConfigFile } from '../../config/load-config.ts';
import type { Policy, PolicyVocabulary } from '../../domain/policy.ts';
import {
  type CaseVocabulary,
  casesSchema,
  type PolicyCase,
} from '../../policy/cases/case-schema.ts';
import { buildDirectory } from '../../servers/directory.ts';
import { caseTargets, type FileServices, targetKindOf } from './case-targets.ts';

type ReadFile = (path: string) => string;

/** A configuration file as the policy tools use it. */
export interface PolicyFile extends FileServices {
  readonly policy: Policy;
}

/** A case with its line in the file. */
export type LocatedCase = PolicyCase & { readonly line: number };

/** Reads a configuration file. The problems have the file and the line. */
function readPolicyFile(path: string, readFile: ReadFile): ConfigResult<PolicyFile> {
  const read = readConfigFile({ path, readFile, commands: commandNames, hasKey: true });
  if (read.ok) {
    const { policy, reads } = read.value;
    const services = buildDirectory(read.value.services, []);
    return { ok: true, value: { policy, services, discoversServices: reads === 'extended' } };
  }
  const text = textOf(path, readFile);
  if (!text.ok) return text;
  return { ok: false, problems: withLines(text.value, path, read.problems) };
}

interface CasesSource {
  readonly cases: string;
  readonly config: string;
  readonly readFile: ReadFile;
}

export interface CasesRead {
  readonly file: PolicyFile;
  readonly cases: readonly LocatedCase[];
}

/** Reads the cases and the configuration file. Reports the problems of both at once. */
export function readCases({ cases: path, config, readFile }: CasesSource): ConfigResult<CasesRead> {
  const file = readPolicyFile(config, readFile);
  const text = textOf(path, readFile);
  const cases = text.ok ? casesIn(text.value, path, vocabularyOf(config, readFile, file)) : text;
  const unmatched =
    text.ok && cases.ok && file.ok
      ? withLines(text.value, path, withoutTarget(cases.value, file.value))
      : [];
  const problems = [...problemsIn(file), ...problemsIn(cases), ...unmatched];
  if (!file.ok || !cases.ok || problems.length > 0) return { ok: false, problems };
  return { ok: true, value: { file: file.value, cases: cases.value } };
}

function casesIn(
  text: string,
  path: string,
  words: CaseVocabulary,
): ConfigResult<readonly LocatedCase[]> {
  const yaml = readYaml(text, path);
  if (!yaml.ok) return yaml;
  const read = parseConfig(casesSchema(words), yaml.value ?? {});
  if (!read.ok) return { ok: false, problems: withLines(text, path, read.problems) };
  const located = read.value.map((one, index) => ({
    ...one,
    line: lineOfItem(text, 'cases', index),
  }));
  return { ok: true, value: located };
}

// Read leniently, so that a problem of the configuration file does not hide those of the cases.
function vocabularyOf(
  path: string,
  readFile: ReadFile,
  file: ConfigResult<PolicyFile>,
): CaseVocabulary {
  const text = textOf(path, readFile);
  const yaml = text.ok ? readYaml(text.value, path) : text;
  const words: PolicyVocabulary = {
    ...commandNames,
    ...declaredNames(readDeclaredParts(yaml.ok ? yaml.value : {})),
  };
  const users = file.ok
    ? [...file.value.policy.roles.values()].flatMap((role) => role.users)
    : null;
  return { ...words, users, targetKindOf };
}

function withoutTarget(cases: readonly PolicyCase[], file: FileServices): readonly ConfigProblem[] {
  return cases.flatMap((one, index) => {
    if (caseTargets(one, file).length > 0) return [];
    const where = `cases[${index}].tag`;
    const { tag, warehouse } = one.scope;
    const problem = `matches no service: none has the tag ${tag} and the warehouse ${warehouse}`;
    return [{ where, problem, hint: null }];
  });
}

function textOf(path: string, readFile: ReadFile): ConfigResult<string> {
  try {
    return { ok: true, value: readFile(path) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
    return {
      ok: false,
      problems: [{ where: path, problem: `cannot be read (${code})`, hint: null }],
    };
  }
}

function problemsIn(result: ConfigResult<unknown>): readonly ConfigProblem[] {
  return result.ok ? [] : result.problems;
}

/** One line for each problem, and the hint. */
export function problemReport(problems: readonly ConfigProblem[]): string {
  const count = problems.length === 1 ? '1 problem' : `${problems.length} problems`;
  const lines = problems.map(({ where, problem, hint }) => {
    return `  ${where}  ${problem}${hint === null ? '' : ` (${hint})`}`;
  });
  return [`Nothing was decided: ${count}.`, ...lines, ''].join('\n');
}
