import { nearest, splitWords, type Word } from '../base/text.ts';
import { type CommandOffer, oneLineOf, slashCommand } from '../domain/answer.ts';
import { findByName, type NamedItem } from '../domain/targets.ts';
import {
  commandLine,
  type Field,
  fieldsOf,
  isPlaced,
  quoteWord,
  type TypedValues,
} from './arguments.ts';
import {
  type Command,
  nounOf,
  type ParseProblem,
  type ParseResult,
  type TypedCommand,
  type Vocabulary,
  verbOf,
} from './define.ts';
import { thingsOf } from './names.ts';
import { parseValues } from './values.ts';

/** Parses `/service stop analytics-prod nightly maintenance`; asks instead of guessing. */
export function parseLine(noun: string, typed: string, vocabulary: Vocabulary): ParseResult {
  const words = splitWords(typed);
  const own = vocabulary.commands.filter((command) => nounOf(command) === noun);
  const { command, rest } = commandOf(noun, own, words);
  if (command) return readArguments(command, rest, vocabulary);

  const [verb, ...others] = words;
  if (!verb || verb.text.toLowerCase() === 'help') {
    return { kind: 'help', noun, about: wordsOf(others) };
  }
  return unknownVerb({ noun, verb: verb.text, rest: others }, own, vocabulary);
}

/** `stop` of `help stop`; a verb can have two words. Null without one. */
function wordsOf(words: readonly Word[]): string | null {
  return words.length > 0 ? words.map(({ text }) => text.toLowerCase()).join(' ') : null;
}

// A noun can be a command without a verb, for example `cost`; its words are all arguments.
function commandOf(noun: string, own: readonly Command[], words: readonly Word[]) {
  const [verb, second] = words.slice(0, 2).map(({ text }) => text.toLowerCase());
  // The longer name first: `schedule list` is a command, and `schedule staging` is another one.
  for (const verbs of [`${verb} ${second}`, verb]) {
    const typed = `${noun} ${verbs}`;
    const command = own.find(({ name, aliases = [] }) => [name, ...aliases].includes(typed));
    if (command) return { command, rest: words.slice(verbs === verb ? 1 : 2) };
  }
  const bare = own.find((candidate) => verbOf(candidate) === '');
  return { command: verb === 'help' ? undefined : bare, rest: words };
}

interface UnknownVerb {
  readonly noun: string;
  readonly verb: string;
  readonly rest: readonly Word[];
}

function unknownVerb(
  { noun, verb, rest }: UnknownVerb,
  own: readonly Command[],
  { prefix = '' }: Vocabulary,
): ParseResult {
  const tail = rest.map(quoteWord);
  const offers: CommandOffer[] = nearest(verb, own.map(verbOf)).map((near) => ({
    label: `${noun} ${near}`,
    line: [noun, near, ...tail].join(' '),
  }));
  const verbs = [...own.map(verbOf), 'help'].join(', ');
  return {
    kind: 'misread',
    sentence: `There's no command ${slashCommand(prefix, `${noun} ${verb}`)}. Commands: ${verbs}.`,
    problems: {},
    offers,
  };
}

function readArguments(
  command: Command,
  words: readonly Word[],
  vocabulary: Vocabulary,
): ParseResult {
  const { prefix = '' } = vocabulary;
  const fields = fieldsOf(command.args);
  const takesReason = command.kind === 'change';
  const reasons = takesReason ? words.filter(isReason) : [];
  const others = words.filter((word) => !reasons.includes(word));
  const read = assignWords(fields, others, { vocabulary, takesReason });
  if (reasons.length > 1) return misread('“reason=” is given twice.', command, prefix);
  const line = [...others, ...reasons];
  if ('unknown' in read) return unknownKey(command, line, read.unknown, prefix);
  if ('misplaced' in read) return misplacedKey(command, line, read, prefix);
  if ('twice' in read) return misread(`“${read.twice}=” is given twice.`, command, prefix);

  const { given, rest } = read;
  const search = fields.find((field) => field.rest);
  if (search) {
    const text = rest.join(' ');
    return parseValues(
      command,
      { ...given, ...(text ? { [search.name]: text } : {}) },
      '',
      vocabulary,
    );
  }
  if (command.kind === 'query' && rest.length > 0) return tooMuch(command, rest.join(' '), prefix);
  const [keyed] = reasons;
  const value = keyed ? (pairOf(keyed)?.value ?? '') : null;
  const trailing = rest.join(' ');
  if (value !== null && trailing !== '') {
    return reasonTwice({ command, given }, [value, trailing], prefix);
  }
  return parseValues(command, given, value ?? trailing, vocabulary);
}

/** Every command that takes a reason also takes it as `reason="nightly maintenance"`. */
function isReason(word: Word): boolean {
  return pairOf(word)?.key.toLowerCase() === 'reason';
}

type WordAssignment =
  | { readonly given: TypedValues; readonly rest: readonly string[] }
  /** A key that the command does not have. */
  | { readonly unknown: Word }
  /** A key of the command among the words of the reason, which begins at this index. */
  | { readonly misplaced: Word; readonly reasonAt: number }
  | { readonly twice: string };

/**
 * Assigns words to fields by position or key; `rest` has the other words. Only a quoted `key=value` is
 * part of a reason: any other one is a key.
 */
function assignWords(
  fields: readonly Field[],
  words: readonly Word[],
  { vocabulary, takesReason }: { vocabulary: Vocabulary; takesReason: boolean },
): WordAssignment {
  const given: Record<string, string> = {};
  const keyed = fields.filter(({ word, key }) => (word ?? key) !== undefined);
  const placed = fields.filter(isPlaced);
  let left = [...words];
  for (const field of placed) {
    if (left[0] && isKeyed(left[0], field, keyed)) break;
    const takesAll = !takesReason && field === placed.at(-1) && !fields.some(({ rest }) => rest);
    const taken = takePlaced(field, left, { vocabulary, takesAll });
    if (taken.length === 0) break;
    given[field.name] = textOf(taken);
    left = left.slice(taken.length);
  }

  while (left[0] && keyed.length > 0) {
    const pair = pairOf(left[0]);
    if (!pair) break;
    const field = fieldOf(left[0], keyed);
    if (!field) return { unknown: left[0] };
    if (given[field.name] !== undefined) return { twice: pair.key };
    given[field.name] = pair.value;
    left = left.slice(1);
  }
  const { taken, rest } = takeTrailing(keyed, left);
  const stray = takesReason || keyed.length > 0 ? rest.find((word) => pairOf(word)) : undefined;
  const reasonAt = words.length - left.length;
  if (stray) return fieldOf(stray, keyed) ? { misplaced: stray, reasonAt } : { unknown: stray };
  const twice = taken.find(({ name }) => given[name] !== undefined)?.word;
  if (twice !== undefined) return { twice };
  for (const { name, value } of taken) given[name] ??= value;
  return { given, rest: rest.map(({ text }) => text) };
}

/** Takes the keys at the end: `nightly maintenance at=20:00 for=4h` → `at` and `for`. */
function takeTrailing(keyed: readonly Field[], words: readonly Word[]) {
  const last = words.findLastIndex((word) => !fieldOf(word, keyed)?.afterReason);
  const taken = words.slice(last + 1).flatMap((word) => {
    const [field, pair] = [fieldOf(word, keyed), pairOf(word)];
    return field && pair ? [{ name: field.name, word: pair.key, value: pair.value }] : [];
  });
  return { taken, rest: words.slice(0, last + 1) };
}

/** Key and value of `min=16`; null for any other word, and for a quoted one. */
function pairOf({ text, quoted }: Word): { readonly key: string; readonly value: string } | null {
  const [, key, value] = /^([\w-]+)=(.*)$/s.exec(text) ?? [];
  return quoted || key === undefined || value === undefined ? null : { key, value };
}

/** An unknown key is reported as unknown; it never becomes the value of an optional field. */
function isKeyed(typed: Word, field: Field, keyed: readonly Field[]): boolean {
  if (fieldOf(typed, keyed)) return true;
  return field.optional && pairOf(typed) !== null;
}

function fieldOf(typed: Word, keyed: readonly Field[]): Field | undefined {
  const key = pairOf(typed)?.key.toLowerCase();
  if (key === undefined) return undefined;
  return keyed.find((field) => [field.word, field.key, field.name.toLowerCase()].includes(key));
}

interface NameSearch {
  readonly vocabulary: Vocabulary;
  /** No reason and no other field follows, so that all words are the name. */
  readonly takesAll: boolean;
}

function takePlaced(
  field: Field,
  words: readonly Word[],
  { vocabulary, takesAll }: NameSearch,
): readonly Word[] {
  if (field.names && field.names !== 'pipe') {
    const known = thingsOf(field.names, vocabulary);
    const run = knownRun(words, known) ?? similarRun(words, known);
    if (run) return run;
    if (takesAll) return wordsBeforeKeys(words);
  }
  // An unknown command is quoted in the answer with both words, noun and verb.
  return words.slice(0, field.names === 'ask' ? 2 : 1);
}

// Names may contain spaces: the longest run of words that is a known name is one value.
function knownRun(words: readonly Word[], known: readonly NamedItem[]) {
  return runsOf(words, 1).find((run) => findByName(known, textOf(run)).length > 0);
}

/** The longest run of several words that is similar to a name with as many words: `5xx rtae`. */
function similarRun(words: readonly Word[], known: readonly NamedItem[]) {
  const names = known.flatMap(({ name, aliases }) => [name, ...aliases]);
  return runsOf(words, 2).find((run) => {
    const alike = names.filter((name) => name.split(/\s+/).length === run.length);
    return nearest(textOf(run), alike).length > 0;
  });
}

const NAME_WORDS_MAX = 8;

/** The first words that can be one name, the longest run first; a quoted word is a name of its own. */
function runsOf(words: readonly Word[], least: number): readonly (readonly Word[])[] {
  const most = Math.min(NAME_WORDS_MAX, wordsBeforeKeys(words).length);
  const counts = Array.from({ length: Math.max(0, most - least + 1) }, (_, index) => most - index);
  return counts
    .map((count) => words.slice(0, count))
    .filter((run) => run.length === 1 || run.every(({ quoted }) => !quoted));
}

function wordsBeforeKeys(words: readonly Word[]): readonly Word[] {
  const end = words.findIndex((word, index) => index > 0 && pairOf(word) !== null);
  return end < 0 ? words : words.slice(0, end);
}

function textOf(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ');
}

const LABEL_MAX = 40;

/** The reason is given with its key and at the end of the line: offers each of them alone. */
function reasonTwice(
  { command, given }: Omit<TypedCommand, 'reason'>,
  reasons: readonly [string, string],
  prefix: string,
): ParseProblem {
  const sentence = `The reason is given twice: “${reasons.join('” and “')}”.`;
  const offers = reasons.map((reason) => ({
    label: `Reason: ${oneLineOf(reason, LABEL_MAX)}`,
    line: commandLine(command, given, reason),
  }));
  return { ...misread(sentence, command, prefix), offers };
}

function tooMuch(command: Command, text: string, prefix: string): ParseResult {
  const sentence = `${slashCommand(prefix, command.name)} does not take “${text}”.${keysText(command)}`;
  const alone = { label: command.name, line: command.name };
  const offers = fieldsOf(command.args).length === 0 ? [alone] : [];
  return { ...misread(sentence, command, prefix), offers };
}

/** ` Keys: state, since.` */
function keysText(command: Command): string {
  const keys = keysOf(command);
  return keys.length > 0 ? ` Keys: ${keys.join(', ')}.` : ' It has no keys.';
}

function keysOf({ args }: Command): readonly string[] {
  return fieldsOf(args).flatMap(({ word, key }) => word ?? key ?? []);
}

function unknownKey(
  command: Command,
  words: readonly Word[],
  unknown: Word,
  prefix: string,
): ParseResult {
  const [key = '', value = ''] = unknown.text.split(/=(.*)/s);
  const near = nearestKeys(key, fieldsOf(command.args));
  const meant = near.length > 0 ? ` Did you mean ${near.join(' or ')}?` : '';
  const fitting = near.filter((word) => isAccepted(command, word, value));
  const corrected = fitting.map((word) => ({ ...unknown, text: `${word}=${value}` }));
  const offers = corrected.map((word) => ({
    label: word.text,
    line: lineOf(command, withWord(words, unknown, word)),
  }));
  const sentence = `${slashCommand(prefix, command.name)} has no key “${key}=”.${meant}${keysText(command)}`;
  return {
    ...misread(sentence, command, prefix),
    offers: [...offers, ...inReason(command, words, unknown)],
  };
}

/** Whether the value of a key is accepted, or similar to an accepted one. */
function isAccepted({ args }: Command, word: string, value: string): boolean {
  const field = fieldsOf(args).find(({ word: own, key }) => (own ?? key) === word);
  if (!field) return false;
  const isValid = args.shape[field.name]?.safeParse(value).success === true;
  return isValid || (field.suggestions?.(value) ?? []).length > 0;
}

/** A key within the reason could be meant as a value or as a word of the reason: Signalbox asks. */
function misplacedKey(
  command: Command,
  words: readonly Word[],
  { misplaced, reasonAt }: { readonly misplaced: Word; readonly reasonAt: number },
  prefix: string,
): ParseResult {
  const [key] = misplaced.text.split('=');
  const others = words.filter((word) => word !== misplaced);
  const moved = [...others.slice(0, reasonAt), misplaced, ...others.slice(reasonAt)];
  const sentence = `Write “${key}=” before the reason, or quote it as part of the reason.`;
  const offers = [{ label: misplaced.text, line: lineOf(command, moved) }];
  return {
    ...misread(sentence, command, prefix),
    offers: [...offers, ...inReason(command, words, misplaced)],
  };
}

function inReason(command: Command, words: readonly Word[], word: Word): readonly CommandOffer[] {
  if (command.kind === 'query') return [];
  const line = lineOf(command, withWord(words, word, { ...word, quoted: true }));
  return [{ label: 'Part of the reason', line }];
}

function withWord(words: readonly Word[], word: Word, other: Word): readonly Word[] {
  return words.map((one) => (one === word ? other : one));
}

function lineOf({ name }: Command, words: readonly Word[]): string {
  return [name, ...words.map(quoteWord)].join(' ');
}

/** The keys with this label or synonym; if there are none, those with a similar name. */
function nearestKeys(key: string, fields: readonly Field[]): readonly string[] {
  const keyed = fields.flatMap(({ word: own, key: other, ...field }) => {
    const word = own ?? other;
    return word === undefined ? [] : [{ word, ...field }];
  });
  const wanted = key.toLowerCase();
  const same = keyed.filter(({ label, synonyms: otherwise = [] }) =>
    [label.toLowerCase(), ...otherwise].includes(wanted),
  );
  if (same.length > 0) return same.map(({ word }) => word);
  const called = keyed.flatMap(({ word, name, label }) =>
    [word, name, label].map((by) => ({ by, word })),
  );
  const near = nearest(
    key,
    called.map(({ by }) => by),
  );
  const words = near.flatMap((name) => called.filter(({ by }) => by === name));
  return [...new Set(words.map(({ word }) => word))];
}

function misread(sentence: string, command: Command, prefix: string): ParseProblem {
  const [example] = command.examples;
  const shown = example ? `${sentence}\nFor example: ${slashCommand(prefix, example)}` : sentence;
  return {
    kind: 'misread',
    sentence: shown,
    problems: {},
    offers: [],
    asked: { command, given: {} },
  };
}
