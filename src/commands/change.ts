import { z } from 'zod';
import { isDay, startOf } from '../base/calendar.ts';
import { type LocalClock, typedSpan } from '../base/moments.ts';
import { ownValue } from '../base/text.ts';
import { addDays, dayOf, spanMs } from '../base/time.ts';
import type { Answer } from '../domain/answer.ts';
import { STATES } from '../domain/change.ts';
import { scopeOf } from '../domain/freezes.ts';
import { STATE_WORDS } from '../domain/words.ts';
import {
  choiceField,
  Details,
  type FieldContext,
  numberField,
  oneOf,
  SCOPE_KEYS,
  ServiceName,
  type TypedValues,
  textField,
} from './arguments.ts';
import { lastWeekday } from './cost-words.ts';
import {
  CHANGE_LISTS,
  nounOf,
  type PastTime,
  type Phrase,
  type PhraseState,
  queryCommand,
} from './define.ts';
import { nameAt } from './names.ts';
import { verbAt } from './verbs.ts';

/** Reads a state by its word, or by its name in the audit trail: `waiting` or `pending`. */
const StateText = z.preprocess(
  (typed) => {
    const word = typeof typed === 'string' ? typed.trim().toLowerCase() : typed;
    return STATES.find((state) => STATE_WORDS[state] === word) ?? word;
  },
  z.enum(STATES, { error: `must be ${oneOf(Object.values(STATE_WORDS))}` }),
);

/** A filter by state, for `/change list` and `/change log`. */
function stateField(label: string) {
  const words = Object.values(STATE_WORDS);
  return choiceField(StateText, () => words, {
    word: 'state',
    label,
    // The states that most questions are about, if no state is called like this.
    suggestions: () => ['waiting', 'running', 'accepted', 'failed', 'unknown'],
  });
}

/** Reads a time in the past: `yesterday`, `2026-11-01`, `36h` or `7d`. */
const PastTimeText = z.string().transform((typed, context): PastTime => {
  const text = typed.trim().toLowerCase();
  const agoMs = spanMs(typedSpan(text) ?? '');
  if (!Number.isNaN(agoMs)) return { agoMs };
  if (text === 'today') return { daysAgo: 0 };
  if (text === 'yesterday') return { daysAgo: 1 };
  if (isDay(text)) return { day: text };
  context.addIssue({
    code: 'custom',
    message:
      'must be today, yesterday, a day (for example 2026-11-01) or a time ago (for example 7d)',
  });
  return z.NEVER;
});

/** `24 hours`, `last 7 days`, `monday` → a time that the filters read. */
function pastText(typed: string, clock: LocalClock | null): string | null {
  const span = typedSpan(typed.replace(/^(the )?(last|past) /i, '').replace(/ ago$/i, ''));
  if (span !== null) return span;
  const [, day] = /^(?:last )?((?:mon|tue|wed|thu|fri|sat|sun)[a-z]*)$/i.exec(typed) ?? [];
  return clock && day !== undefined ? lastWeekday(day, dayOf(clock.now)) : null;
}

/** `last week`, `today`: the days of a search without its keys. */
function daysPhrase(words: readonly string[], { given, vocabulary }: PhraseState): Phrase | null {
  if (!vocabulary.clock || given.since !== undefined) return null;
  const today = dayOf(vocabulary.clock.now);
  const monday = startOf('week', today);
  const two = words.slice(0, 2).join(' ').toLowerCase();
  const spans: Readonly<Record<string, TypedValues>> = {
    'last week': { since: addDays(monday, -7), until: addDays(monday, -1) },
    'this week': { since: monday },
    'this month': { since: startOf('month', today) },
  };
  const found = spans[two];
  if (found) return { taken: 2, given: found };
  const one = words[0]?.toLowerCase() ?? '';
  const isDay = one === 'today' || one === 'yesterday' || /^\d+[hdw]$/.test(one);
  return isDay ? { taken: 1, given: { since: one } } : null;
}

/** A service without its key, the lists as people call them, and days. */
function listPhrase(words: readonly string[], so: PhraseState): Phrase | null {
  const which = ownValue(LIST_WORDS, words[0]?.toLowerCase() ?? '');
  if (which && so.given.which === undefined) return { taken: 1, given: { which } };
  return namePhrase('service', words, so) ?? daysPhrase(words, so);
}

const LIST_WORDS: Readonly<Record<string, string>> = {
  ...{ my: 'mine', own: 'mine', me: 'mine', everything: 'all' },
  ...{ waiting: 'pending', open: 'pending', unapproved: 'pending' },
};

function namePhrase(
  field: 'service' | 'target',
  words: readonly string[],
  { given, vocabulary }: PhraseState,
): Phrase | null {
  const typed = words.map((text) => ({ text, quoted: false }));
  const found = given[field] === undefined ? nameAt('service', typed, vocabulary) : null;
  return found && { taken: found.taken, given: { [field]: found.text } };
}

/** One person: `me`, `@ana`, `ana`. */
const personText = (typed: string) => (/^(<@\w+(\|[^>]*)?>|@?[\w.-]+)$/.test(typed) ? typed : null);

/** `stop`, `service stop` → the name of the command. */
function askPhrase(words: readonly string[], { given, vocabulary }: PhraseState): Phrase | null {
  if (given.ask !== undefined) return null;
  const typed = words.map((text) => ({ text, quoted: false }));
  const changes = vocabulary.commands.filter(({ kind }) => kind === 'change');
  const own = changes.filter((command) => nounOf(command) === words[0]?.toLowerCase());
  const found = own.length > 0 ? verbAt(typed.slice(1), own) : verbAt(typed, changes);
  if (!found && own.length > 0) return { taken: 2, given: { ask: words.slice(0, 2).join(' ') } };
  if (!found) return null;
  const taken = words.length - found.rest.length;
  return { taken, given: { ask: found.command.name } };
}

/** A time in the past as a key; the hint names one that fits it. */
function pastField(word: string, label: string, like: string, synonyms: readonly string[]) {
  return textField(PastTimeText, {
    ...{ word, label, synonyms, reads: pastText },
    hint: `yesterday, a UTC day (2026-11-01), or a time ago (${like})`,
    // Offered for one that cannot be read.
    suggestions: () => ['today', 'yesterday', '7d', '30d'],
  });
}

function personField(label: string) {
  return textField(Sought, {
    word: 'by',
    synonyms: ['who', 'user', 'person'],
    label,
    hint: 'A user, for example @ana, or me',
    reads: personText,
  });
}

const Id = z.string().min(1).max(40).meta({ label: 'Change id', reads: changeIdText });
const Sought = z.string().trim().min(1).max(80, 'is too long');

const Which = z.enum(CHANGE_LISTS);

export const changeList = queryCommand({
  name: 'change list',
  program: 'read',
  title: 'List changes',
  summary: 'List changes by approval, person, service, state or time',
  examples: ['change list', 'change list mine', 'change list service=staging since=yesterday'],
  args: z.strictObject({
    which: choiceField(Which, () => CHANGE_LISTS, { label: 'List' }),
    service: ServiceName.optional().meta({ ...ServiceName.meta(), word: 'service' }),
    by: personField('Requested by'),
    state: stateField('State'),
    since: pastField('since', 'Requested since', '7d, 4h', ['from', 'after']),
    before: textField(z.string().max(40), {
      word: 'before',
      label: 'Requested before',
      hint: 'A change id',
    }),
  }),
  phrase: listPhrase,
  // The list itself decides them: `mine` is one person, `pending` one state.
  hasField: (field, { given: { which } }: FieldContext) =>
    !(field === 'by' && which === 'mine') && !(field === 'state' && which === 'pending'),

  target: () => null,
  answer: (
    { which = null, service = null, by = null, state = null, since = null, before = null },
    { changes },
    asker,
  ) => changes.list({ which, service, by, state, since, before }, asker),
});

export const changeLog = queryCommand({
  name: 'change log',
  program: 'read',
  title: 'Read the audit trail',
  summary: 'Read the audit trail: who did what and when, refusals included',
  examples: [
    'change log',
    'change log by=me since=7d',
    'change log target=analytics-prod state=failed',
  ],
  args: z.strictObject({
    by: personField('By'),
    what: textField(Sought, {
      word: 'command',
      synonyms: ['cmd'],
      label: 'Command',
      hint: 'For example service stop',
    }),
    target: textField(Sought, {
      word: 'target',
      synonyms: ['on', 'service', 'alert'],
      label: 'Target',
      hint: 'The name of a service or an alert',
    }),
    state: stateField('New state'),
    since: pastField('since', 'Since', '7d, 4h', ['from', 'after']),
    until: pastField('until', 'Before', '1d', ['to']),
    before: numberField(z.int().min(1), {
      word: 'before',
      label: 'Before event number',
      min: 1,
    }),
  }),

  phrase: (words, so) => daysPhrase(words, so) ?? namePhrase('target', words, so),
  target: () => null,
  answer: (
    {
      by = null,
      what = null,
      target = null,
      state = null,
      since = null,
      until = null,
      before = null,
    },
    { changes },
    asker,
  ) => changes.log({ by, command: what, target, state, since, until, before }, asker),
});

export const changeShow = queryCommand({
  name: 'change show',
  program: 'read',
  title: 'Look up a change',
  summary: 'Show one change: its card, its history and your buttons',
  examples: ['change show 7KQ2MX', 'change show 7KQ2MX details'],
  args: z.strictObject({ id: Id, details: Details }),

  target: () => null,
  answer: ({ id, details }, { changes }, asker) => changes.show(id, asker, details !== undefined),
});

export const changeCancel = queryCommand({
  name: 'change cancel',
  program: 'none',
  title: 'Cancel a change',
  summary: 'Cancel a change that you requested, before it runs',
  examples: ['change cancel 7KQ2MX'],
  args: z.strictObject({ id: Id }),

  submit: () => 'Cancel change',
  target: () => null,
  acts: () => true,
  answer: ({ id }, { changes }, asker) => changes.cancel(id, asker),
});

/** Normalises a typed change id: `#k3m9qd,` → `K3M9QD`. People type ids on phones. */
export function changeIdText(typed: string): string {
  return typed
    .trim()
    .replace(/^#/, '')
    .replace(/[.,;]$/, '')
    .toUpperCase();
}

export const changeWho = queryCommand({
  name: 'change who',
  program: 'read',
  title: 'Look up permissions',
  summary: 'Show who may use a command, who approves it, and by which rule',
  examples: [
    'change who service stop analytics-prod',
    'change who service scale tag=prod',
    'change who alert edit',
  ],
  args: z.strictObject({
    ask: z.string().min(1).max(60).meta({ label: 'Command', names: 'ask' }),
    scope: z.string().min(1).max(100).optional().meta({ label: 'Service', names: 'scope' }),
    ...SCOPE_KEYS,
  }),

  phrase: askPhrase,
  target: () => null,
  answer: ({ ask, ...about }, { who }, asker) => {
    const scope = scopeOf(about);
    const named = Object.values(about).filter((one) => one !== undefined);
    return named.length > 1 ? ONE_ONLY : who({ command: ask.id, scope }, asker);
  },
});

const ONE_ONLY: Answer = {
  title: 'Choose one target',
  parts: [{ kind: 'text', text: 'Name exactly one of: a service, tag= or warehouse=.' }],
};
