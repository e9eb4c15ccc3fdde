import type { Word } from '../../base/text.ts';
import { nearest } from '../../base/text.ts';
import { findByName, type NamedItem } from '../../domain/targets.ts';
import { type Field, isPlaced, type TypedValues } from '../arguments/arguments.ts';
import type { Vocabulary } from './parse-result.ts';
import { thingsOf } from './resolve-names.ts';

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
