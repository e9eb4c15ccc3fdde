import { nearest, type Word } from '../base/text.ts';
import { slashCommand } from '../domain/answer.ts';
import { scopesOf, tagsOf, warehousesOf } from '../domain/freezes.ts';
import { findByName, type NamedItem, nameToType, type Service } from '../domain/targets.ts';
import { commandLine, type Field, fieldsOf, isPlaced, type TypedValues } from './arguments.ts';
import type { ListedItem, ParseProblem, ServerLists, TypedCommand, Vocabulary } from './define.ts';

type NameResolution =
  | { readonly ok: true; readonly args: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly misread: ParseProblem };

type Names = NonNullable<Field['names']>;

/** Replaces each typed name by the item it names; an unknown or ambiguous name is a problem. */
export function resolveNames(
  asked: TypedCommand,
  fields: readonly Field[],
  parsed: Readonly<Record<string, unknown>>,
  vocabulary: Vocabulary,
): NameResolution {
  const args: Record<string, unknown> = { ...parsed };
  for (const { name, names } of fields) {
    const text = asked.given[name];
    if (!names || text === undefined) continue;
    const things = thingsOf(names, vocabulary, args);
    const found = findByName(things, text);
    const one = found.length === 1 ? found[0] : unlisted(names, text, found);
    if (!one) {
      const field = { name, names, prefix: vocabulary.prefix ?? '' };
      return { ok: false, misread: unclear(asked, field, found, things) };
    }
    args[name] = one;
  }
  return { ok: true, args };
}

/** Everything that a field may name; a pipe belongs to the service given before it. */
export function thingsOf(
  names: Names,
  { services, alerts, freezes = [], commands, lists = {} }: Vocabulary,
  args: Readonly<Record<string, unknown>> = {},
): readonly NamedItem[] {
  if (names === 'service') return services;
  if (names === 'scope') return scopesOf(services);
  if (names === 'tag') return tagsOf(services);
  if (names === 'warehouse') return warehousesOf(services);
  if (names === 'alert') return alerts;
  if (names === 'freeze') return freezes;
  if (names === 'ask')
    return commands.map(({ name, aliases = [] }) => ({ id: name, name, aliases }));
  // Fields are resolved in order, so `service` was replaced by a Service before.
  const service = args.service as Service | undefined;
  const listed = lists.pipe ?? [];
  const configured = (service?.pipes ?? []).map((pipe) => ({ ...pipe, aliases: [] }));
  return [...listed, ...configured.filter(({ id }) => listed.every((item) => item.id !== id))];
}

/** An id that is not in the vocabulary is passed on: the server accepts or rejects it. */
function unlisted(names: Names, text: string, found: readonly NamedItem[]): NamedItem | null {
  const isId = /^(?=.*\d)[A-Za-z0-9_-]{12,64}$/.test(text);
  return (names === 'pipe' || names === 'alert') && found.length === 0 && isId
    ? { id: text, name: text, aliases: [] }
    : null;
}

const LISTS: Readonly<Record<Names, string>> = {
  service: 'service list lists all known services.',
  pipe: 'Pipe names are set in signalbox.yaml; an id also works.',
  alert: 'alert list lists all alerts.',
  scope: 'service list lists all known services.',
  tag: 'service list shows the tags of each service.',
  warehouse: 'service list shows the warehouse of each service.',
  freeze: 'change freezes lists all freezes.',
  ask: 'signalbox help lists all commands.',
};

const KINDS: Readonly<Record<Names, string>> = {
  service: 'service',
  pipe: 'pipe',
  alert: 'alert',
  scope: 'service',
  tag: 'tag',
  warehouse: 'warehouse',
  freeze: 'freeze',
  ask: 'command',
};

interface AmbiguousField {
  readonly name: string;
  readonly names: Names;
  readonly prefix: string;
}

function unclear(
  { command, given, reason }: TypedCommand,
  { name, names, prefix }: AmbiguousField,
  found: readonly NamedItem[],
  things: readonly NamedItem[],
): ParseProblem {
  const text = given[name] ?? '';
  const close = found.length > 1 ? found : near(text, things);
  const offers = close.slice(0, 5).map((thing) => {
    const shared = findByName(things, thing.name).length > 1;
    const again = { ...given, [name]: nameToType(thing, things) };
    return {
      label: shared ? thing.id : thing.name,
      line: commandLine(command, again, reason),
    };
  });
  const list = names === 'pipe' ? LISTS.pipe : slashCommand(prefix, LISTS[names]);
  const hint = offers.length > 0 ? 'Did you mean:' : list;
  const problem =
    found.length > 1
      ? `${found.length} ${KINDS[names]}s are called “${text}”. Which one do you mean?`
      : `There's no ${KINDS[names]} called “${text}”. ${hint}`;
  const named = { command, given, reason };
  return { kind: 'misread', sentence: problem, problems: { [name]: problem }, offers, named };
}

function near(text: string, things: readonly NamedItem[]): readonly NamedItem[] {
  const namesOf = ({ name, aliases }: NamedItem) => [name, ...aliases];
  const close = nearest(text, things.flatMap(namesOf));
  return [...new Set(close.flatMap((name) => things.filter((one) => namesOf(one).includes(name))))];
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
export function assignWords(
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
export function pairOf({
  text,
  quoted,
}: Word): { readonly key: string; readonly value: string } | null {
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

type Resolution =
  | { readonly ok: true; readonly given: TypedValues }
  | { readonly ok: false; readonly misread: ParseProblem };

/**
 * Replaces the names of items that the server lists by their ids. Any other text is passed on as an
 * id: the list can be incomplete or unknown, and the server accepts or rejects it.
 */
export function resolveListed(asked: TypedCommand, lists: ServerLists = {}): Resolution {
  const given: Record<string, string> = { ...asked.given };
  for (const { name, lists: kind, word } of fieldsOf(asked.command.args)) {
    const text = asked.given[name];
    if (!kind || !text) continue;
    const found = distinct(findByName(lists[kind] ?? [], text));
    if (found.length > 1) return { ok: false, misread: ambiguous(asked, { name, word }, found) };
    given[name] = found[0]?.id ?? text;
  }
  return { ok: true, given };
}

function distinct(items: readonly ListedItem[]): readonly ListedItem[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}

function ambiguous(
  { command, given, reason }: TypedCommand,
  field: { readonly name: string; readonly word: string | undefined },
  found: readonly ListedItem[],
): ParseProblem {
  const what = field.word ?? field.name;
  const problem = `${found.length} of them are called “${given[field.name]}” (${what}). Which one do you mean?`;
  const offers = found.slice(0, 5).map(({ id, name, about }) => ({
    label: [name, about, id].filter(Boolean).join(' · '),
    line: commandLine(command, { ...given, [field.name]: id }, reason),
  }));
  return { kind: 'misread', sentence: problem, problems: { [field.name]: problem }, offers };
}
