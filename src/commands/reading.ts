/** From words to the values and the reason of a command: each word is taken, asked about, or prose. */

import { CONDITION, endsInTime, isRepeated, placeAt, timeWords } from '../base/moments.ts';
import type { Word, Words } from '../base/text.ts';
import { slashCommand } from '../domain/answer.ts';
import { type Field, fieldsOf, isPlaced, oneOf, typedText } from './arguments.ts';
import type { Command, Vocabulary } from './define.ts';
import { onlyAlert, similarAt } from './names.ts';
import { acceptedText } from './values.ts';
import {
  type Ambiguity,
  bare,
  bareKey,
  CHOICES_MAX,
  choiceWord,
  type Draft,
  eitherOf,
  explicitPair,
  fieldOfPair,
  introducedReason,
  isEndAt,
  isMissing,
  lacksName,
  looseText,
  lower,
  moreTargets,
  ownPhrase,
  type Piece,
  placedName,
  quotedWord,
  type Reader,
  type Step,
  set,
  TIMING,
  takesReason,
  textsAt,
  timePhrase,
  valueThenKey,
} from './word-steps.ts';

/** Reads the words after the verb. */
export function readWords(command: Command, words: Words, vocabulary: Vocabulary): Draft {
  const fields = fieldsOf(command.args);
  const pairs = words.flatMap((word) => pairsIn(fields, word)).flatMap(zoneApart);
  return readInZone(command, pairsJoined(pairs), vocabulary);
}

/**
 * `20:00 New York tomorrow`: the words without the place, whose times are those of the zone that is named, or of
 * the one that the person chooses. `asked`: the places that are asked about already, a line each.
 */
function readInZone(command: Command, words: Words, vocabulary: Vocabulary, asked = ''): Draft {
  const own = readAll(command, words, vocabulary);
  const { clock } = vocabulary;
  const field = fieldsOf(command.args).find(({ word }) => word === 'zone')?.name;
  const place = clock ? placeIn(words, own, clock.zone, field !== undefined) : null;
  if (!clock || !place || asked.split('\n').length > CHOICES_MAX) return own;
  const { at, taken, phrase, zone, isNamed } = place;
  const before = words[at - 1]?.text ?? '';
  const read = (among = vocabulary) => {
    const draft = readInZone(command, words.toSpliced(at, taken), among, `${asked}\n${phrase}`);
    // In a reason, the time keeps its zone: `crashed at 20:00 UTC`.
    const said = draft.choices.find((each) => isNamed && each.words?.split(' ').includes(before));
    if (said?.words) said.words = said.words.replace(before, `$& ${phrase}`);
    return draft;
  };
  if (asked.split('\n').includes(phrase) || zone === clock.zone) return read();
  if (clock.isElsewhere && !place.isLike) return own;
  if (clock.isElsewhere) return { ...own, refused: `Which zone: ${clock.zone} or “${phrase}”?` };
  const readIn = (other: string): Draft => {
    const isElsewhere = field === undefined;
    const { given, ...draft } = read(
      isElsewhere ? { ...vocabulary, clock: { ...clock, zone: other, isElsewhere } } : vocabulary,
    );
    return { ...draft, given: isElsewhere ? given : { [field]: other, ...given } };
  };
  if (zone !== null && isNamed) return readIn(zone);
  const draft = read();
  const choice = {
    why: `“${phrase}” ${zone ? `can be the time zone ${zone}` : 'is not the name of one time zone'}.`,
    readings: [
      ...(zone === null ? [] : readingsIn(zone, draft, readIn(zone))),
      { label: `in your time zone, ${clock.zone}`, given: {} },
    ],
    words: phrase,
  };
  const next = draft.pieces.findIndex((piece) => 'at' in piece && (piece.at ?? 0) >= at);
  draft.pieces.splice(next < 0 ? draft.pieces.length : next, 0, { choice });
  draft.choices.push(choice);
  return draft;
}

/** `at=20:00PST`, `at="20:00 London"` → the time and its zone. */
function zoneApart(word: Word): Words {
  const typed = word.text.replace(/^@(?=\d)/, '').replace(/^(utc|gmt)-(?=1[5-9]|2\d)/i, '$1 - ');
  if (word.quoted || !TIME_VALUE.test(typed)) return [word];
  const parts = typed
    .replace(/=.* .*\w$/, '$&,')
    .replace(/(:\d\d|\d[ap]m)([a-z]{2,}|(?<!=.*|\dt.*)(?:z|\+\d\d:?\d\d))$/i, '$1 $2')
    .split(' ');
  const isZoned = parts.some((_, at) => endsInTime(parts.slice(0, at)) && placeAt(parts.slice(at)));
  return (isZoned || / - /.test(typed) ? parts : [typed]).map((text) => ({ text, quoted: false }));
}

const TIME_VALUE = /^(?:-{0,2}(?:at|until|till?|from|start|stop|when)[=:])?(?:[a-z,-]+ (- )?)?\d/i;

/** The first zone behind a time that was read: `20:00 New York`. */
function placeIn(words: Words, { given, choices, pieces }: Draft, home: string, hasZone: boolean) {
  const asked = choices.flatMap(({ readings }) => readings.map((each) => each.given));
  const isTimed = [given, ...asked].some((each) => /:\d\dZ?$/.test(each.at ?? each.until ?? ''));
  const texts = words.map((word) => (word.quoted ? '"' : bare(word)));
  const end = isTimed || hasZone ? Math.min(texts.length, WORDS_MAX) : 0;
  for (let at = 1; at < end && !INTRODUCED.test(`${texts[at - 1]}\n${texts[at]}`); at += 1) {
    const place = endsInTime(texts.slice(0, at)) ? placeAt(texts.slice(at), home) : null;
    if (!place || pieces.some((piece) => 'at' in piece && piece.at === at - 1)) continue;
    // `20:00 New York team asked` is a reason, and `20:00 Berlin` in Berlin as well.
    const isEnd = place.zone !== home && isEndAt(words, at + place.taken);
    if (place.isLike || isEnd) return { at, ...place };
  }
  return null;
}

/** All that follows is the reason. */
const INTRODUCED = /^(?:(?:because|weil)|(?:-{0,2}reason[:=]\S*|--reason|-m|--message)(?!\n"))\n/i;

/** The times of the words in another zone. */
function readingsIn(zone: string, own: Draft, moved: Draft): Ambiguity['readings'] {
  if (moved.refused !== null) return [];
  const times = Object.entries(moved.given).filter(([name, text]) => text !== own.given[name]);
  const asked = moved.choices.flatMap(({ readings }) =>
    readings.filter((each) => each.given.at ?? each.given.until),
  );
  return (asked.length > 0 ? asked : [{ label: 'in', given: {} }]).map(({ label, given }) => ({
    label: label.endsWith(zone) ? label : `${label} ${zone}`,
    given: { ...Object.fromEntries(times), ...given },
  }));
}

function readAll(command: Command, all: Words, vocabulary: Vocabulary): Draft {
  const draft: Draft = {
    ...{ given: {}, pieces: [], choices: [], targets: [], without: [] },
    ...{ unclear: null, refused: null, keyedReason: '', isProse: false },
  };
  const fields = fieldsOf(command.args);
  const tailAt = all.findLastIndex((word) => !fieldOfPair(fields, word)) + 1;
  const reader: Reader = { command, fields, words: all, vocabulary, draft, tailAt };
  for (let at = 0; at < all.length; ) {
    // Nobody types values after so many words.
    if (at > WORDS_MAX) draft.isProse = true;
    const steps = draft.isProse ? PROSE_STEPS : STEPS;
    const taken = steps.reduce((found, step) => found || step(reader, at), 0);
    at += taken || prose(reader, at);
  }
  nameFromProse(reader);
  leaveOut(draft);
  askAboutProse(reader);
  return draft;
}

const WORDS_MAX = 60;

/** `all except prod` */
function leaveOut(draft: Draft): void {
  const left = draft.targets.filter((name) => !draft.without.includes(name));
  if (draft.without.length === 0) return;
  if (left.length === 0) draft.refused = 'It leaves out every service.';
  draft.targets.splice(0, draft.targets.length, ...left);
  draft.given.service = left[0] ?? '';
}

/** `max=64,min=16` → two words. */
function pairsIn(fields: readonly Field[], { text, quoted }: Word): Words {
  const isList = !quoted && /^[^\s"]+$/.test(text) && /[,;]/.test(text);
  if (!isList || !fieldOfPair(fields, { text, quoted })) return [{ text, quoted }];
  const parts = text.split(/[,;](?=[a-z-]+=)|[,;]+$/i).filter((part) => part !== '');
  return parts.map((part) => ({ text: part, quoted }));
}

/** `max = 64`, `max= 64`, `max =64` → `max=64`. */
function pairsJoined(words: Words): Words {
  const joined: Word[] = [];
  for (const word of words) {
    const last = joined.at(-1);
    const before = last && !last.quoted ? last.text : '';
    const isOpen = /^(-{0,2}[a-z][\w-]*)?=$/i.test(before);
    const begins = !word.quoted && word.text.startsWith('=');
    if (last && (isOpen || (begins && /^-{0,2}[a-z][\w-]*$/i.test(before))))
      joined[joined.length - 1] = { text: last.text + word.text, quoted: false };
    else joined.push(word);
  }
  return joined;
}

function prose(reader: Reader, at: number): number {
  const word = reader.words[at] ?? { text: '', quoted: false };
  const text = lacksName(reader) ? bare(word) : word.text;
  reader.draft.pieces.push(word.quoted ? { text } : { text, at });
  reader.draft.isProse = true;
  return 1;
}

/** Asks about words of the reason that could be meant as a value, unless a key has closed their kind. */
function askAboutProse(reader: Reader): void {
  const { draft } = reader;
  if (!takesReason(reader)) return;
  const rest = draft.pieces.map((piece) => looseText(piece) ?? '"').join(' ');
  // The time of a repetition is no start.
  const most = isRepeated(rest) ? 0 : WORDS_MAX;
  for (let index = 0; index < Math.min(most, draft.pieces.length); index += 1) {
    const piece = draft.pieces[index];
    if (!piece || !('text' in piece) || piece.at === undefined) continue;
    // `by 32gb` is no size.
    const [last, own] = [reader.words[piece.at - 1], reader.words[piece.at]].map(lower);
    const isRelative =
      /^(by|not (?!before|until))/.test(`${last} ${own}`.trim()) ||
      (own === 'by' && asksForValues(reader));
    const found = isRelative ? null : meaningAt(reader, piece.at);
    const words = draft.pieces.slice(index, index + (found?.taken ?? 0)).map(looseText);
    if (!found || words.includes(null)) continue;
    const choice = { ...found.choice, words: words.join(' ') };
    draft.choices.push(choice);
    draft.pieces.splice(index, found.taken, { choice });
  }
  const loose = draft.pieces.filter((piece) => looseText(piece) !== null);
  const words = loose.map(looseText).join(' ');
  const isCondition = CONDITION.test(words);
  if (loose.length === 0 || (draft.choices.length > 0 && !isCondition)) return;
  // Of `double the memory for launch`, the reason begins with “for”.
  const end = loose.findIndex((piece) => looseText(piece) === 'for');
  const unread = end < 0 ? loose : loose.slice(0, end);
  if (asksForValues(reader) && draft.choices.length === 0 && unread.length > 0) {
    draft.unclear = `What should change? “${unread.map(looseText).join(' ')}” is no value.`;
    const said = draft.pieces.filter((piece) => !unread.includes(piece));
    draft.pieces.splice(0, draft.pieces.length, ...said);
    return;
  }
  const isNumber = /^[\d.,:%]+$/.test(words);
  const isOpen = TIMING.every((key) => draft.given[key] === undefined);
  const time = isNumber ? words : timeWords(words);
  if (time === null || !(isNumber || isOpen || isRepeated(words) || isCondition)) return;
  const could = isCondition
    ? `“${time}” could be a condition, and Signalbox checks none.`
    : `“${time}” could be a time. ${howToWrite(reader, time)}`;
  const why = isNumber ? `“${time}” is a number without its key.` : could;
  // Words that are nothing but the time can be left out.
  const readings = words === time ? [{ label: 'Without it', given: {} }] : [];
  const choice = { why, readings, words };
  const said = draft.pieces.flatMap((piece) =>
    piece === loose[0] ? [{ choice }] : loose.includes(piece) ? [] : [piece],
  );
  draft.pieces.splice(0, draft.pieces.length, ...said);
  draft.choices.push(choice);
}

/** `scale staging double the memory`: a change of values, of which the line has none. */
function asksForValues({ command, fields, draft }: Reader): boolean {
  const values = fields.filter(({ names, name }) => !names && !TIMING.some((key) => key === name));
  const isNone = values.every(({ optional, name }) => optional && draft.given[name] === undefined);
  return takesReason({ command }) && values.length > 0 && isNone;
}

/** The keys of this command for a time; none for one that takes none. */
function howToWrite({ command, fields, vocabulary }: Reader, time: string): string {
  const { prefix = '' } = vocabulary;
  const ways = Object.entries(TIME_EXAMPLES).flatMap(([what, all]) => {
    const own = all.filter((text) => fields.some(({ name }) => text.startsWith(`${name}=`)));
    return own.length > 0 ? [`${what} as ${oneOf(own)}`] : [];
  });
  const schedule = slashCommand(prefix, 'service schedule');
  return [
    ways.length > 0
      ? `Write ${ways.join(', and ')}.`
      : `${slashCommand(prefix, command.name)} takes none.`,
    ...(isRepeated(time) ? [`A stop or start that repeats is ${schedule}.`] : []),
  ].join(' ');
}

const TIME_EXAMPLES = {
  'a start': ['at=20:00', 'in=2h'],
  'an end': ['for=4h', 'until=18:00'],
};

/** What words within the reason would mean on their own. */
function meaningAt(reader: Reader, at: number) {
  const words = textsAt(reader, at);
  const isTime = timeWords(words.join(' ')) !== null;
  for (const step of [...(isTime ? [timePhrase] : []), ownPhrase, bareKey, valueThenKey]) {
    const draft = copyOf(reader.draft);
    const taken = step({ ...reader, draft }, at);
    if (taken === 0) continue;
    const { isElsewhere, zone } = reader.vocabulary.clock ?? {};
    const text = [...words.slice(0, taken), ...(isElsewhere ? [zone] : [])].join(' ');
    const [asked] = draft.choices.slice(reader.draft.choices.length);
    const given = Object.entries(draft.given).filter(
      ([name]) => reader.draft.given[name] === undefined,
    );
    if (asked) return { taken, choice: { ...asked, words: text } };
    if (given.length > 0) return { taken, choice: eitherOf(text, Object.fromEntries(given)) };
  }
  return null;
}

/** Words that no step has read begin with the name that is missing, known or not. */
function nameFromProse(reader: Reader): void {
  const { command, fields, draft, vocabulary } = reader;
  const isOpen = (each: Field) => isPlaced(each) && draft.given[each.name] === undefined;
  const [first] = draft.pieces;
  const isFirst = first !== undefined && 'text' in first && first.at === 0;
  // A query has no reason: what is left is a name, known or not.
  const field =
    fields.find((each) => isMissing(reader, each) && (isFirst || !each.unlessTyped)) ??
    fields.find((each) => isOpen(each) && each.names && !takesReason({ command }));
  const end = draft.pieces.findIndex((piece) => looseText(piece) === null);
  const plain = end < 0 ? draft.pieces : draft.pieces.slice(0, end);
  const wordsIn = (pieces: readonly Piece[]) =>
    pieces.flatMap((piece) => ('text' in piece ? [{ text: piece.text, quoted: false }] : []));
  const words = wordsIn(plain);
  if (!field || words.length === 0) return;
  const within = field.names === 'alert' ? onlyAlert(wordsIn(draft.pieces), vocabulary) : undefined;
  const similar = field.names ? similarAt(field.names, words, vocabulary) : null;
  // Of a query without a reason, all words are the name.
  const isAll = !takesReason({ command }) && field.names !== undefined;
  const taken = within ? draft.pieces.length : (similar ?? (isAll ? words.length : 1));
  draft.given[field.name] = within?.text ?? typedText(words.slice(0, taken));
  draft.pieces.splice(0, taken);
}

const FILLERS =
  /^(please|pls|bitte|the|service|services|alert|pipe|named|called|of|for|on|in|with|and|to|:|,|-|–|set|its?|from|only|just)$/;

/** A word without a meaning before a name or a value. */
const filler: Step = (reader, at) => {
  const { words, command } = reader;
  const word = words[at];
  if (!word || word.quoted) return 0;
  const text = lower(word);
  if (text === '' || /^[,;:.!&@-]+$/.test(text) || /^(please|pls|bitte)$/.test(text)) return 1;
  if (/^--?(all|yes|force|y|f)$/.test(text) && command.kind === 'query') return 1;
  if (isNounAgain(reader, at)) return 1;
  if (!FILLERS.test(text)) return 0;
  // Only before something that is read: `for the night` is prose.
  const next = reader.words[at + 1];
  if (!next) return command.kind === 'query' || /^services?$/.test(text) ? 1 : 0;
  return AFTER_FILLER.some((step) => probe(reader, at + 1, step)) ? 1 : 0;
};

/** `the archive service for audit`: the noun after its name, but not in `service window`. */
function isNounAgain({ command, draft, words }: Reader, at: number): boolean {
  const [noun = ''] = command.name.split(' ');
  const isNamed = at > 0 && draft.given[noun] !== undefined && draft.pieces.length === 0;
  return isNamed && isEndAt(words, at + 1) && NOUN_AGAIN.test(lower(words[at]));
}

const NOUN_AGAIN = /^(services?|database|db|cluster|instance|warehouse|alerts?)$/;

/** Whether a step would read the words, without an effect. */
function probe(reader: Reader, at: number, step: Step): boolean {
  const { draft } = reader;
  return step({ ...reader, draft: copyOf(draft) }, at) > 0;
}

function copyOf(draft: Draft): Draft {
  return {
    ...draft,
    given: { ...draft.given },
    ...{ pieces: [...draft.pieces], choices: [...draft.choices] },
    ...{ targets: [...draft.targets], without: [...draft.without] },
  };
}

/** A value without known names, for example the id of a change or the name of a new service. */
const placedText: Step = (reader, at) => {
  const { fields, draft, words, vocabulary } = reader;
  const field = fields.find((each) => isPlaced(each) && draft.given[each.name] === undefined);
  if (!field || field.names || words[at]?.quoted) return 0;
  if (field.optional && field.input?.kind === 'choice') return 0;
  const schema = reader.command.args.shape[field.name];
  const text = bare(words[at] ?? { text: '', quoted: false });
  const meant = acceptedText(reader.command, field, text, vocabulary.clock ?? null) ?? text;
  if (field.optional && !schema?.safeParse(meant).success) return 0;
  const more = field.severalWords ? wordsOfName(reader, at) : 1;
  set(reader, { [field.name]: more > 1 ? textsAt(reader, at).slice(0, more).join(' ') : meant });
  return more;
};

/** How many words a new name has: all before the first key, and one if no key follows. */
function wordsOfName(reader: Reader, at: number): number {
  const count = textsAt(reader, at).length;
  for (let more = 1; more < count; more += 1) {
    if (KEY_STEPS.some((step) => probe(reader, at + more, step))) return more;
  }
  return 1;
}

const VALUE_STEPS: readonly Step[] = [
  ...[explicitPair, ownPhrase, bareKey, valueThenKey, choiceWord],
];
const KEY_STEPS: readonly Step[] = [introducedReason, ...VALUE_STEPS];
const AFTER_FILLER: readonly Step[] = [placedName, moreTargets, ...VALUE_STEPS];
const STEPS: readonly Step[] = [
  ...[introducedReason, explicitPair, quotedWord, ownPhrase, placedName, moreTargets],
  ...[bareKey, valueThenKey, choiceWord, timePhrase, filler, placedText],
];
const PROSE_STEPS: readonly Step[] = [introducedReason, explicitPair];
