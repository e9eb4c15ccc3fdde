/** How words are read: each step takes the words at its place that it understands. */

import { cached } from '../base/cache.ts';
import {
  type AskedTime,
  NUMBERS,
  type TimeKey,
  timeAt,
  typedSpan,
  windowAt,
} from '../base/moments.ts';
import { nearest, ownValue, type Word, type Words } from '../base/text.ts';
import { slashCommand } from '../domain/answer.ts';
import { findByName } from '../domain/targets.ts';
import {
  alike,
  type Field,
  isPlaced,
  optionsOf,
  type TypedValues,
  typedText,
} from './arguments.ts';
import { type Command, fieldContext, type Phrase, type Vocabulary } from './define.ts';
import { nameAt } from './names.ts';
import { acceptedText } from './values.ts';
import { wordsBack } from './verbs.ts';

/** Words that can be read in several ways. */
export interface Ambiguity extends NonNullable<Phrase['choice']> {
  /** The words, which can also be a part of the reason; null if they cannot. */
  words: string | null;
}

/** A word of the reason, or the place of words that are asked about. `at`: it is neither quoted nor introduced. */
export type Piece =
  | { readonly text: string; readonly at?: number }
  | { readonly choice: Ambiguity };

/** A word of the reason that is neither quoted nor introduced; null for any other piece. */
export function looseText(piece: Piece): string | null {
  return 'text' in piece && piece.at !== undefined ? piece.text : null;
}

export interface Draft {
  readonly given: Record<string, string>;
  readonly pieces: Piece[];
  readonly choices: Ambiguity[];
  /** Several names where one target is possible, and those that are left out. */
  readonly targets: string[];
  readonly without: string[];
  unclear: string | null;
  refused: string | null;
  /** The value of `reason=`. */
  keyedReason: string;
  /** The words of the reason begin here; values follow only with their keys. */
  isProse: boolean;
}

export interface Reader {
  readonly command: Command;
  readonly fields: readonly Field[];
  readonly words: Words;
  readonly vocabulary: Vocabulary;
  readonly draft: Draft;
  /** From here on, all words are keys with values. */
  readonly tailAt: number;
}

/** A step returns how many words it has read; 0: they are not for it. */
export type Step = (reader: Reader, at: number) => number;

const NOISE = /[,;!]+$|(?<![.\d])\.$/;

/** The word without the punctuation after it, and without marks of code and bold text. */
export function bare({ text, quoted }: Word): string {
  return quoted
    ? text
    : text.replace(NOISE, '').replace(/^[`*~]+(?=[^`*~])|(?<=[^`*~])[`*~]+$/g, '');
}

export function lower(word: Word | undefined): string {
  return word && !word.quoted ? bare(word).toLowerCase() : '';
}

/** The text of the words from here on that no quote interrupts. */
export function textsAt({ words }: Reader, at: number): readonly string[] {
  const rest = words.slice(at, at + 8);
  const end = rest.findIndex(({ quoted }) => quoted);
  return (end < 0 ? rest : rest.slice(0, end)).map(bare);
}

/** Of two different values of one key, the person chooses. */
export function set({ draft, fields }: Reader, given: TypedValues): void {
  for (const [name, value] of Object.entries(given)) {
    const before = draft.given[name];
    const isAsked = draft.choices.some(({ readings }) => readings.some((each) => each.given[name]));
    if (!isAsked) draft.given[name] ??= value;
    if (before === value || (before === undefined && !isAsked)) continue;
    const { word = name } = fields.find((field) => field.name === name) ?? {};
    const texts = [before ?? '', value].filter((text) => text !== '');
    const readings = texts.map((text) => ({ label: `${word}=${text}`, given: { [name]: text } }));
    // A second time is said: `20:00 and 22:00`.
    const said = TIMING.some((key) => key === name) ? `: ${texts.join(' and ')}` : '';
    draft.choices.push({ why: `“${word}=” is given twice${said}.`, readings, words: null });
  }
}

export function ask({ draft }: Reader, choice: Ambiguity): void {
  draft.choices.push(choice);
  if (choice.words !== null) draft.pieces.push({ choice });
}

/** Words that are certainly the reason. */
function addProse({ draft }: Reader, words: Words): void {
  draft.pieces.push(...words.map(({ text }) => ({ text })));
  draft.isProse = true;
}

export function takesReason({ command }: Pick<Reader, 'command'>): boolean {
  return command.kind === 'change';
}

/** `because …`, `-m …`, `reason: …`: all that follows is the reason, untouched. */
export const introducedReason: Step = (reader, at) => {
  const { words, draft, tailAt } = reader;
  const word = words[at];
  if (!takesReason(reader) || !word || word.quoted) return 0;
  if (/^(because|weil)$/i.test(word.text)) {
    addProse(reader, words.slice(at));
    return words.length - at;
  }
  const [, value] = /^-{0,2}reason[:=](.*)$/is.exec(word.text) ?? [];
  if (value === undefined && !/^(--reason|-m|--message)$/i.test(word.text)) return 0;
  // A name that is still missing follows the reason; what was quoted is the whole reason.
  const isWhole = value ? /\s/.test(value) || lacksName(reader) : words[at + 1]?.quoted;
  const end = isWhole ? at + (value ? 1 : 2) : Math.max(at + 1, tailAt);
  const rest = words.slice(at + 1, end).map(({ text }) => text);
  draft.keyedReason = [draft.keyedReason, value ?? '', ...rest].filter(Boolean).join(' ');
  return end - at;
};

/** A required name is still missing, so that a reason with its key is one word. */
export function lacksName(reader: Reader): boolean {
  return reader.fields.some((field) => isMissing(reader, field));
}

/** A field without a key that the command needs, and that no other key replaces. */
export function isMissing({ fields, draft }: Reader, field: Field): boolean {
  const isNeeded = field.unlessTyped
    ? !fields.some(({ typedOnly, name }) => typedOnly && draft.given[name] !== undefined)
    : !field.optional;
  return isPlaced(field) && isNeeded && draft.given[field.name] === undefined;
}

interface Pair {
  readonly key: string;
  readonly value: string;
  /** `key=value` or `--key`, not `key:value`, which prose has as well. */
  readonly isSure: boolean;
}

function pairOf({ text, quoted }: Word): Pair | null {
  if (quoted) return null;
  const [, dashes = '', key = '', sign = '', value = ''] =
    /^(-{0,2})([a-z][\w-]*?)(?:([=:])(.*))?$/is.exec(text) ?? [];
  if (key === '' || (dashes === '' && sign === '')) return null;
  return { key: key.toLowerCase(), value, isSure: sign === '=' || dashes !== '' };
}

export function fieldOfPair(fields: readonly Field[], word: Word): Field | null {
  const pair = pairOf(word);
  return pair?.isSure ? (fieldOfKey(fields, pair.key) ?? null) : null;
}

/** More than all commands have. */
const FIELDS_MAX = 1_000;

/** `min`, `minimum`, `Minimum memory`, `minReplicaMemoryGb` and the plural of each. */
const keysOf = cached(FIELDS_MAX, ({ word, key, name, label, synonyms = [] }: Field) => {
  if (word === undefined && key === undefined) return new Set([name.toLowerCase()]);
  const long = label.toLowerCase().replace(/ ?\(.*\)| per .*/g, '');
  const keys = [word ?? '', key ?? '', name.toLowerCase(), long, ...synonyms].filter(
    (text) => text !== '',
  );
  return new Set(
    keys.flatMap((text) => [text, `${text}s`, text.replaceAll('-', ' '), text.replace(/s$/, '')]),
  );
});

function isKey(field: Field, text: string): boolean {
  return keysOf(field).has(text);
}

function fieldOfKey(fields: readonly Field[], key: string): Field | undefined {
  const exact = fields.find((field) => [field.word, field.key].includes(key));
  const spaced = key.replaceAll('-', ' ');
  return exact ?? fields.find((field) => isKey(field, key) || isKey(field, spaced));
}

/** `max=64`, `--max 64`, `max: 64`. */
export const explicitPair: Step = (reader, at) => {
  const { words, fields, draft, vocabulary } = reader;
  const word = words[at];
  const pair = word && pairOf(word);
  if (!word || !pair) return 0;
  const [, negated] = /^no-?(.+)$/.exec(pair.key) ?? [];
  const off = negated === undefined ? undefined : fieldOfKey(fields, negated);
  if (off?.input?.kind === 'switch' && pair.value === '') {
    set(reader, { [off.name]: 'off' });
    return 1;
  }
  const field = fieldOfKey(fields, pair.key);
  if (!field) return unknownKey(reader, at, pair);
  if (!pair.isSure && draft.isProse) return 0;
  const options = optionsOf(field, fieldContext(vocabulary, draft.given));
  const alone = ownValue(field.means, pair.key) ?? options.find((option) => option === pair.key);
  if (pair.value === '' && alone !== undefined) {
    set(reader, { [field.name]: alone });
    return 1;
  }
  const rest = words.slice(at + 1);
  const first = pair.value === '' ? [] : [pair.value];
  const isLast = at >= reader.tailAt;
  const own =
    first.length === 0 && rest[0]?.quoted ? [rest[0].text] : [...first, ...textsAt(reader, at + 1)];
  const value = valueAt(reader, field, own);
  if (!value && !pair.isSure) return 0;
  const taken = value
    ? value.taken + 1 - first.length
    : Math.min(2 - first.length, rest.length + 1);
  if (draft.isProse && !isLast && !lacksName(reader)) {
    const shown = typedText(words.slice(at, at + taken));
    ask(reader, eitherOf(shown, { [field.name]: value?.text ?? pair.value }));
    return taken;
  }
  const asked = value ? null : askedTime(field, own, vocabulary);
  if (asked) {
    draft.choices.push(asked.choice);
    return asked.taken + 1 - first.length;
  }
  set(reader, { [field.name]: value?.text ?? own[0] ?? '' });
  return taken;
};

/** Words within the reason that can be a value. */
export function eitherOf(words: string, given: TypedValues): Ambiguity {
  const why = `“${words}” can be a value or a part of the reason.`;
  return { why, readings: [{ label: words, given }], words };
}

/** A key that the command does not have is asked about: another key, or a word of the reason. */
function unknownKey(reader: Reader, at: number, { key, value, isSure }: Pair): number {
  const { fields, words, command, vocabulary } = reader;
  const typed = words[at]?.text ?? '';
  const isSearch =
    command.kind === 'query' && fields.some(({ rest }) => rest) && fields.length === 1;
  const isFlag = command.kind === 'change' && /^(--[a-z]|-[a-z]$)/i.test(typed);
  const isPlain = (key.length < 2 && !isFlag) || !isSure || (isSearch && value !== '');
  if (isPlain || lacksName(reader) || !(isFlag || typed.includes('='))) return 0;
  const keyed = fields.flatMap((field) => {
    const word = field.word ?? field.key;
    return word === undefined ? [] : [{ field, word }];
  });
  const spelled = keyed.flatMap(({ field, word }) => [word, ...(field.synonyms ?? [])]);
  const near = (isFlag ? [] : nearest(key, spelled)).flatMap(
    (text) => keyed.find(({ field }) => isKey(field, text)) ?? [],
  );
  const meant = [...new Set(near)];
  const did =
    meant.length > 0 ? ` Did you mean ${meant.map(({ word }) => word).join(' or ')}?` : '';
  const all =
    keyed.length > 0 ? `Keys: ${keyed.map(({ word }) => word).join(', ')}.` : 'It has no keys.';
  const shown = typed.startsWith('-') ? typed : `${key}=`;
  const other = meant.map(({ field, word }) => ({
    label: `${word}=${value}`,
    given: { [field.name]: value },
  }));
  ask(reader, {
    why: `${slashCommand(vocabulary.prefix ?? '', command.name)} has no key “${shown}”.${did} ${all}`,
    readings: isFlag ? [{ label: 'Without it', given: {} }] : value === '' ? [] : other,
    words: takesReason(reader) ? typed : '',
  });
  return 1;
}

const VALUE_WORDS = 5;

/** The longest value of the field at the start of the words; null without a valid one. */
function valueAt({ vocabulary, command, draft }: Reader, field: Field, texts: readonly string[]) {
  if (field.names) {
    const words = texts.map((text) => ({ text, quoted: false }));
    return nameAt(field.names, words, vocabulary, draft.given);
  }
  const schema = command.args.shape[field.name];
  for (let taken = Math.min(VALUE_WORDS, texts.length); taken > 0; taken -= 1) {
    const typed = texts.slice(0, taken).join(' ');
    const text = acceptedText(command, field, typed, vocabulary.clock ?? null);
    // Several words are one value only where the field reads them: `24 hours`.
    const reads = () => (field.reads?.(typed, vocabulary.clock ?? null) ?? null) !== null;
    const isWhole = taken === 1 || text !== typed || reads();
    if (text !== null && isWhole && schema?.safeParse(text).success) return { text, taken };
  }
  return null;
}

/** A time of a key with several readings: `at=tomorrow`. */
function askedTime(field: Field, texts: readonly string[], { clock }: Vocabulary) {
  if (!clock || !/^(at|until)$/.test(field.name)) return null;
  const found = timeAt([field.name, ...texts], clock);
  if (found?.reading.kind !== 'asked' || found.taken < 2) return null;
  return { taken: found.taken - 1, choice: choiceOf(found.reading, ['at', 'until'], null) };
}

/** The value of a quoted word: a name that is still missing, else the reason. */
export const quotedWord: Step = (reader, at) => {
  const { fields, draft, vocabulary } = reader;
  const word = reader.words[at];
  if (!word?.quoted) return 0;
  const placed = fields.filter((each) => isPlaced(each) && draft.given[each.name] === undefined);
  const isNamed = ({ names }: Field) => names && nameAt(names, [word], vocabulary, draft.given);
  // The first field without a value; one whose names include the word wins.
  const field = placed.find(isNamed) ?? placed[0];
  const isKnown = field && isNamed(field);
  if (field && (!takesReason(reader) || isKnown || (!field.optional && at === 0))) {
    set(reader, { [field.name]: word.text });
    return 1;
  }
  if (!takesReason(reader)) return 0;
  addProse(reader, [word]);
  return 1;
};

/** More questions than a person answers. */
export const CHOICES_MAX = 6;

/** What the command itself reads: `16-64`, `above 250`. */
export const ownPhrase: Step = (reader, at) => {
  const { command, draft, vocabulary } = reader;
  if (draft.choices.length >= CHOICES_MAX) return 0;
  const phrase = command.phrase?.(textsAt(reader, at), { given: draft.given, vocabulary });
  if (!phrase) return 0;
  if (phrase.given) set(reader, phrase.given);
  if (phrase.choice) draft.choices.push({ ...phrase.choice, words: null });
  draft.unclear = phrase.unclear ?? draft.unclear;
  return phrase.taken;
};

/** A name of a field without a key. */
export const placedName: Step = (reader, at) => {
  const { fields, draft, vocabulary, words } = reader;
  for (const field of fields) {
    if (!field.names || !isPlaced(field)) continue;
    const before = draft.given[field.name];
    const isOpen = before === undefined && (!field.unlessTyped || isMissing(reader, field));
    const known =
      isOpen || before ? nameAt(field.names, words.slice(at), vocabulary, draft.given) : null;
    // The same name once more: `stop staging staging`. Of `all except ci, finance`, it is left out.
    if (known && before && draft.without.length === 0 && alike(known.text) === alike(before))
      return known.taken;
    if (!isOpen || !known) continue;
    set(reader, { [field.name]: known.text });
    return known.taken;
  }
  return 0;
};

/** Whether words end here: what follows is no part of them. */
export function isEndAt(words: Words, end: number): boolean {
  const [last, next] = [words[end - 1]?.text ?? '', words[end]];
  return !next || next.quoted || AFTER.test(lower(next)) || /[,;:)]$/.test(last);
}

const AFTER =
  /^(for|because|as|at|in|on|to|until|till|from|between|with|during|while|since|by|before|after|and|or|but|except|now|today|tonight|tomorrow|[-–&+/,]|-.+|\S+=.*|please|weil|für|bis|um|\d.*)$/;

const JOINT = /^(and|und|or|&|\+|,|\/|plus|then)$/;
const ALL = /^(all|every|everything|alle)$/;
const EXCEPT = /^(except|außer|without|but|not)$/;
const LINK = /^(the|services?|tagged|labell?ed|as|with|tag|in|warehouse|of|from)$/;

/** One more target: `and ci`, `all`, `all services tagged dev`, `prod`; of several, one that is left out: `except ci`. */
export const moreTargets: Step = (reader, at) => {
  const { fields, draft, vocabulary, words, command } = reader;
  const field = fields.find(
    ({ names, optional, word }) => names === 'service' && !optional && word === undefined,
  );
  if (!field || command.kind !== 'change') return 0;
  const { services } = vocabulary;
  const all = services.map(({ name }) => name);
  const given = draft.given[field.name];
  let end = at;
  /** The next words of this kind. */
  const skip = (pattern: RegExp) => {
    const from = end;
    while (pattern.test(lower(words[end]) || (words[end]?.text ?? ''))) end += 1;
    return words.slice(from, end).map(lower);
  };
  const isJoined = skip(JOINT).length > 0 || /,$/.test(words[at - 1]?.text ?? '');
  const [leavesOut] = skip(EXCEPT);
  if (leavesOut) skip(/^for$/);
  const isOpen = given === undefined || isJoined || leavesOut !== undefined;
  const isAll = isOpen && skip(ALL).length > 0;
  const links = isAll || leavesOut || isJoined ? skip(LINK) : [];
  const isTagged = links.some((link) => /^(tag|label|warehouse)/.test(link));
  const [word, known] = [lower(words[end]), nameAt('service', words.slice(end), vocabulary)];
  const group = services.filter(({ tags, warehouse }) =>
    [...(tags ?? []), warehouse].some((one) => one?.toLowerCase() === word),
  );
  // The name of a service is the service, unless a word says that a group is meant.
  const isGroup = known ? known.taken === 1 && (isAll || isTagged) : isOpen;
  const named = isGroup && group.length > 0 ? group : findByName(services, known?.text ?? '');
  const isExcept = leavesOut !== undefined || (isJoined && draft.without.length > 0);
  if (isExcept && draft.targets.length === 0) return 0;
  if (named.length === 0) {
    const isLast = isExcept || end + 1 === words.length;
    const isTypo = isJoined && isLast && nearest(word, all).length > 0;
    const isLost = (isAll && isTagged) || /^(except|außer)$/.test(leavesOut ?? '');
    const why = `“${word || leavesOut}” names no service, tag or warehouse.`;
    if (isLost || (isTypo && isExcept)) draft.refused = why;
    else if (isTypo) ask(reader, { why, readings: [], words: typedText(words.slice(at)) });
    if (isLost || isTypo) return words.length - at;
    if (!isAll) return 0;
    // `all in 2 hours` is a time.
    end -= links.length - Number(/^services?$/.test(links[0] ?? ''));
  } else {
    end += isGroup ? 1 : (known?.taken ?? 0);
    if (isGroup) skip(/^(services?|warehouse)$/);
  }
  // `and all tests are done` is a reason.
  if ((isAll || isGroup) && given !== undefined && !isExcept && !isEndAt(words, end)) return 0;
  const names = named.length > 0 ? named.map(({ name }) => name) : all;
  const first = given === undefined ? [] : [findByName(services, given)[0]?.name ?? given];
  if (isExcept) draft.without.push(...names);
  if (isExcept || (first[0] === names[0] && names.length === 1)) return end - at;
  draft.targets.push(...new Set([...first, ...names]).difference(new Set(draft.targets)));
  draft.given[field.name] ??= names[0] ?? '';
  return end - at;
};

/** A field whose values are limited, so that its key can stand without `=`. */
function isClosed({ input, reads, names, means }: Field): boolean {
  const kinds = ['number', 'switch', 'choice', 'lines'];
  return kinds.includes(input?.kind ?? '') || Boolean(reads) || Boolean(names) || Boolean(means);
}

const CONNECTORS = /^(to|of|at|is|as|after|on|equals?|:|=|auf)$/;
export const TIMING: readonly TimeKey[] = ['at', 'in', 'for', 'until'];
const isKeyed = (field: Field) => !isPlaced(field) && !TIMING.some((key) => key === field.name);

/** The field of the longest key that the words begin with. */
function keyAt(fields: readonly Field[], texts: readonly string[]) {
  for (let count = Math.min(3, texts.length); count > 0; count -= 1) {
    const key = texts.slice(0, count).join(' ').toLowerCase().replace(/:$/, '');
    const field = fields.find((each) => isKeyed(each) && !each.rest && isKey(each, key));
    if (field) return { field, count };
  }
  return null;
}

/** `max 64`, `maximum memory 64`, `idle off`, `threshold to 250`, `no idle`. */
export const bareKey: Step = (reader, at) => {
  const { fields, draft } = reader;
  const texts = textsAt(reader, at);
  const first = texts[0]?.toLowerCase() ?? '';
  const negation = /^(no|without|not|disabled?|enable)$/.test(first) ? 1 : 0;
  const found = keyAt(fields, texts.slice(negation));
  if (!found || draft.given[found.field.name] !== undefined) return 0;
  const { field, count } = found;
  if (negation > 0) {
    if (field.input?.kind !== 'switch') return 0;
    set(reader, { [field.name]: first === 'enable' ? 'on' : 'off' });
    return count + 1;
  }
  if (!isClosed(field)) return quotedAfterKey(reader, field, at, count);
  const quoted = reader.words[at + count];
  const own = quoted?.quoted ? [quoted.text] : texts.slice(count);
  const joint = !quoted?.quoted && CONNECTORS.test(own[0]?.toLowerCase() ?? '') ? 1 : 0;
  const joined = valueAt(reader, field, own.slice(joint));
  const value = joined ?? valueAt(reader, field, own) ?? refusedNumber(reader, field, own);
  if (!value) return 0;
  set(reader, { [field.name]: value.text });
  return count + (joined ? joint : 0) + value.taken;
};

/** `message "too many errors"`: the quoted text. Words without quotes are as often a part of the reason. */
function quotedAfterKey(reader: Reader, { name }: Field, at: number, count: number) {
  const joint = CONNECTORS.test(lower(reader.words[at + count])) ? 1 : 0;
  const next = reader.words[at + count + joint];
  if (!takesReason(reader) || !next?.quoted || reader.draft.isProse) return 0;
  set(reader, { [name]: next.text });
  return count + joint + 1;
}

/** A number beside its key is its value, also one that the field refuses, while nothing else is given. */
function refusedNumber({ draft }: Reader, { input, reads }: Field, texts: readonly string[]) {
  const kind = input?.kind ?? 'choice';
  const isNumber = kind === 'number' || (kind === 'choice' && reads);
  if (!isNumber || draft.isProse) return null;
  const isMore = Object.keys(draft.given).length > 1;
  for (const taken of [2, 1]) {
    const typed = texts.slice(0, taken).join(' ');
    const text = reads?.(typed, null) ?? (/^\d+$/.test(typed) ? typed : null);
    const isOwn = /^\d/.test(typed) && texts.length >= taken;
    // With more given, only at the end of the line: `max=64 replicas 30 were too many`.
    if (text !== null && isOwn && !(isMore && texts.length > taken)) return { text, taken };
  }
  return null;
}

/** `3 replicas`, `to 3 replicas`, `x3`, `64 gb max`. */
export const valueThenKey: Step = (reader, at) => {
  const { fields, draft } = reader;
  const texts = textsAt(reader, at);
  const skipped = /^(to|with|at)$/i.test(texts[0] ?? '') ? 1 : 0;
  const [first = '', ...others] = texts.slice(skipped);
  const number = NUMBERS.indexOf(first.toLowerCase());
  const rest = [number > 0 ? String(number) : first, ...others];
  const lowered = rest.map((text) => text.toLowerCase());
  if (!/^\d/.test(rest[0] ?? '')) return 0;
  for (const size of [1, 2]) {
    const found = keyAt(fields, lowered.slice(size));
    if (!found || !isClosed(found.field) || draft.given[found.field.name] !== undefined) continue;
    const own = rest.slice(0, size);
    const value = valueAt(reader, found.field, own) ?? refusedNumber(reader, found.field, own);
    if (value?.taken !== size) continue;
    set(reader, { [found.field.name]: value.text });
    return skipped + size + found.count;
  }
  return 0;
};

/** A word that is a value of one field only: `vpc_resource`, `firing`, `mine`. */
export const choiceWord: Step = (reader, at) => {
  const { fields, draft, vocabulary } = reader;
  const texts = textsAt(reader, at);
  for (const count of [2, 1]) {
    const text = texts.slice(0, count).join(' ').toLowerCase();
    if (text === '' || texts.length < count) continue;
    const among = fieldContext(vocabulary, draft.given);
    const own = fields.flatMap((field) => {
      const { means, name } = field;
      const needsKey = field.typedOnly && !isPlaced(field);
      const options = needsKey || !/[a-z]/.test(text) ? [] : optionsOf(field, among);
      const option = options.find((each) => alike(each) === alike(text));
      const value = ownValue(means, text) ?? option;
      return value === undefined || draft.given[name] !== undefined ? [] : [{ name, value }];
    });
    const [one, ...others] = own;
    if (!one || others.length > 0) continue;
    set(reader, { [one.name]: one.value });
    return count;
  }
  return 0;
};

const LOOSE_TIME =
  /^((mon|tue|wed|thu|fri|sat|sun)[a-z]*|yesterday|gestern|(early )?morning|afternoon|evening|night|later|soon|weekend)$/i;
const STARTS: readonly TimeKey[] = ['at', 'in'];

/** `tonight at 20:00`, `for 4 hours`, `until monday`. */
export const timePhrase: Step = (reader, at) => {
  const { fields, vocabulary, draft } = reader;
  const keys = TIMING.filter((key) => fields.some(({ name }) => name === key));
  if (!vocabulary.clock || keys.length === 0) return 0;
  const texts = textsAt(reader, at);
  const isGiven = (key: TimeKey) => {
    const kind = STARTS.includes(key) ? STARTS : (['for', 'until'] as const);
    return kind.some((one) => draft.given[one] !== undefined);
  };
  // A freeze begins at once: of a window, it has the end.
  const own = (['at', 'until'] as const).filter((key) => keys.includes(key));
  const isFree = takesReason(reader) && own.includes('until') && !own.some(isGiven);
  /** The end of a freeze is its `until=`. */
  const keyOf = (key: TimeKey) => (key === 'for' && !keys.includes('for') ? 'until' : key);
  // `black friday until 20:00` is no window.
  const isPart = draft.isProse && LOOSE_TIME.test(texts[0] ?? '');
  const window = isFree && !isPart ? windowAt(texts, vocabulary.clock) : null;
  if (window) {
    const { taken, phrase, options, isOne } = window;
    const readings = options.map((each) => ({
      label: own.length > 1 ? each.label : each.label.replace(/^.* until/, 'now until'),
      given: Object.fromEntries(own.map((key) => [key, each[key]])),
    }));
    const [one] = readings;
    if (one && isOne && own.length > 1) set(reader, one.given);
    else {
      const no = own.length > 1 ? '' : ' It has no start: it begins at once.';
      const why = `“${phrase}” ${own.length > 1 ? 'names no single moment' : 'is a start and an end'}.${no}`;
      ask(reader, { why, readings, words: phrase });
    }
    return taken;
  }
  const back = wordsBack(reader.command, texts);
  // One change has one time: `20:00 and 22:00` is asked about.
  const joint = back === 0 && keys.some(isGiven) && JOINT.test(lower(reader.words[at])) ? 1 : 0;
  const typed = back > 0 ? ['until', ...texts.slice(back)] : texts.slice(joint);
  const found = timeAt(typed, vocabulary.clock);
  if (!found) return 0;
  const { reading } = found;
  const taken = back > 0 ? found.taken - 1 + back : found.taken + joint;
  if (reading.kind === 'now') return STARTS.some((key) => keys.includes(key)) ? taken : 0;
  if (reading.kind === 'taken') {
    const isEnd = joint > 0 && reading.key === 'at' && !isGiven('at');
    const key = isEnd ? 'until' : keyOf(reading.key);
    if (!keys.includes(key) || (draft.isProse && isGiven(key))) return 0;
    set(reader, { [key]: reading.text });
    return taken;
  }
  // A day or a part of it, within other words, is more often a part of the reason: `monday deploy`.
  const isDay = LOOSE_TIME.test(texts.slice(0, taken).join(' '));
  const isWhole = at + taken >= reader.tailAt;
  const options = reading.options.map((each) => ({ ...each, key: keyOf(each.key) }));
  const open = options.filter(({ key }) => keys.includes(key) && !isGiven(key));
  const [one, ...others] = open;
  // `4h` of a freeze can only be its end.
  if (one && others.length === 0 && !keys.includes('at') && typedSpan(one.text) !== null) {
    set(reader, { [one.key]: one.text });
    return taken;
  }
  // `by 2 replicas` is no time.
  if (!one || (isDay && !isWhole) || keyAt(fields, texts.slice(taken))) return 0;
  const words = texts.slice(0, taken).join(' ');
  ask(reader, choiceOf(reading, keys, takesReason(reader) ? words : null));
  return taken;
};

function choiceOf({ why, options }: AskedTime, keys: readonly TimeKey[], words: string | null) {
  const readings = options
    .filter(({ key }) => keys.includes(key))
    .map(({ key, text, label }) => ({ label, given: { [key]: text } }));
  return { why, readings, words };
}
