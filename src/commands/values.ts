import type { z } from 'zod';
import type { FieldProblem } from '../base/errors.ts';
import type { LocalClock } from '../base/moments.ts';
import { nearest, ownValue } from '../base/text.ts';
import { type CommandOffer, oneLineOf } from '../domain/answer.ts';
import { separateTiming, timingProblems } from '../domain/timing.ts';
import { wordOf } from '../domain/words.ts';
import { settingText } from '../servers/facts.ts';
import {
  alike,
  commandLine,
  type Field,
  type FieldContext,
  fieldsOf,
  isPlaced,
  oneOf,
  type TypedValues,
} from './arguments.ts';
import {
  type Command,
  fieldContext,
  type ParseProblem,
  type ParseResult,
  type TypedCommand,
  type Vocabulary,
} from './define.ts';
import { resolveListed, resolveNames } from './names.ts';

const REASON_MAX = 500;

/** Parses typed words and form fields alike: returns an intent, or what is missing or wrong. */
export function parseValues(
  command: Command,
  typed: TypedValues,
  reason: string,
  vocabulary: Vocabulary,
): ParseResult {
  const fields = fieldsOf(command.args);
  const accepted = acceptedValues(command, typed, vocabulary.clock ?? null);
  const listed = resolveListed({ command, given: accepted, reason }, vocabulary.lists);
  if (!listed.ok) return listed.misread;
  const { given } = listed;
  const asked: TypedCommand = { command, given, reason };
  const among = fieldContext(vocabulary, given);
  const isMissing = ({ name, optional }: Field) =>
    !given[name] && !(optional && !command.isRequired?.(name, among));
  const missing = fields.filter(
    (field) => isMissing(field) && hasField(command, field.name, among),
  );
  const filled = Object.fromEntries(Object.entries(given).filter(([, text]) => text !== ''));
  const isWhole = missing.length === 0;
  const schema = isWhole ? command.args : command.args.partial();
  const parsed = schema.safeParse(isWhole ? given : filled, { error: problemOfIssue });
  // A wrong value is named before the missing ones are asked for, and all of them at once.
  const unlisted = unlistedChoices(fields, given, among);
  const invalid = parsed.success ? [] : problemsOf(parsed.error);
  // In characters, of which an emoji is one.
  const { length } = [...reason];
  const tooLong = `is too long: ${length} of at most ${REASON_MAX} characters`;
  const wrong = [
    ...unlisted,
    ...invalid.filter(({ field }) => unlisted.every((each) => each.field !== field)),
    ...(length > REASON_MAX ? [{ field: 'reason', problem: tooLong }] : []),
  ];
  if (!parsed.success || wrong.length > 0) return parseProblemOf(asked, wrong, among, missing);
  if (!isWhole) {
    const names = resolveNames({ ...asked, given: filled }, fields, filled, vocabulary);
    if (!names.ok) return names.misread;
    const needed = missing.filter(({ optional }) => optional).map(({ label }) => label);
    return {
      ...{ kind: 'incomplete', command, given: { ...given, reason }, missing },
      ...(needed.length > 0 && { unclear: `Required for these values: ${needed.join(', ')}.` }),
    };
  }
  const inapplicable = fields.filter(({ name }) => given[name] && !hasField(command, name, among));
  if (inapplicable.length > 0) return inapplicableOf(asked, inapplicable, among);

  const resolved = resolveNames(asked, fields, parsed.data, vocabulary);
  if (!resolved.ok) return resolved.misread;
  const timed = command.kind === 'change' ? command.timed : undefined;
  const { own: args, timing } = separateTiming(timed, resolved.args);
  const conflicts = timingProblems(timing);
  if (conflicts.length > 0) {
    // Two start times or two ends: the line without the first, and without the second.
    const own = given.at === undefined || given.in === undefined ? ['for', 'until'] : ['in', 'at'];
    const offers = own.map((name) => removalOf(asked, `Remove ${name}=`, [name]));
    return { ...parseProblemOf(asked, conflicts, among), offers };
  }
  const said = command.kind === 'change' ? reasonText(reason) : null;
  return { kind: 'intent', command, args, given, timing, reason: said };
}

/** Null for a reason without a visible letter, digit or sign. */
function reasonText(reason: string): string | null {
  const text = reason.trim();
  return /[^\s\p{C}\p{Z}\u115f\u1160\u2800\u3164\uffa0]/u.test(text) ? text : null;
}

/**
 * A value in the form that the schema accepts: `64 GB` → `64`, `8pm` → `20:00`; null for any other text. A switch or
 * a choice is its value, `OFF` → `off`: rules over several fields compare values, not how they were typed.
 */
export function acceptedText(
  { args }: Pick<Command, 'args'>,
  { name, input, means, reads }: Field,
  typed: string,
  clock: LocalClock | null,
): string | null {
  const meant = ownValue(means, typed.toLowerCase());
  if (meant !== undefined) return meant;
  const accepted = args.shape[name]?.safeParse(typed);
  // A valid time of another zone is not yet its moment.
  if (accepted?.success !== true || (clock?.isElsewhere && reads))
    return reads?.(typed, clock) ?? null;
  if (input?.kind === 'switch') return settingText(accepted.data);
  // A word for a value, as `waiting`, stays what was typed.
  const value = String(accepted.data);
  return input?.kind === 'choice' && alike(value) === alike(typed) ? value : typed;
}

function acceptedValues(command: Command, typed: TypedValues, clock: LocalClock | null) {
  const all = fieldsOf(command.args).flatMap((field) => {
    const text = typed[field.name];
    if (text === undefined) return [];
    return [[field.name, acceptedText(command, field, text, clock) ?? text] as const];
  });
  return { ...typed, ...Object.fromEntries(all) };
}

/** Values of choices that other values rule out, for example a region of another provider. */
function unlistedChoices(fields: readonly Field[], given: TypedValues, among: FieldContext) {
  return fields.flatMap(({ name, input, mustBe }): readonly FieldProblem[] => {
    const text = given[name];
    if (input?.kind !== 'choice' || !text || !mustBe) return [];
    const options = input.options(among);
    return options.length === 0 || options.some((option) => alike(option) === alike(text))
      ? []
      : [{ field: name, problem: mustBe(among) }];
  });
}

/** The line without these values. */
function removalOf(
  { command, given, reason }: TypedCommand,
  label: string,
  names: readonly string[],
) {
  const kept = Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)));
  return { label, line: commandLine(command, kept, reason) };
}

export function hasField(command: Command, field: string, among: FieldContext): boolean {
  return command.hasField?.(field, among) ?? true;
}

/** Fields that do not apply to the other values, with an offer to remove them. */
function inapplicableOf(asked: TypedCommand, inapplicable: readonly Field[], among: FieldContext) {
  const { command, given } = asked;
  const names = inapplicable.map(({ name }) => name);
  // A choice without a key, for example the action of `cost digest`, decides which fields apply.
  const action = fieldsOf(command.args).find(
    (field) => isPlaced(field) && field.input?.kind === 'choice',
  );
  const chosen = action && given[action.name];
  const problem = chosen ? `cannot be used with “${chosen}”` : 'does not apply to these values';
  const problems = names.map((field) => ({ field, problem }));
  const offers = [removalOf(asked, 'Remove it', names)];
  return { ...parseProblemOf(asked, problems, among), offers };
}

function problemsOf({ issues }: z.ZodError): readonly FieldProblem[] {
  return issues.map(({ path, message }) => {
    const [problem = message, hint] = message.split('\n');
    const field = String(path[0] ?? '');
    return { field, problem: hint === undefined ? problem : `${problem} (${hint})` };
  });
}

/** The problem text for a zod issue whose schema has no own message; undefined: zod's text. */
function problemOfIssue(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_value')
    return `must be ${oneOf(issue.values.map((value) => wordOf(String(value))))}`;
  if (issue.code === 'invalid_type') return KINDS[issue.expected] ?? 'has the wrong type';
  if (issue.code === 'too_big') return limit(issue.origin, `at most ${issue.maximum}`);
  if (issue.code === 'too_small') return limit(issue.origin, `at least ${issue.minimum}`);
  return issue.code === 'custom' ? undefined : 'is not accepted';
}

const KINDS: Readonly<Record<string, string>> = {
  boolean: 'must be on or off',
  number: 'must be a number',
  int: 'must be a whole number',
};

function limit(origin: string, bound: string): string {
  if (origin === 'string') return `must have ${bound} characters`;
  return origin === 'array' ? `must have ${bound} values` : `must be ${bound}`;
}

/** Problems by field as sentences, with the nearest accepted values as buttons. */
export function parseProblemOf(
  asked: TypedCommand,
  problems: readonly FieldProblem[],
  among: FieldContext,
  missing: readonly Field[] = [],
): ParseProblem {
  const fields = fieldsOf(asked.command.args);
  const sentences = problems.map((problem) => sentenceOf(problem, fields, asked));
  const { command, given, reason } = asked;
  const inForm = [
    ...missing.map(({ name, label }) => [name, `${label} is required.`] as const),
    // The first problem of each field.
    ...problems.toReversed().map((each) => [each.field, formSentence(each, asked, among)] as const),
  ];
  const offers = repairs(problems, fields, asked, among);
  const isOne = sentences.length === 1 && offers.length > 0;
  return {
    kind: 'misread',
    sentence: `${[...new Set(sentences)].join('\n')}${isOne ? ':' : ''}`,
    problems: Object.fromEntries(inForm),
    offers,
    asked: { command, given: { ...given, reason } },
  };
}

/** The sentence below a field: by its label, with the nearest accepted values. */
function formSentence(
  { field, problem }: FieldProblem,
  { command, given }: TypedCommand,
  among: FieldContext,
): string {
  const asking = fieldsOf(command.args).find(({ name }) => name === field);
  const typed = given[field];
  const near = asking && typed ? valuesNear(typed, asking, among) : [];
  const label = asking?.label ?? (field === 'reason' && !isSentence(problem) ? 'Reason' : '');
  const nearest = near.length > 0 ? `: ${oneOf(near.map(wordOf))}` : '';
  const whole = `${label} ${problem}${valueNote(problem, typed)}${nearest}`.trim();
  return isSentence(whole) ? whole : `${whole}.`;
}

function isSentence(text: string): boolean {
  return /[.?!]$/.test(text);
}

/** `, not 30`: the value that was typed, unless the problem names it. */
function valueNote(problem: string, typed: string | undefined): string {
  const [, named] = /“([^”]+)”/.exec(problem) ?? [];
  if (!typed?.trim() || (named !== undefined && typed.includes(named))) return '';
  const isShort = problem.startsWith('must be ') && !/for example|\(/.test(problem);
  return isShort ? `, not ${oneLineOf(typed, 60)}` : ` (you typed ${oneLineOf(typed, 60)})`;
}

function sentenceOf(
  { field, problem }: FieldProblem,
  fields: readonly Field[],
  { given }: TypedCommand,
) {
  const known = fields.find(({ name }) => name === field);
  const name = known?.word ?? known?.label ?? (field === 'reason' ? 'Reason' : field);
  return `${name} ${problem}${known ? valueNote(problem, given[field]) : ''}`.trim();
}

const REPAIRS_MAX = 5;

/** Lines in which every wrong value is replaced at once; none if one of them has no similar value. */
function repairs(
  problems: readonly FieldProblem[],
  fields: readonly Field[],
  { command, given, reason }: TypedCommand,
  among: FieldContext,
): readonly CommandOffer[] {
  const wrong = fields.filter(
    ({ name }) => given[name] && problems.some(({ field }) => field === name),
  );
  const near = wrong.map((field) => ({
    field,
    values:
      problems.find((each) => each.field === field.name)?.offered ??
      valuesNear(given[field.name] ?? '', field, among),
  }));
  if (near.length === 0 || near.some(({ values }) => values.length === 0))
    return exchanged(wrong, { command, given, reason });
  const most = Math.max(...near.map(({ values }) => values.length));
  const offers = Array.from({ length: most }, (_, index) => {
    const repaired = near.map(
      ({ field, values }) => [field, values[index] ?? values.at(-1) ?? ''] as const,
    );
    return offerOf(repaired, { command, given, reason });
  });
  return [...new Map(offers.map((offer) => [offer.line, offer])).values()].slice(0, REPAIRS_MAX);
}

function offerOf(
  values: readonly (readonly [Field, string])[],
  { command, given, reason }: TypedCommand,
): CommandOffer {
  const label = values
    .map(([{ word, key }, value]) => [word ?? key, wordOf(value)].filter(Boolean).join('='))
    .join(' ');
  const repaired = Object.fromEntries(values.map(([{ name }, value]) => [name, value]));
  return { label, line: commandLine(command, { ...given, ...repaired }, reason) };
}

/** Two accepted values that do not fit in this order: `min=64 max=16`. */
function exchanged(wrong: readonly Field[], asked: TypedCommand): readonly CommandOffer[] {
  const { given } = asked;
  const [min, max] = ['min', 'max'].map((word) =>
    fieldsOf(asked.command.args).find((field) => field.word === word),
  );
  const isWrong = wrong.some((field) => field === min || field === max);
  const [low, high] = [given[min?.name ?? ''], given[max?.name ?? '']];
  if (!isWrong || !min || !max || !low || !high || Number(low) <= Number(high)) return [];
  const swapped = [[min, high] as const, [max, low] as const];
  return [offerOf(swapped, asked)];
}

function valuesNear(typed: string, { input, suggestions: like }: Field, among: FieldContext) {
  // The typed value itself is never offered.
  if (input?.kind !== 'choice') return (like?.(typed) ?? []).filter((near) => near !== typed);
  const options = input.options(among);
  // An accepted value conflicts with another field; its neighbours may conflict as well.
  if (options.includes(typed)) return [];
  const near = nearValues(typed, options);
  return near.length > 0 ? near : (like?.(typed) ?? []);
}

function nearValues(typed: string, options: readonly string[]): readonly string[] {
  const number = Number(typed);
  if (Number.isNaN(number)) return nearest(typed, options);
  const below = options.findLast((option) => Number(option) < number);
  const above = options.find((option) => Number(option) > number);
  return [below, above].filter((option) => option !== undefined);
}
