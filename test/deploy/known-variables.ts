import { FROM_FILES, VARIABLE_NAMES } from '../../src/ops/index.ts';

const KNOWN = [...VARIABLE_NAMES, ...FROM_FILES.map((name) => `${name}_FILE`)];

/** Those of the variables that the bot does not read. */
export function unknownVariables(names: readonly string[]): readonly string[] {
  return names.filter((name) => !KNOWN.includes(name));
}

/** Those of the variables that hold a secret themselves, in place of the path of its file. */
export function secretValues(names: readonly string[]): readonly string[] {
  return names.filter((name) => FROM_FILES.includes(name));
}
