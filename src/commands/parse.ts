import { POLITE } from '../base/moments.ts';
import { nearest, ownValue, patternOf, splitWords, type Word, type Words } from '../base/text.ts';
import { type CommandOffer, oneLineOf, slashCommand } from '../domain/answer.ts';
import { findByName } from '../domain/targets.ts';
import {
  alike,
  commandLine,
  fieldsOf,
  isPlaced,
  oneOf,
  optionsOf,
  quoteWord,
  type TypedValues,
  typedText,
} from './arguments.ts';
import { CHANGE_LISTS } from './change.ts';
import { costVerb } from './cost-words.ts';
import {
  type Command,
  fieldContext,
  nounOf,
  type ParseProblem,
  type ParseResult,
  type Reading,
  type TypedCommand,
  type Vocabulary,
  verbOf,
} from './define.ts';
import { nameAt, quotedName, resolveNames } from './names.ts';
import { lineOfQuestion } from './questions.ts';
import { readWords } from './reading.ts';
import { parseValues } from './values.ts';
import {
  anyName,
  type FoundVerb,
  isNegated,
  isQuestion,
  isQuestionWord,
  lowerOf,
  neverAt,
  ownCommands,
  verbAt,
  verbsNear,
  wordsBack,
} from './verbs.ts';
import { type Ambiguity, type Draft, looseText } from './word-steps.ts';

const OFFERS_MAX = 5;

/**
 * Reads `/service stop analytics-prod nightly maintenance`. What can be meant in one way is taken; what
 * can be meant in several ways is asked about, with complete lines. Each offered line is understood.
 */
export function parseLine(noun: string, typed: string, vocabulary: Vocabulary): ParseResult {
  const result = readLine(noun.toLowerCase(), wordsOf(typed), vocabulary);
  if (result.kind !== 'misread') return result;
  const offers = [...new Map(result.offers.map((offer) => [offer.line, offer])).values()];
  const understood = offers
    .slice(0, OFFERS_MAX)
    .filter(({ line }) => isUnderstood(line, vocabulary));
  return { ...result, offers: understood };
}

/** Whether a line is complete, or has a form. */
function isUnderstood(line: string, vocabulary: Vocabulary): boolean {
  return readCheck(line, vocabulary).kind !== 'misread';
}

/** What a line means, without what it would offer. */
const readCheck = (line: string, vocabulary: Vocabulary) =>
  readOther(line, { ...vocabulary, isCheck: true });

/** The words, without those at both ends that are only polite. */
const wordsOf = (typed: string) =>
  splitWords(typed.replace(POLITE_START, '').replace(POLITE_END, ''));

const POLITE_START =
  /^\s*(?:(?:please|pls|bitte)(?:[,:]|(?!\S))\s*|(?:hi|hey|hello|hallo)(?: signalbox)?[,!]?\s+(?!there|all|every)(?=\S+\s)|(?:show|give|tell|get) me\s+(?:(?:the|all|my|our)\s+)?(?=\S))+/i;
const POLITE_END = patternOf(
  String.raw`(?<![\s,;.]|\b(?:say|says|said|wrote|write|no|a|of|for|to|big|many|only))(?:[\s,;.]|\s[-\u2013\u2014](?=\s)|\s(?:and|with)(?=\s))+(?:(?:and )?(?:please|pls|bitte|danke|(?:many )?thanks|thank you|thx|cheers|if <POLITE>|when(?:ever)? <POLITE>|as soon as <POLITE>)(?: (?:a lot|(?:so|very) much|in advance|(?:with|for) you))?(?![\w-])[\s,;.!]*)+$(?<!\b(?:because|weil|reason|message)\b[^]*|\s-m\s[^]*)`,
  { POLITE },
);

function readLine(noun: string, words: Words, vocabulary: Vocabulary): ParseResult {
  if (ownCommands(noun, vocabulary).length === 0) return readChat(noun, words, vocabulary);
  const costs = noun === 'cost' ? readCosts(words, vocabulary) : null;
  if (costs) return costs;
  const special = readSpecial(noun, words, vocabulary) ?? readForeign(noun, words, vocabulary);
  if (special) return special;
  const found = findCommand(noun, words, vocabulary);
  if (!found) return unknownVerb(noun, words, vocabulary);
  return asksSchedule(found, vocabulary) ?? readArguments(found.command, found.rest, vocabulary);
}

/** `pause staging` can mean the service or its schedule, if it has one. */
function asksSchedule(found: FoundVerb, vocabulary: Vocabulary): ParseProblem | null {
  const { scheduled = [], services } = vocabulary;
  const isPause = /^(pause|suspend)$/.test(found.phrase);
  if (scheduled.length === 0 || !(isPause || /^(resume|unpause)$/.test(found.phrase))) return null;
  const named = nameAt('service', found.rest, vocabulary);
  const [service] = named ? findByName(services, named.text) : [];
  if (!named || !service || !scheduled.includes(service.id)) return null;
  const rest = found.rest.slice(named.taken).map(quoteWord);
  const verbs = isPause ? ['stop', 'schedule pause'] : ['start', 'schedule resume'];
  const lines = verbs.map((verb) => ['service', verb, quotedName(named.text), ...rest].join(' '));
  const asked = { command: found.command, given: { service: named.text } };
  return refused(`${service.name} has a schedule. The service, or its schedule?`, lines, asked);
}

/** A question about costs that is one of the other commands, and a verb of another noun. */
function readCosts(words: Words, vocabulary: Vocabulary): ParseResult | null {
  const own = ownCommands('cost', vocabulary).filter((command) => verbOf(command) !== '');
  if (verbAt(words, own) || (words[0] && isHelp(words[0]))) return null;
  const asked = costVerb(words.map(({ text }) => text));
  const command = own.find((each) => verbOf(each) === asked?.verb);
  return asked && command ? readArguments(command, unquoted(asked.rest), vocabulary) : null;
}

/** `/alert stop ci`: a verb of services and the name of one, after a noun that has neither. */
function readForeign(noun: string, words: Words, vocabulary: Vocabulary) {
  if (!['alert', 'change', 'cost'].includes(noun)) return null;
  const own = verbAt(words, ownCommands(noun, vocabulary));
  const takesScope =
    own && fieldsOf(own.command.args).some(({ names }) => /scope|ask|service/.test(names ?? ''));
  // `show` is a word of questions about costs as well.
  const found = verbAt(
    words,
    ownCommands('service', vocabulary).filter(({ kind }) => noun !== 'cost' || kind === 'change'),
  );
  const isExact = found !== null && found.phrase === verbOf(found.command);
  if (takesScope || !isExact || !nameAt('service', found.rest, vocabulary)) return null;
  if (noun === 'alert' && nameAt('alert', found.rest, vocabulary)) return null;
  const { name } = found.command;
  const { prefix = '' } = vocabulary;
  return refused(`That is ${slashCommand(prefix, name)}, not ${slashCommand(prefix, noun)}:`, [
    [name, ...found.rest.map(quoteWord)].join(' '),
  ]);
}

const NO_WORD: Word = { text: '', quoted: false };
const unquoted = (texts: readonly string[]) => texts.map((text) => ({ text, quoted: false }));

const NOT_REQUESTED = 'Nothing was requested: the line says not to do it.';

/** Help, a negation, a question, and what Signalbox never does. */
function readSpecial(noun: string, words: Words, vocabulary: Vocabulary): ParseResult | null {
  const own = ownCommands(noun, vocabulary);
  const [first, ...rest] = words;
  if (!first)
    return own.some((each) => verbOf(each) === '') ? null : { kind: 'help', noun, about: null };
  if (isHelp(first)) return { kind: 'help', noun, about: helpTopic(rest, own) };
  const found = verbAt(words, own);
  const [only] = found?.rest ?? [];
  if (found && only && found.rest.length === 1 && isHelp(only)) {
    return { kind: 'help', noun, about: verbOf(found.command) };
  }
  // `not staging` leaves a service out of a question.
  if (noun !== 'cost' && isNegated(words)) return refused(NOT_REQUESTED, []);
  const question = questionOf(noun, words, found);
  if (question) {
    const line = lineOfQuestion(noun, question, vocabulary);
    if (line !== null) return readOther(line, vocabulary);
    if (!found) return unknownVerb(noun, words, vocabulary);
  }
  const never = neverAt(noun, words, vocabulary);
  // `remove schedule` is a command, `remove` is none.
  if (!never || (found && found.phrase.split(' ').length > never.count)) return null;
  return readForeign(noun, words, vocabulary) ?? refused(never.sentence, never.lines);
}

/** The words of a question, with or without a verb before it; null: they ask nothing, or about costs. */
function questionOf(noun: string, words: Words, found: FoundVerb | null) {
  if (noun === 'cost' || (found && nounOf(found.command) === 'cost')) return null;
  if (found?.command.name === 'change who') {
    // `who can stop finance` is a question; `who service stop finance` is the command.
    const isAsked = /^(who|which)$/.test(lowerOf(words[0] ?? NO_WORD)) && isQuestion(words);
    return isAsked && WHO_ASKS.test(lowerOf(words[1] ?? NO_WORD)) ? words : null;
  }
  if (found && isQuestionWord(found.rest[0])) return found.rest;
  if (!isQuestion(words)) return null;
  return found?.command.kind === 'change' ? [...wordsOf('can I'), ...words] : words;
}

const WHO_ASKS = /^(can|may|approves?|is|has|stopped|started|scaled|changed|must)$/;

function isHelp(word: Word): boolean {
  return !word.quoted && /^(-{0,2}help|-h|\?|hilfe)[?.!]*$/i.test(word.text);
}

/** `stop` of `help stop` and of `help how do I stop`; a verb can have two words. Null without one. */
function helpTopic(words: Words, own: readonly Command[]): string | null {
  const isAsked = isQuestionWord(words[0]);
  for (let at = 0; at < (isAsked ? words.length : 1); at += 1) {
    const found = verbAt(words.slice(at), own);
    if (found && (isAsked || found.rest.length === 0)) return verbOf(found.command);
  }
  return words.length > 0 ? words.map(lowerOf).join(' ') : null;
}

/** The line of another command that means the same. */
function readOther(line: string, vocabulary: Vocabulary): ParseResult {
  const [noun = '', ...words] = line.split(' ');
  return readLine(noun, wordsOf(words.join(' ')), vocabulary);
}

function refused(
  sentence: string,
  lines: readonly string[],
  asked?: ParseProblem['asked'],
): ParseProblem {
  const offers = lines.map((line) => ({ label: oneLineOf(line, LABEL_MAX), line }));
  return { kind: 'misread', sentence, problems: {}, offers, ...(asked && { asked }) };
}

const LABEL_MAX = 60;

/** The command of the words: its verb first, after a name, or none at all. */
function findCommand(noun: string, words: Words, vocabulary: Vocabulary): FoundVerb | null {
  const own = ownCommands(noun, vocabulary);
  const found = verbAt(words, own);
  const name = nameBefore(noun, words, vocabulary);
  if (found && !(name && name.taken >= found.phrase.split(' ').length)) return listed(found, own);
  const apart = noun === 'service' ? verbApart(words, vocabulary) : null;
  if (apart) return findCommand(noun, apart, vocabulary);
  const tail = words.slice(name?.taken ?? words.length);
  // `staging off` is `staging turn off`.
  const after = verbAt(tail, own) ?? verbAt([...wordsOf('turn'), ...tail], own);
  if (name && after) return { ...after, rest: [...words.slice(0, name.taken), ...after.rest] };
  const command = withoutVerb(noun, words, vocabulary) ?? own.find((each) => verbOf(each) === '');
  return command ? { command, rest: words, phrase: '' } : null;
}

/** `turn staging off` → `turn off staging`; null for any other words. */
function verbApart([verb = NO_WORD, ...rest]: Words, vocabulary: Vocabulary) {
  if (!/^(turn|switch|power|shut|bring|wake|scale)$/.test(lowerOf(verb))) return null;
  const named = nameAt('service', rest, vocabulary)?.taken;
  const at = named ?? rest.findIndex((word) => PARTICLE.test(lowerOf(word)));
  const particle = rest[at];
  if (at < 1 || at > 4 || !particle || !PARTICLE.test(lowerOf(particle))) return null;
  return [verb, particle, ...rest.toSpliced(at, 1)];
}

const PARTICLE = /^(on|off|up|down)$/;

/** `status` and `all` without a name are the list. */
function listed(found: FoundVerb, own: readonly Command[]): FoundVerb {
  const isShow = /^(status|state|info|all|services)$/.test(found.phrase) && found.rest.length === 0;
  const list = isShow ? own.find((command) => verbOf(command) === 'list') : undefined;
  return list ? { ...found, command: list } : found;
}

function nameBefore(noun: string, words: Words, vocabulary: Vocabulary) {
  const kind = noun === 'alert' ? 'alert' : 'service';
  return noun === 'change' || noun === 'cost' ? null : nameAt(kind, words, vocabulary);
}

/** A name without a verb is shown. */
function withoutVerb(noun: string, words: Words, vocabulary: Vocabulary) {
  const own = ownCommands(noun, vocabulary);
  const of = (name: string) => own.find((command) => command.name === `${noun} ${name}`);
  const [first = NO_WORD] = words;
  const name = nameBefore(noun, words, vocabulary);
  const isAlone = name?.taken === words.length;
  const list = of('list');
  const starts = [words.slice(0, 2).map(lowerOf).join(' '), lowerOf(first)];
  const isFilter =
    list && fieldsOf(list.args).some(({ means }) => starts.some((text) => ownValue(means, text)));
  if (noun === 'change') {
    const isList = isFilter || CHANGE_LISTS.some((which) => which === lowerOf(first));
    const isId =
      /^#?(?=.*[a-z])[0-9a-z]{6}[.,]?$/i.test(first.text) &&
      verbsNear(first.text, own).length === 0;
    return isList ? list : isId ? of('show') : undefined;
  }
  if (isFilter) return list;
  if (noun === 'backup' && (name || /^(latest|last|newest)$/.test(lowerOf(first)))) {
    return words.length > 1 && !isAlone ? of('show') : list;
  }
  if (noun === 'pipe' && (name || nameAt('pipe', words, vocabulary))) {
    return isAlone ? list : of('settings');
  }
  return name ? (of('show') ?? list) : undefined;
}

function unknownVerb(noun: string, words: Words, vocabulary: Vocabulary): ParseProblem {
  const { prefix = '', commands } = vocabulary;
  const own = ownCommands(noun, vocabulary);
  const [first = NO_WORD, ...rest] = words;
  const tail = rest.map(quoteWord);
  const others = commands.filter((command) => nounOf(command) !== noun);
  const near = verbsNear(first.text, own).map((name) => [name, ...tail].join(' '));
  const foreign = verbAt(words, others);
  const elsewhere = foreign
    ? [[foreign.command.name, ...foreign.rest.map(quoteWord)].join(' ')]
    : [];
  const meant = [...near, ...elsewhere, ...nounLines(noun, words, vocabulary)].filter(
    (line) => vocabulary.isCheck || isUnderstood(line, vocabulary),
  );
  const list = own.some((each) => verbOf(each) === 'list') ? [`${noun} list`] : [];
  const typed = slashCommand(prefix, `${noun} ${oneLineOf(first.text, LABEL_MAX)}`);
  return meant.length > 0
    ? refused(`There's no command ${typed}. Did you mean:`, meant)
    : refused(`There's no command ${typed}.`, [...list, `${noun} help`]);
}

/** `alerts firing` after another noun: the lines of that noun. */
function nounLines(noun: string, words: Words, { commands }: Vocabulary) {
  const [first = NO_WORD, ...rest] = words;
  const meant = nounsOf(commands).find((each) => each !== noun && isNoun(first, each));
  if (meant === undefined) return [];
  const line = [meant, ...rest.map(quoteWord)].join(' ');
  return [...(rest.length > 0 ? [line] : []), `${meant} list`, `${meant} help`];
}

/** Words without a noun, for example in a direct message: `stop ci`, `is ci running?`. */
function readChat(noun: string, words: Words, vocabulary: Vocabulary): ParseResult {
  const [first, ...typed] = words;
  if (!first || isHelp(first)) {
    const among = isQuestionWord(typed[0]) ? vocabulary.commands : [];
    return { kind: 'help', noun, about: helpTopic(typed, among) };
  }
  const nouns = nounsOf(vocabulary.commands);
  const own = nouns.find((each) => isNoun(first, each));
  if (own) {
    const rest = /^(of|for|from)$/.test(lowerOf(typed[0] ?? NO_WORD)) ? typed.slice(1) : typed;
    const isList = rest.length === 0 || nameAt('service', rest, vocabulary)?.taken === rest.length;
    const isPlural = /s[,:]?$/i.test(first.text);
    return readLine(own, isPlural && isList ? [...wordsOf('list'), ...rest] : rest, vocabulary);
  }
  const text = words.map(lowerOf).join(' ');
  if (SMALL_TALK.test(text)) return refused(NOTHING, STARTS);
  if (isNegated(words)) return refused(NOT_REQUESTED, []);
  if (isQuestion(words)) {
    const line = lineOfQuestion('', words, vocabulary);
    if (line !== null) return readOther(line, vocabulary);
  }
  const meant = nounOfChat(words, nouns, vocabulary);
  if (meant) return readLine(meant.noun, meant.words, vocabulary);
  const shown = oneLineOf(words.map(({ text: word }) => word).join(' '), LABEL_MAX);
  return refused(`Signalbox did not understand “${shown}”.`, STARTS);
}

const STARTS = ['signalbox help', 'service list', 'change list'];

/** What people say that is no command. */
const SMALL_TALK =
  /^((thanks?|thx|danke|cheers|ty|hello|hi|hey|hallo|good (morning|evening))\b|(ok|okay|k|great|nice|cool|perfect|got it|done|yes|no|sure|never ?mind|what can (you|i) do|:.*|\p{Extended_Pictographic}.*)$)/u;
const NOTHING =
  'Nothing was requested. Type what you want, for example “stop staging”, “is staging running?” or “cost yesterday”.';

const nounsOf = (commands: readonly Command[]) => [...new Set(commands.map(nounOf))];

/** `service` or `services`. */
function isNoun(word: Word, noun: string): boolean {
  const text = lowerOf(word);
  return !word.quoted && (text === noun || text === `${noun}s`);
}

/** The noun that the verb or the names of the words belong to, with the words after it. */
function nounOfChat(words: Words, nouns: readonly string[], vocabulary: Vocabulary) {
  const at = words.findIndex(
    (word, index) => index > 0 && index < 3 && nouns.some((noun) => isNoun(word, noun)),
  );
  const typedNoun = nouns.find((noun) => isNoun(words[at] ?? NO_WORD, noun));
  const without = words.filter((_, index) => index !== at);
  if (typedNoun && verbAt(without, ownCommands(typedNoun, vocabulary)))
    return { noun: typedNoun, words: without };
  const apart = verbApart(words, vocabulary);
  if (apart) return { noun: 'service', words: apart };
  const order = ['service', 'change', 'alert', 'cost', 'backup', 'pipe', 'endpoint'];
  const verbs = order.filter(
    (noun) => verbAt(words, ownCommands(noun, vocabulary)) || neverAt(noun, words, vocabulary),
  );
  const noun =
    verbs[0] ??
    (['service', 'alert'] as const).find((each) => nameAt(each, words, vocabulary)) ??
    order.find((each) => withoutVerb(each, words, vocabulary));
  return noun ? { noun, words } : null;
}

/**
 * `organization=prod-eu` beside a name means `prod-eu/name`. Null: the words have no such key, or it is for the command
 * to read or refuse, because nothing in the line could be narrowed by it.
 */
function readOrganization(command: Command, typed: Words, vocabulary: Vocabulary) {
  const { organizations, services } = vocabulary;
  if (organizations.length === 1) return null;
  const at = typed.findIndex((word) => !word.quoted && KEY.test(word.text));
  // A question has it among its words.
  const isField = fieldsOf(command.args).some(({ word, rest }) => rest || word === 'organization');
  if (at < 0 || isField) return null;
  const wanted = lowerOf(typed[at] ?? NO_WORD).replace(KEY, '');
  const words = typed.filter((_, index) => index !== at);
  const line = [command.name, ...words.map(quoteWord)].join(' ');
  if (organizations.every(({ name }) => name !== wanted)) {
    const lines = organizations.map(({ name }) => `${line} organization=${name}`);
    return refused(`There's no organization called “${oneLineOf(wanted, LABEL_MAX)}”.`, lines);
  }
  const own = services.filter(({ organization }) => organization === wanted);
  const named = anyName('service', words, { ...vocabulary, services: own });
  if (named) {
    const name = { text: named.item.name, quoted: true };
    return readArguments(command, words.toSpliced(named.at, named.taken, name), vocabulary);
  }
  const read = readArguments(command, words, { ...vocabulary, services: own });
  return read.kind === 'intent' ? refused(NAMES_NONE, [line]) : read;
}

const NAMES_NONE = '“organization=” chooses among services of one name, and this names none:';
const KEY = /^organization=/i;

function readArguments(command: Command, typed: Words, vocabulary: Vocabulary): ParseResult {
  const placed = readOrganization(command, typed, vocabulary);
  if (placed) return placed;
  const fields = fieldsOf(command.args);
  const search = fields.find((field) => field.rest);
  if (command.reword) return reworded(command, typed, vocabulary);
  const reading = readWords(command, typed, vocabulary);
  const { given } = reading;
  // A pipe that only one service has names its service.
  const isNamed = ({ name }: { name: string }) => alike(name) === alike(given.pipe ?? '');
  const [owner, other] = vocabulary.services.filter(({ pipes }) => pipes.some(isNamed));
  if (owner && !other) given.service ??= owner.name;
  const reason = reasonOf(reading, null);
  const asked = { command, given };
  if (reading.refused !== null) return refused(reading.refused, [], asked);
  const both = separateLines(command, typed, reading, vocabulary);
  if (both) {
    const offers = both.flatMap((line) => offersOf({ label: line, line }, vocabulary));
    return { ...refused(ONE_EACH, [], asked), offers };
  }
  const choices = [...targetChoice(reading), ...reading.choices];
  const isMore = choices.length > 0 || reason !== '';
  const unknown = isMore && command.kind === 'change' ? misnamed(asked, typed, vocabulary) : null;
  if (unknown) return unknown;
  const changes = isMore ? changesMeant(command, typed, vocabulary) : [];
  if (choices.length > 0 && changes.length > 0) {
    const sentence = choices.map(({ why }) => why).join('\n');
    return refused(sentence, [...changes, commandLine(command, given, '')], asked);
  }
  if (choices.length > 0) return ambiguous(command, reading, choices, vocabulary);
  if (search) {
    const sought = reason ? { [search.name]: reason } : {};
    return parseValues(command, { ...given, ...sought }, '', vocabulary);
  }
  if (command.kind === 'query' && reason !== '')
    return tooMuch(command, given, reason, { changes, vocabulary });
  const result = parseValues(command, given, reason, vocabulary);
  const { unclear } = reading;
  if (unclear === null || !(result.kind === 'incomplete' || result.kind === 'intent'))
    return result;
  // The form asks for what is unclear, also where no value is required.
  return { kind: 'incomplete', command, given: { ...result.given, reason }, missing: [], unclear };
}

/** Words: text that is pasted behind a change can have thousands. */
const SECOND_WITHIN = 40;
const ONE_EACH = 'A line requests one change, so each is requested on its own:';

/**
 * `finance and stop staging`, `ci max=64 and staging max=32`: the lines of both changes; null for one
 * change. Of several services, each has values of its own.
 */
function separateLines(
  command: Command,
  typed: Words,
  { targets, without, given, choices, pieces }: Draft,
  vocabulary: Vocabulary,
): readonly string[] | null {
  const noun = nounOf(command);
  const isShared = targets.length > 0 && without.length === 0;
  const isUnread = pieces.some((piece) => 'choice' in piece || looseText(piece) !== null);
  if (command.kind !== 'change' || vocabulary.isCheck || !(isShared || isUnread)) return null;
  const ends = [given, ...choices.flatMap(({ readings }) => readings.map((each) => each.given))];
  const draftOf = (words: Words) => readWords(command, words, vocabulary);
  const isReverted = ends.some(({ until }) => until !== undefined);
  // What is quoted or introduced is the reason, whatever it says.
  const end = typed.findIndex((word) => word.quoted || /^(because|weil|-|reason)/i.test(word.text));
  const plain = typed.map((word) => ({ ...word, text: word.text.replace(/[,;]$/, '') }));
  for (let at = 1; at < Math.min(end < 0 ? typed.length : end, SECOND_WITHIN); at += 1) {
    const after = typed.slice(at).findIndex((word) => !/^(and|und|&&?|\+|then)$/i.test(word.text));
    if (after < 0) continue;
    const isJoined = after > 0 || /[,;]$/.test(typed[at - 1]?.text ?? '');
    const head = plain.slice(0, at);
    const tail = typed.slice(at + after);
    const found = findCommand(noun, tail, vocabulary);
    const turn = isJoined ? wordsOf('turn') : [];
    const next = found?.phrase ? found : verbAt([...turn, ...tail], ownCommands(noun, vocabulary));
    if (isJoined && neverAt(noun, tail, vocabulary) && anyName('service', tail, vocabulary))
      return [...lines([command, head]), `${noun} ${typedText(tail)}`];
    const other = next?.command.kind === 'change' && next.phrase !== '' ? next : null;
    if (!isJoined && !other) continue;
    const named = anyName('service', head, vocabulary);
    const own = nameAt('service', other?.rest ?? tail, vocabulary);
    if (isReverted && !own && wordsBack(command, typed.slice(at).map(lowerOf)) > 0) continue;
    const [it = NO_WORD, ...rest] = other?.rest ?? [];
    const isSame =
      after > 0 && !own && other?.command !== command && /^(it|them)?$/.test(lowerOf(it));
    const name = { text: named?.item.name ?? '', quoted: false };
    if (other && named && (isSame || (own && (isJoined || draftOf(head).pieces.length === 0))))
      return lines([command, head], [other.command, own ? other.rest : [name, ...rest]]);
    if (isShared && own && isJoined && !other && [head, tail].map(draftOf).every(hasValue))
      return lines([command, head], [command, tail]);
  }
  return null;
}

const hasValue = ({ given, choices }: Draft) => Object.keys(given).length + choices.length > 1;

function lines(...all: readonly (readonly [Command, Words])[]): readonly string[] {
  return all.map(([{ name }, words]) => [name, ...words.map(quoteWord)].join(' '));
}

/** A name that nothing has comes before all else that is asked: the same words with each similar name. */
function misnamed(
  { command, given }: Pick<TypedCommand, 'command' | 'given'>,
  typed: Words,
  vocabulary: Vocabulary,
): ParseProblem | null {
  const asked = { command, given, reason: '' };
  const resolved = resolveNames(asked, fieldsOf(command.args), given, vocabulary);
  if (resolved.ok) return null;
  const { problems, offers } = resolved.misread;
  const line = [command.name, ...typed.map(quoteWord)].join(' ');
  const [text = ''] = Object.keys(problems).map((name) => given[name]);
  const meant = offers.flatMap((offer) => {
    // A list of all names is offered where none is similar.
    if (offer.label === offer.line || !line.includes(text) || vocabulary.isCheck) return [offer];
    const same = line.replace(text, () => quotedName(offer.label));
    return offersOf({ ...offer, line: same }, vocabulary);
  });
  return { ...resolved.misread, offers: meant };
}

/** The offer of a line that is understood; of one that is asked about, what it asks. */
function offersOf(offer: CommandOffer, vocabulary: Vocabulary): readonly CommandOffer[] {
  const next = readOther(offer.line, vocabulary);
  if (next.kind !== 'misread') return [offer];
  return next.offers.map(({ label, line }) => ({ label: `${offer.label} · ${label}`, line }));
}

/** The words of the reason; with `kept`, the words of these choices as well. */
function reasonOf({ pieces, keyedReason }: Draft, kept: readonly Ambiguity[] | null): string {
  const words = pieces.flatMap((piece) => {
    if ('text' in piece) return [piece.text];
    return kept?.includes(piece.choice) ? [piece.choice.words ?? ''] : [];
  });
  return [keyedReason, ...words].filter(Boolean).join(' ').trim();
}

function targetChoice({ targets }: Draft): readonly Ambiguity[] {
  if (targets.length === 0) return [];
  const readings = targets.map((service) => ({ label: service, given: { service } }));
  const more = targets.length > OFFERS_MAX ? ' and more' : '';
  const names = `${targets.slice(0, OFFERS_MAX).join(', ')}${more}`;
  const why = `One change has one service, so each is requested on its own: ${names}.`;
  return [{ why, readings, words: null }];
}

/** One button for each combination of readings, and one for the words as a part of the reason. */
function ambiguous(
  command: Command,
  reading: Draft,
  choices: readonly Ambiguity[],
  vocabulary: Vocabulary,
): ParseProblem {
  const { given } = reading;
  const sentence = [...new Set(choices.map(({ why }) => why))].join('\n');
  const problem = { kind: 'misread', sentence, problems: {}, asked: { command, given } } as const;
  if (vocabulary.isCheck) return { ...problem, offers: [] };
  // Words without a reading stay in the reason.
  const unread = choices.filter((choice) => !hasReadings(choice));
  const reason = reasonOf(reading, unread);
  const combinations = unread.length < choices.length ? combined(given, choices) : [];
  const own = combinations.flatMap((each) => {
    // A name in quotes is exact: `staging` is also a tag, `"staging"` is the service.
    const lines = [false, true].map((isExact) => commandLine(command, each.given, reason, isExact));
    const line = lines.find((one) => isUnderstood(one, vocabulary));
    return line === undefined ? [] : [{ label: each.label, line }];
  });
  const kept = choices.filter(({ words }) => words !== null);
  const whole = reasonOf(reading, kept);
  const onlyReason = {
    label: whole === reasonOf(reading, null) ? 'Without it' : 'It is only the reason',
    line: commandLine(command, given, whole),
  };
  const isReason = kept.length > 0 && kept.length === choices.length;
  if (own.length === 0 && !isReason) {
    // Another part of the line prevents each of them: what it says of each is offered. The name is exact, and asked about
    // once.
    const misread = combinations.flatMap((each) => {
      const one = readCheck(commandLine(command, each.given, reason, true), vocabulary);
      return one.kind === 'misread' ? [one] : [];
    });
    const sentences = [sentence, ...misread.slice(0, 1).map((one) => one.sentence)];
    const offers = misread.flatMap((one) => one.offers);
    return { ...problem, sentence: sentences.join('\n'), offers };
  }
  return {
    ...problem,
    offers: [...own.slice(0, OFFERS_MAX - Number(isReason)), ...(isReason ? [onlyReason] : [])],
  };
}

const COMBINATIONS_MAX = 12;

/** The values of each combination of readings, one of each choice; of two start times, each on its own. */
function combined(given: TypedValues, choices: readonly Ambiguity[]): readonly Reading[] {
  let together: readonly Reading[] = [{ given: {}, label: '' }];
  for (const { readings } of choices.filter(hasReadings)) {
    const merged = together.flatMap((before) =>
      readings
        .filter((each) => !isSameKind(before.given, each.given))
        .map(({ label, given: more }) => ({
          label: [before.label, label].filter(Boolean).join(' · '),
          given: { ...before.given, ...more },
        })),
    );
    const isAlone = ({ given: own }: Reading) =>
      together.every((before) => isSameKind(before.given, own));
    const all = [...(merged.length > 0 ? merged : together), ...readings.filter(isAlone)];
    together = all.slice(0, COMBINATIONS_MAX);
  }
  return together.map((each) => ({ ...each, given: { ...given, ...each.given } }));
}

const hasReadings = ({ readings }: Ambiguity) => readings.length > 0;

/** Two values of one key, two starts, or two ends. */
function isSameKind(one: TypedValues, other: TypedValues): boolean {
  const kindOf = (name: string) => ownValue({ in: 'at', until: 'for' }, name) ?? name;
  const kinds = Object.keys(one).map(kindOf);
  return Object.keys(other).some((name) => kinds.includes(kindOf(name)));
}

/** Words that a query does not take: the same line without them, and what has them. */
function tooMuch(
  command: Command,
  given: TypedValues,
  text: string,
  { changes, vocabulary }: { readonly changes: readonly string[]; readonly vocabulary: Vocabulary },
): ParseProblem {
  const { prefix = '' } = vocabulary;
  const words = wordsOf(text);
  const service = nameAt('service', words, vocabulary);
  const isList = verbOf(command) === 'list' && nounOf(command) === 'service';
  const lines = [
    ...nounLines(nounOf(command), words, vocabulary),
    ...(service && isList ? [`service show ${quotedName(service.text)}`] : []),
  ];
  const fields = fieldsOf(command.args);
  const choice = fields.find(
    (field) => isPlaced(field) && field.input?.kind === 'choice' && !given[field.name],
  );
  const options = choice ? optionsOf(choice, fieldContext(vocabulary, given)) : [];
  const lineWith = (option = '') =>
    commandLine(command, choice ? { ...given, [choice.name]: option } : given, '');
  const [, typed = ''] = lineWith().split(`${command.name} `);
  const near = nearest(words[0]?.text ?? '', options).map((option) =>
    [command.name, option, ...words.slice(1).map(quoteWord), typed].join(' ').trimEnd(),
  );
  const keys = fields.filter((field) => !isPlaced(field)).map(({ word, key }) => `${word ?? key}=`);
  const takes = options.length > 0 ? oneOf(options) : keys.join(', ');
  const sentence = `${slashCommand(prefix, command.name)} does not take “${oneLineOf(text, LABEL_MAX)}”.${takes && ` It takes ${takes}.`}`;
  const usual = near.length + changes.length > 0 ? '' : options[0];
  return refused(sentence, [...changes, ...near, ...lines, lineWith(usual)], { command, given });
}

/** The changes of the shown thing that read all of its words: `5xx rate above 300`. */
function changesMeant(command: Command, typed: Words, vocabulary: Vocabulary) {
  if (vocabulary.isCheck || verbOf(command) !== 'show') return [];
  return ownCommands(nounOf(command), vocabulary).flatMap((other) => {
    const isOwn = fieldsOf(other.args).some(({ names }) => names === nounOf(command));
    if (other.kind !== 'change' || !isOwn) return [];
    const { given, pieces, choices } = readWords(other, typed, vocabulary);
    const isWhole = Object.keys(given).length + choices.length > 1;
    const isRead = pieces.every((piece) => 'choice' in piece) && choices.every(hasReadings);
    if (!isWhole || !isRead) return [];
    const lines = combined(given, choices).map((each) => commandLine(other, each.given, ''));
    return lines.filter((line) => readCheck(line, vocabulary).kind === 'intent');
  });
}

/** A question in words, for example about costs. */
function reworded(command: Command, words: Words, vocabulary: Vocabulary): ParseResult {
  const text = words.map(({ text: word }) => word).join(' ');
  const read = command.reword?.(text, vocabulary) ?? { words: text };
  if ('sentence' in read) return refused(read.sentence, read.lines, { command, given: {} });
  return parseValues(command, read.words === '' ? {} : { words: read.words }, '', vocabulary);
}
