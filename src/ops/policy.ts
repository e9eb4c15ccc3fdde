import {
  type ConfigProblem,
  type ConfigResult,
  lineOfItem,
  parseConfig,
  readYaml,
  withLines,
} from '../base/problem.ts';
import {
  type Command,
  changesFreezes,
  commandNames,
  commands,
  takesService,
  untaggedTarget,
} from '../commands/index.ts';
import type { Target } from '../domain/change.ts';
import { freezeTarget, type Scope } from '../domain/freezes.ts';
import { decide, type Policy, type PolicyQuestion } from '../domain/policy.ts';
import { findByName, serviceTarget } from '../domain/targets.ts';
import { buildDirectory } from '../servers/directory.ts';
import { declaredNames, problemsIn, readConfigFile, readDeclaredParts } from './config-file.ts';
import { type ReadFile, readAs } from './environment.ts';
import {
  failureText,
  leave,
  leaveWith,
  readOptions,
  readText,
  refuseOptions,
  unknownWord,
  write,
} from './options.ts';
import {
  answerOf,
  type CaseTargetKind,
  type CaseVocabulary,
  casesSchema,
  decidedText,
  expectationText,
  LONG_REASON,
  meetsExpectation,
  minuteText,
  NOBODY,
  type PolicyAnswer,
  type PolicyCase,
} from './policy-cases.ts';
import { compareFiles } from './policy-compare.ts';
import { type ProvedFile, prove, readStatements, STATEMENT_FORMS } from './prove.ts';

const USAGE = `signalbox policy test <cases.yaml> [--config <file>]
    Decides the cases of a file by signalbox.yaml and compares each decision with the expected one.
signalbox policy prove [<statements.txt>] [--config <file>]
    Decides everything that the rules can tell apart. Lists rules that never decide, roles that can
    approve nothing, and the statements that do not hold, each with a request that breaks it.
    One statement in a line: ${STATEMENT_FORMS}
signalbox policy prove --against <old.yaml> [--config <file>]
    Writes the decisions that differ from those of another file, as Markdown for a pull request.

    --config   the configuration file; default SIGNALBOX_CONFIG, else ./signalbox.yaml
    --against  the file to compare with

Reads no database and asks no Slack: user groups cannot be read, so roles stand for people, and freezes
that were made in Slack do not count. No variable is needed.
Exit code: 0 as expected, 1 a difference from the cases or a finding, 2 wrong options or files.
`;

const OPTIONS = { config: { type: 'string' }, against: { type: 'string' } } as const;

/** `signalbox policy …`: sets the exit code. */
export async function runPolicy(args: readonly string[]): Promise<void> {
  // A reader such as `… | head` may close the pipe early: then the result is incomplete.
  process.stdout.on('error', () => process.exit(2));

  const { words, against = null, ...given } = readOptions(args, OPTIONS, USAGE, 2);
  const [what, file = null] = words;
  const { config = process.env.SIGNALBOX_CONFIG || './signalbox.yaml' } = given;
  const refuse = (sentence: string) => refuseOptions(sentence, USAGE);
  if (args.length === 0) return write(USAGE);
  if (what !== 'test' && what !== 'prove')
    return refuse(what ? unknownWord('command', what, ['test', 'prove']) : 'Use test or prove.');
  if (what === 'test' && against !== null) return refuse('--against belongs to prove.');
  if (what === 'test' && file === null)
    return refuse('test needs a file of cases, for example cases.yaml.');
  if (what === 'prove' && file !== null && against !== null)
    return refuse('prove takes a file of statements or --against, not both.');
  const asked = what === 'test' ? runTest(config, file ?? '') : runProof(config, file, against);
  const isAsExpected = await asked.catch((error: unknown) => leave(failureText(error), 2));
  process.exitCode = isAsExpected ? 0 : 1;
}

async function runTest(config: string, cases: string): Promise<boolean> {
  const read = readCases({ cases, config, readFile: readText });
  if (!read.ok) return leaveWith(read.problems);
  const { text, isAsExpected } = runCases(cases, read.value);
  await write(text);
  return isAsExpected;
}

async function runProof(config: string, file: string | null, against: string | null) {
  const now = new Date();
  const own = readPolicyFile(config, readText);
  const other = against === null ? null : readPolicyFile(against, readText);
  const text = file === null ? null : textOf(file, readText);
  const problems = [own, other, text].flatMap((read) => (read === null ? [] : problemsIn(read)));
  if (!own.ok || other?.ok === false || text?.ok === false) return leaveWith(problems);
  if (other) return write(compareFiles(other.value, own.value, now)).then(() => true);
  const read = readStatements(text?.value ?? '', file ?? '', own.value);
  if (read.problems.length > 0) return leaveWith(read.problems);
  const proof = prove(own.value, read.statements, now);
  await write(proof.text);
  return proof.holds;
}

/** A case with its line in the file. */
type LocatedCase = PolicyCase & { readonly line: number };

/** Reads a configuration file. The problems have the file and the line. */
export function readPolicyFile(path: string, readFile: ReadFile): ConfigResult<ProvedFile> {
  const read = readConfigFile({ path, readFile, commands: commandNames });
  if (read.ok) {
    const { policy, reads, serverTags } = read.value;
    const services = buildDirectory(read.value.services, [], null, read.value.organizations);
    const organizations = read.value.organizations.flatMap(({ id, name }) =>
      name === null ? [] : [{ id, name }],
    );
    const discoversServices = reads === 'extended';
    return { ok: true, value: { policy, services, organizations, discoversServices, serverTags } };
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

interface CasesRead {
  readonly file: ProvedFile;
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
function vocabularyOf(path: string, readFile: ReadFile, file: ConfigResult<ProvedFile>) {
  const text = textOf(path, readFile);
  const yaml = text.ok ? readYaml(text.value, path) : text;
  const declared = declaredNames(readDeclaredParts(yaml.ok ? yaml.value : {}));
  const roles = file.ok ? [...file.value.policy.roles.values()] : null;
  const users = roles?.flatMap((role) => role.users) ?? null;
  return { ...commandNames, ...declared, users, targetKindOf };
}

function withoutTarget(cases: readonly PolicyCase[], file: FileServices): readonly ConfigProblem[] {
  return cases.flatMap((one, index) => {
    if (caseTargets(one, file).length > 0) return [];
    const where = `cases[${index}].tag`;
    const { tag = null, warehouse = null } = one;
    const problem = `matches no service: none has the tag ${tag} and the warehouse ${warehouse}`;
    return [{ where, problem, hint: null }];
  });
}

function textOf(path: string, readFile: ReadFile): ConfigResult<string> {
  return readAs(path, readFile, (reason) => {
    return { where: path, problem: `cannot be read (${reason})`, hint: null };
  });
}

/** Decides every case and compares. The report has one line for each case, and a count. */
export function runCases(path: string, { file, cases }: CasesRead) {
  const results = cases.map((one) => resultOf(one, file));
  const different = results.filter(({ isMet }) => !isMet).length;
  const lines = results.flatMap((result) => linesFor(path, result));
  const count = results.length === 1 ? '1 case' : `${results.length} cases`;
  const summary = `${count}: ${results.length - different} as expected, ${different} different.`;
  return { text: [...lines, '', summary, ''].join('\n'), isAsExpected: different === 0 };
}

type CaseResult = ReturnType<typeof resultOf>;

/** Of the first target whose decision differs, else of the first one. */
function resultOf(one: LocatedCase, file: ProvedFile) {
  const { user, agent, roles: given = [], command, at: now, reason = LONG_REASON } = one;
  const listing = [...file.policy.roles].filter(([, { users }]) => user && users.includes(user));
  const person = [...new Set([...given, ...listing.map(([name]) => name)])];
  const isItself = agent !== undefined && user === undefined && given.length === 0;
  const roles = isItself ? (file.policy.agents?.get(agent) ?? []) : person;
  const actor = { id: user ?? NOBODY, roles, ...(agent !== undefined && { agent }) };
  const results = caseTargets(one, file).map((target) => {
    const answer = decideRequest(file.policy, { command, target, actor, reason, now });
    return { one, target, answer, isMet: meetsExpectation(one, answer) };
  });
  const [first] = results;
  if (!first) throw new Error('A case without a target is refused when its file is read');
  return results.find(({ isMet }) => !isMet) ?? first;
}

function linesFor(path: string, { one, isMet, target, answer }: CaseResult): readonly string[] {
  const name = `${path}:${one.line}  ${one.name ?? requestText(one)}`;
  if (isMet) return [`✓ ${name}: ${decidedText(answer)}`];
  const on = one.service === undefined && target ? ` on ${target.name}` : '';
  return [
    `✗ ${name}`,
    `    expected: ${expectationText(one)}`,
    `    actual:   ${decidedText(answer)}${on}`,
  ];
}

/** `operator: service stop on analytics-prod at 2026-11-23T10:00Z` */
function requestText(one: LocatedCase): string {
  const { user, roles = [], agent, command, service, tag, warehouse, everything, at } = one;
  const { organization } = one;
  const who = [user, ...roles, agent && `agent ${agent}`].filter(Boolean).join(', ') || 'no role';
  const words = [
    service,
    tag && `tag ${tag}`,
    warehouse && `warehouse ${warehouse}`,
    organization && `organization ${organization}`,
    everything && 'everything',
  ].filter(Boolean);
  const on = words.length > 0 ? ` on ${words.join(', ')}` : '';
  return `${who}: ${command}${on} at ${minuteText(at)}`;
}

/** Decides a request as the bot does. */
function decideRequest(policy: Policy, question: Omit<PolicyQuestion, 'kind'>): PolicyAnswer {
  const command = commandsByName.get(question.command);
  const needsReason = command?.kind === 'change' && command.needsReason;
  return answerOf(decide(policy, { ...question, needsReason, kind: command?.kind ?? 'change' }));
}

const commandsByName: ReadonlyMap<string, Command> = new Map(
  commands.map((command) => [command.name, command]),
);

/** Returns how the target of a command is named. */
function targetKindOf(name: string): CaseTargetKind {
  const command = commandsByName.get(name);
  if (!command) return 'none';
  if (command.kind === 'change' && changesFreezes(command)) return 'scope';
  return takesService(command) ? 'service' : 'none';
}

/** The services of a configuration file. */
type FileServices = Pick<ProvedFile, 'services' | 'discoversServices' | 'organizations'>;

/**
 * Returns the targets of a case: for a tag or a warehouse, every service of the file that has both
 * of them. Null: a query about everything.
 */
function caseTargets(
  { command, service, tag, warehouse, organization: inName }: PolicyCase,
  file: FileServices,
): readonly (Target | null)[] {
  const kind = targetKindOf(command);
  const organization = file.organizations?.find(({ name }) => name === inName);
  if (kind === 'none') {
    if (commandsByName.get(command)?.kind !== 'change') return [null];
    return [{ ...untaggedTarget(command), ...(organization && { organization }) }];
  }
  const services = file.services.filter(
    ({ organizationId }) => organizationId === (organization?.id ?? organizationId),
  );
  const named = service === undefined ? null : serviceNamed(service, { ...file, services });
  if (kind === 'scope') return [freezeTarget(freezeScope(named, tag, warehouse), services)];
  if (named) return [named];
  return services
    .filter(({ tags }) => tag === undefined || tags?.includes(tag))
    .filter((each) => warehouse === undefined || each.warehouse === warehouse)
    .map(serviceTarget);
}

/** Returns the target with a name or id. For a service that the file does not list, tags are unknown. */
function serviceNamed(text: string, { services, discoversServices }: FileServices): Target {
  const [found, ...others] = findByName(services, text);
  if (found && others.length === 0) return serviceTarget(found);
  const unlisted: Target = { kind: 'service', id: text, name: text, tags: null, warehouse: null };
  return discoversServices ? { ...unlisted, discovered: true } : unlisted;
}

function freezeScope(service: Target | null, tag?: string, warehouse?: string): Scope {
  if (service) return { service: { id: service.id, name: service.name } };
  if (tag !== undefined) return { tag };
  return warehouse === undefined ? { everything: true } : { warehouse };
}
