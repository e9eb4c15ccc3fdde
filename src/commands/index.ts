export {
  commandLine,
  type Field,
  type FieldContext,
  fieldsOf,
  type ListedKind,
  oneOf,
  type TypedValues,
} from './arguments.ts';
export {
  type ChangeCommand,
  type ChangesQueries,
  type Command,
  type CommandContext,
  type CurrentState,
  fieldContext,
  type Intent,
  type ListedItem,
  nounOf,
  type ParseProblem,
  type ParseResult,
  type QueryCommand,
  type ServerLists,
  titleOf,
  type Vocabulary,
  verbOf,
} from './define.ts';
export { decidedChanges } from './elsewhere.ts';
export { type HelpReader, helpFor, usageHint } from './help.ts';
export { itemsOf } from './listed.ts';
export { resolveNames } from './names.ts';
export { parseLine } from './parse.ts';
export { commandNames, commands, nouns } from './registry.ts';
export { listedSnapshots } from './service-observe.ts';
export { servicesOverview } from './service-read.ts';
export type { Progress, SettledRule } from './settled.ts';
export { hasField, parseProblemOf, parseValues } from './values.ts';
export { changesFreezes, takesService, untaggedTarget } from './who.ts';
