/** From the words after a noun to the command: verbs that people say, in any order, and what does not exist. */

import { nearest, type Word } from '../base/text.ts';
import { findByName } from '../domain/targets.ts';
import { type Command, nounOf, type Vocabulary, verbOf } from './define.ts';
import { nameAt, quotedName } from './names.ts';

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
  'cost digest': 'digests',
};

const PHRASES = new WeakMap<Command, readonly string[]>();

/** The verbs of a command, its own first; of `cost` without a verb, none. */
function phrasesOf(command: Command): readonly string[] {
  const known = PHRASES.get(command);
  if (known) return known;
  const others = (SYNONYMS[command.name] ?? '').split('|');
  const phrases = [verbOf(command), ...others].filter((phrase) => phrase !== '');
  PHRASES.set(command, phrases);
  return phrases;
}

/** In lower case, without punctuation after it and without marks of code and bold text. */
export function lowerOf({ text }: Word): string {
  return text.toLowerCase().replace(/^[`*~]+|[`*~]+$|[,;:!.?]+$/g, '');
}

export interface FoundVerb {
  readonly command: Command;
  readonly rest: readonly Word[];
  /** The verb as it was typed. */
  readonly phrase: string;
}

/** The command with the longest verb at the start of the words; its own verb wins. */
export function verbAt(words: readonly Word[], commands: readonly Command[]): FoundVerb | null {
  for (const count of [3, 2, 1]) {
    if (count > words.length || words.slice(0, count).some(({ quoted }) => quoted)) continue;
    const phrase = words.slice(0, count).map(lowerOf).join(' ');
    const own = commands.find((command) => verbOf(command) === phrase && phrase !== '');
    const command = own ?? commands.find((each) => phrasesOf(each).includes(phrase));
    if (command) return { command, phrase, rest: words.slice(count) };
  }
  return null;
}

/** Similar verbs of these commands, for a typing error. */
export function verbsNear(typed: string, commands: readonly Command[]): readonly string[] {
  const near = nearest(typed, commands.flatMap(phrasesOf));
  const meant = near.flatMap((phrase) => {
    const command = commands.find((each) => phrasesOf(each).includes(phrase));
    return command ? [command.name] : [];
  });
  return [...new Set(meant)];
}

/** An answer for what Signalbox does not do, with the nearest lines. */
export interface Honest {
  readonly sentence: string;
  readonly lines: readonly string[];
}

interface Never {
  readonly nouns: string;
  readonly verbs: string;
  readonly says: string;
  /** Lines with `$` for the target; without a target, only those without it. */
  readonly lines: readonly string[];
}

const DELETES = 'delete|remove|drop|destroy|erase|terminate|löschen';

const NEVER: readonly Never[] = [
  {
    ...{ nouns: 'service', verbs: 'restart|reboot|bounce|recycle' },
    says: 'Signalbox does not restart a service in one step. Stop it first, then start it.',
    lines: ['service stop $', 'service show $'],
  },
  {
    nouns: 'service',
    verbs: DELETES,
    says: 'Signalbox never deletes a service.',
    lines: ['service stop $', 'service show $'],
  },
  {
    ...{ nouns: 'service', verbs: 'upgrade|update|patch|migrate|rename|move' },
    says: 'Signalbox does not do this: no API operation exists for it. Use the console.',
    lines: ['service show $'],
  },
  {
    ...{ nouns: 'service', verbs: 'clone|copy|duplicate|restore' },
    says: 'Signalbox can not copy or restore a service. It can create a new one from a backup.',
    lines: ['service create', 'backup list $'],
  },
  {
    nouns: 'service',
    verbs: 'backup|back up',
    says: 'Signalbox does not make backups: each service makes its own.',
    lines: ['backup list $'],
  },
  {
    nouns: 'endpoint',
    verbs: `${DELETES}|edit|change`,
    says: 'Signalbox never deletes or edits an endpoint. Use the console.',
    lines: ['endpoint list $'],
  },
  {
    nouns: 'backup',
    verbs: 'create|make|take|add|new|start|run',
    says: 'Signalbox does not make backups: each service makes its own.',
    lines: ['backup list $'],
  },
  {
    ...{ nouns: 'backup', verbs: `restore|${DELETES}` },
    says: 'Signalbox does not restore into a service. It creates a new service from a backup: service create with backup=.',
    lines: ['service create', 'backup list $'],
  },
  {
    ...{
      nouns: 'pipe',
      verbs: `stop|start|pause|resume|restart|create|add|new|edit|set|${DELETES}`,
    },
    says: 'Signalbox only reads pipes: it never starts, stops or changes one. Use the console.',
    lines: ['pipe settings $', 'pipe list $'],
  },
  {
    ...{ nouns: 'alert', verbs: 'mute|unmute|silence|snooze|ack|acknowledge|resolve' },
    says: 'The alerts API cannot mute or silence an alert. Its threshold can be edited.',
    lines: ['alert show $', 'alert edit $'],
  },
  {
    ...{
      nouns: 'alert',
      verbs: `disable|enable|turn off|turn on|stop|start|create|add|new|${DELETES}`,
    },
    says: 'Signalbox does not create, delete or disable alerts, or turn off their checks. It can edit one.',
    lines: ['alert show $', 'alert edit $'],
  },
  {
    ...{
      nouns: 'change',
      verbs: 'approve|reject|confirm|accept|decline|deny|run|execute|undo|revert|retry',
    },
    says: 'Approve, reject and undo are buttons on the card of the change: a typed line decides nothing.',
    lines: ['change list pending'],
  },
];

/** What Signalbox answers to a verb for which no command exists; null for any other word. */
export function neverAt(
  noun: string,
  words: readonly Word[],
  vocabulary: Vocabulary,
): Honest | null {
  for (const count of [2, 1]) {
    const phrase = words.slice(0, count).map(lowerOf).join(' ');
    const never = NEVER.find(
      ({ nouns, verbs }) => nouns === noun && verbs.split('|').includes(phrase),
    );
    if (!never) continue;
    const target = targetText(noun, words.slice(count), vocabulary);
    const lines = never.lines.flatMap((line) => {
      if (!line.endsWith('$')) return [line];
      return target === '' ? [] : [line.replace('$', target)];
    });
    return { sentence: never.says, lines };
  }
  return null;
}

/** The names in the words, as a line has them. */
function targetText(noun: string, words: readonly Word[], vocabulary: Vocabulary): string {
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
export function anyName(
  names: 'service' | 'alert' | 'pipe' | 'tag',
  words: readonly Word[],
  vocabulary: Vocabulary,
) {
  for (let at = 0; at < Math.min(WORDS_MAX, words.length); at += 1) {
    const found = nameAt(names, words.slice(at), vocabulary);
    const [item] = found ? findByName(found.things, found.text) : [];
    if (found && item) return { ...found, at, item };
  }
  return null;
}

/** `don't stop staging` starts and stops nothing. */
export function isNegated(words: readonly Word[]): boolean {
  const [first = '', second = ''] = words.map(lowerOf);
  return /^(don'?t|dont|never|not|no|nicht)$/.test(first) || (first === 'do' && second === 'not');
}

const QUESTIONS =
  /^(is|are|was|were|what|what's|which|how|who|when|why|where|can|could|may|should|do|does|did|will|am)$/;

/** A line that ends in a question mark or begins with a word of a question. Quoted words ask nothing. */
export function isQuestion(words: readonly Word[]): boolean {
  const [first, last] = [words[0], words.at(-1)];
  if (!first || !last || words.length === 1) return false;
  return (!last.quoted && last.text.endsWith('?')) || QUESTIONS.test(lowerOf(first));
}

export function isQuestionWord(word: Word | undefined): boolean {
  return word !== undefined && !word.quoted && QUESTIONS.test(lowerOf(word));
}

/** The commands of a noun. */
export function ownCommands(noun: string, { commands }: Vocabulary): readonly Command[] {
  return commands.filter((command) => nounOf(command) === noun);
}
