/** From the words after a noun to the command: verbs that people say, in any order, and what does not exist. */

import { cached } from '../base/cache.ts';
import { nearest, patternOf, type Word, type Words } from '../base/text.ts';
import { findByName } from '../domain/targets.ts';
import { COMMANDS_MAX } from './arguments.ts';
import { type Command, nounOf, type Vocabulary, verbOf } from './define.ts';
import { type NameKind, nameAt, quotedName } from './names.ts';

/** Other words for the commands, by name, separated by a bar. */
const SYNONYMS: Readonly<Record<string, string>> = {
  'service list': 'ls|all|lists|overview|services',
  'service show':
    'status|state|info|describe|get|details|view|inspect|display|look up|check|service|schedule show|show schedule',
  'service start':
    'resume|unpause|wake|wake up|turn on|power on|switch on|boot|boot up|bring up|run|enable|starten',
  'service stop':
    'pause|suspend|shutdown|shut down|turn off|power off|switch off|halt|hibernate|kill|disable|stoppen',
  'service scale':
    'resize|size|increase|decrease|grow|shrink|scale up|scale down|upscale|downscale|raise|lower|reduce|bump|set',
  'service schedule list': 'schedules|schedule ls|schedule all|list schedules',
  'service schedule pause': 'pause schedule|suspend schedule|schedule suspend|disable schedule',
  'service schedule resume': 'resume schedule|schedule unpause|enable schedule',
  'service schedule remove':
    'unschedule|schedule delete|schedule cancel|schedule drop|remove schedule|delete schedule|cancel schedule',
  'service create': 'add|new|provision|launch|spin up|make',
  'endpoint list': 'ls|all|show|endpoints',
  'endpoint create': 'add|new|make',
  'backup list': 'ls|all|history|backups',
  'backup show': 'status|info|describe|get|details|view',
  'pipe list': 'ls|all|pipes',
  'pipe settings': 'show|status|info|describe|get|details|view|setting|config',
  'alert list': 'ls|all|find|search|alerts|status',
  'alert show': 'info|describe|get|details|view',
  'alert edit': 'set|change|update|modify|tune|raise|lower',
  'change list': 'ls|changes',
  'change show': 'status|info|describe|get|details|view',
  'change cancel': 'stop|abort|withdraw|revoke',
  'change log': 'history|audit|trail|events|logs',
  'change freeze': 'lock|block',
  'change unfreeze': 'thaw|unlock|unblock|lift',
  'change freezes': 'freeze list|list freezes|frozen',
  'change who': 'who can|who may|permissions',
  'cost csv': 'export|download',
  'cost forecast': 'predict|prediction|projection|outlook',
  'cost why': 'explain|what changed',
  'cost budget': 'budgets',
  'cost anomalies': 'anomaly|spikes|spike|unusual|anything unusual',
  'cost digest': 'digests|subscribe|unsubscribe',
};

/** The verbs of a command, its own first; of `cost` without a verb, none. */
const phrasesOf = cached(COMMANDS_MAX, (command: Command) => {
  const others = (SYNONYMS[command.name] ?? '').split('|');
  return [verbOf(command), ...others].filter((phrase) => phrase !== '');
});

// Each run begins where nothing of it stands before: a long run in the middle is read once, not from each of its characters.
const AROUND = /^[`*~]+|(?<![`*~])[`*~]+$|(?<![,;:!.?])[,;:!.?]+$/g;

/** In lower case, without punctuation after it and without marks of code and bold text. */
export function lowerOf({ text }: Word): string {
  return text.toLowerCase().replace(AROUND, '');
}

export interface FoundVerb {
  readonly command: Command;
  readonly rest: Words;
  /** The verb as it was typed. */
  readonly phrase: string;
}

/** The command with the longest verb at the start of the words; its own verb wins. */
export function verbAt(words: Words, commands: readonly Command[]): FoundVerb | null {
  for (const count of [3, 2, 1]) {
    if (count > words.length || words.slice(0, count).some(({ quoted }) => quoted)) continue;
    const phrase = words.slice(0, count).map(lowerOf).join(' ');
    const own = commands.find((command) => verbOf(command) === phrase && phrase !== '');
    const command = own ?? commands.find((each) => phrasesOf(each).includes(phrase));
    // This verb says what happens to the digest as well.
    if (command)
      return { command, phrase, rest: words.slice(phrase === 'unsubscribe' ? 0 : count) };
  }
  return null;
}

/** Similar verbs of these commands, for a typing error. */
export function verbsNear(typed: string, commands: readonly Command[]): readonly string[] {
  const near = nearest(typed, commands.flatMap(phrasesOf));
  const meant = near.flatMap(
    (phrase) => commands.find((each) => phrasesOf(each).includes(phrase))?.name ?? [],
  );
  return [...new Set(meant)];
}

const DELETES = 'delete|remove|drop|destroy|erase|terminate|löschen';
const NOT_MADE = 'Signalbox does not make backups: each service makes its own.';
const FROM_BACKUP =
  'Signalbox does not copy or restore into a service. It creates a new service from a backup: service create with backup=.';
const NO_OPERATION = 'Signalbox does not do this: no API operation exists for it. Use the console.';
const NO_RESTART =
  'Signalbox does not restart a service in one step. Stop it first, then start it.';
const NO_DISK =
  'Signalbox cannot resize a disk: the storage of a service grows on its own. It can scale the memory.';
const ENDPOINT_STAYS = 'Signalbox never deletes or edits an endpoint. Use the console.';
const PIPE_STAYS =
  'Signalbox only reads pipes: it never starts, stops or changes one. Use the console.';
const ALERT_STAYS =
  'Signalbox does not create, delete, disable, mute or silence alerts. It can edit the threshold and other values of one.';
const BUTTONS =
  'Approve, reject and undo are buttons on the card of the change: a typed line decides nothing.';
const PIPES = 'pipe settings $|pipe list $';

/** By noun: a pattern of verbs, what Signalbox says, and lines with `$` for the target; without one, only those without `$`. */
const NEVER: readonly (readonly [noun: string, verbs: string, says: string, lines: string])[] = [
  ['service', 'restart|reboot|bounce|recycle', NO_RESTART, 'service stop $|service show $'],
  ['service', DELETES, 'Signalbox never deletes a service.', 'service stop $|service show $'],
  ['service', '(<GROW>) (disk|storage)', NO_DISK, 'service show $|service scale $'],
  ['service', 'upgrade|update|patch|migrate|rename|move', NO_OPERATION, 'service show $'],
  ['service', 'clone|copy|duplicate|restore', FROM_BACKUP, 'service create|backup list $'],
  ['service', 'backup|back up', NOT_MADE, 'backup list $'],
  ['endpoint', '<DELETES>|edit|change', ENDPOINT_STAYS, 'endpoint list $'],
  ['backup', 'create|make|take|add|new|start|run', NOT_MADE, 'backup list $'],
  ['backup', 'restore|<DELETES>', FROM_BACKUP, 'service create|backup list $'],
  ['pipe', 'stop|start|pause|resume|restart|create|add|new|edit|set|<DELETES>', PIPE_STAYS, PIPES],
  ['alert', '<MUTE>|stop|start|create|add|new|<DELETES>', ALERT_STAYS, 'alert show $|alert edit $'],
  ['change', '<DECIDE>', BUTTONS, 'change list pending'],
];
const VERBS = {
  DELETES,
  GROW: 'resize|increase|grow|expand|extend|scale|add',
  MUTE: '(un)?mute|silence|snooze|ack(nowledge)?|resolve|disable|enable|turn off|turn on',
  DECIDE: 'approve|reject|confirm|accept|decline|deny|run|execute|undo|revert|retry',
};

/**
 * What Signalbox answers to a verb for which no command exists, with the nearest lines; `count`: how many words the
 * verb has. Null for any other word.
 */
export function neverAt(noun: string, words: Words, vocabulary: Vocabulary) {
  for (const count of [2, 1]) {
    const phrase = words.slice(0, count).map(lowerOf).join(' ');
    const never = NEVER.find(
      ([of, verbs]) => of === noun && patternOf(`^(?:${verbs})$`, VERBS).test(phrase),
    );
    if (!never) continue;
    const [, , sentence, lines] = never;
    const target = targetText(noun, words.slice(count), vocabulary);
    const known = lines.split('|').filter((line) => target !== '' || !line.endsWith('$'));
    return { sentence, count, lines: known.map((line) => line.replace('$', target)) };
  }
  return null;
}

/** The names in the words, as a line has them. */
function targetText(noun: string, words: Words, vocabulary: Vocabulary): string {
  if (noun === 'alert') {
    const alert = anyName('alert', words, vocabulary);
    return alert ? quotedName(alert.item.name) : '';
  }
  const service = anyName('service', words, vocabulary);
  const pipe = noun === 'pipe' ? anyName('pipe', words, vocabulary) : null;
  return [service, pipe].flatMap((found) => (found ? [quotedName(found.item.name)] : [])).join(' ');
}

const WORDS_MAX = 60;

/** The first known name of this kind anywhere in the words. */
export function anyName(names: NameKind, words: Words, vocabulary: Vocabulary) {
  for (let at = 0; at < Math.min(WORDS_MAX, words.length); at += 1) {
    const found = nameAt(names, words.slice(at), vocabulary);
    const [item] = found ? findByName(found.things, found.text) : [];
    if (found && item) return { ...found, at, item };
  }
  return null;
}

/** `don't stop staging` starts and stops nothing. */
export function isNegated(words: Words): boolean {
  const [first = '', second = ''] = words.map(lowerOf);
  return /^(don'?t|dont|never|not|no|nicht)$/.test(first) || (first === 'do' && second === 'not');
}

const QUESTIONS =
  /^(is|are|was|were|what|what's|which|how|who|when|why|where|can|could|may|should|do|does|did|will|am)$/;

/** A line that ends in a question mark or begins with a word of a question. Quoted words ask nothing. */
export function isQuestion(words: Words): boolean {
  const [first, last] = [words[0], words.at(-1)];
  if (!first || !last || words.length === 1) return false;
  return (!last.quoted && last.text.endsWith('?')) || QUESTIONS.test(lowerOf(first));
}

export function isQuestionWord(word: Word | undefined): boolean {
  return word !== undefined && !word.quoted && QUESTIONS.test(lowerOf(word));
}

const byNoun = cached(COMMANDS_MAX, (all: readonly Command[]) => Map.groupBy(all, nounOf));

/** The commands of a noun. */
export function ownCommands(noun: string, { commands }: Vocabulary): readonly Command[] {
  return byNoun(commands).get(noun) ?? [];
}

/** How many words say that the change ends: `and start it again` of a stop. */
export function wordsBack({ name }: Command, texts: readonly string[]): number {
  const back = BACK[name];
  const counts = [7, 6, 5, 4, 3, 2, 1];
  return counts.find((count) => back?.test(texts.slice(0, count).join(' '))) ?? 0;
}

const backTo = (verbs: string) =>
  new RegExp(`^(?:and |then |and then |but )?(?:${verbs})(?: at| on)?$`, 'i');
const BACK: Readonly<Record<string, RegExp>> = {
  'service stop': backTo(
    '(?:re)?start(?: it)?(?: again| up)*|(?:turn|switch|bring)(?: it)?(?: back)? (?:on|up)(?: again)?|wake it(?: up)?|back(?: on| up)?',
  ),
  'service start': backTo(
    'stop(?: it)?(?: again)?|(?:turn|switch|shut)(?: it)?(?: back)? (?:off|down)(?: again)?|back (?:off|down)',
  ),
  'service scale': backTo('(?:scale|set|put)(?: it)? back|back(?: again)?|revert(?: it)?'),
  'alert edit': backTo('(?:set|put)(?: it)? back|back(?: again)?|revert(?: it)?'),
};
