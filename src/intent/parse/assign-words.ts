import { findByName } from '../../directory/directory.ts';
import { type Field, isPlaced, type TypedValues } from '../arguments/arguments.ts';
import { nearest } from './nearest.ts';
import type { Vocabulary } from './parse-result.ts';
import { thingsOf } from './resolve-names.ts';
import type { Word } from './split-words.ts';

type WordAssignment =
  | { readonly given: TypedValues; readonly rest: readonly string[] }
  | { readonly unknownKey: string }
  | { readonly twice: string };

/** Assigns words to fields by position or key; `rest` has the other words. */
export function assignWords(
  fields: readonly Field[],
  words: readonly Word[],
  vocabulary: Vocabulary,
): WordAssignment {
  const given: Record<string, string> = {};
  const keyed = fields.filter(({ word }) => word !== undefined);
  let left = [...words];
  for (const field of fields.filter(isPlaced)) {
    if (left[0] && isKeyed(left[0], field, keyed)) break;
    const taken = takePlaced(field, left, vocabulary);
    if (taken.length === 0) break;
    given[field.name] = taken.map(({ text }) => text).join(' ');
    left = left.slice(taken.length);
  }

  // Keys are read only before the reason begins: “now load=high” has no key.
  while (left[0] && keyed.length > 0) {
    const pair = pairOf(left[0]);
    if (!pair) break;
    const field = fieldOf(left[0], keyed);
    if (!field && beginsReason(pair.key, keyed)) break;
    if (!field) return { unknownKey: pair.key };
    if (given[field.name] !== undefined) return { twice: pair.key };
    given[field.name] = pair.value;
    left = left.slice(1);
  }
  const { taken, rest } = takeTrailing(keyed, left);
  const twice = taken.find(({ name }) => given[name] !== undefined)?.word;
  if (twice !== undefined) return { twice };
  for (const { name, value } of taken) given[name] ??= value;
  return { given, rest: rest.map(({ text }) => text) };
}

/** A command whose only keys are start and end times reads an unknown `load=high` as its reason. */
function beginsReason(key: string, keyed: readonly Field[]): boolean {
  const words = keyed.flatMap(({ word }) => word ?? []);
  const others = keyed.flatMap(({ synonyms: otherwise = [] }) => otherwise);
  const isNear = nearest(key, words).length > 0 || others.includes(key.toLowerCase());
  return keyed.every(({ afterReason: trails }) => trails) && !isNear;
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

function pairOf({ text, quoted }: Word): { readonly key: string; readonly value: string } | null {
  const [, key, value] = /^([\w-]+)=(.*)$/s.exec(text) ?? [];
  return quoted || key === undefined || value === undefined ? null : { key, value };
}

/** An unknown key is reported as unknown; it never becomes the value of an optional field. */
function isKeyed(typed: Word, field: Field, keyed: readonly Field[]): boolean {
  if (fieldOf(typed, keyed)) return true;
  return field.optional && keyed.length > 0 && pairOf(typed) !== null;
}

function fieldOf(typed: Word, keyed: readonly Field[]): Field | undefined {
  const key = pairOf(typed)?.key.toLowerCase();
  return keyed.find(({ word, name }) => [word, name.toLowerCase()].includes(key));
}

// Names may contain spaces: the longest run of words that is a known name is one value.
function takePlaced(field: Field, words: readonly Word[], vocabulary: Vocabulary): readonly Word[] {
  if (field.names && field.names !== 'pipe') {
    const known = thingsOf(field.names, vocabulary);
    for (let count = Math.min(8, words.length); count > 1; count -= 1) {
      const run = words.slice(0, count);
      if (run.some(({ quoted }) => quoted)) continue;
      if (findByName(known, run.map(({ text }) => text).join(' ')).length > 0) return run;
    }
  }
  // An unknown command is quoted in the answer with both words, noun and verb.
  const isNoun = field.names === 'ask' && !isKnown(words.slice(0, 1), field, vocabulary);
  return words.slice(0, isNoun ? 2 : 1);
}

function isKnown(words: readonly Word[], { names }: Field, vocabulary: Vocabulary): boolean {
  const known = names ? thingsOf(names, vocabulary) : [];
  return words.some(({ text }) => findByName(known, text).length > 0);
}
