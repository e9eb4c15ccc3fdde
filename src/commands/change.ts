import { z } from 'zod';
import { DAY_MS, HOUR_MS } from '../base/time.ts';
import type { Answer } from '../domain/answer.ts';
import { STATES, type State } from '../domain/change.ts';
import { scopeOf } from '../domain/freezes.ts';
import {
  choiceField,
  type FieldContext,
  numberField,
  oneOf,
  ServiceName,
  scopeField,
  textField,
} from './arguments.ts';
import { CHANGE_LISTS, type PastTime, queryCommand } from './define.ts';

/** The states as users read and type them. */
export const STATE_WORDS: Readonly<Record<State, string>> = {
  draft: 'draft',
  pending: 'waiting',
  approved: 'approved',
  executing: 'running',
  succeeded: 'accepted',
  failed: 'failed',
  unknown: 'unknown',
  rejected: 'rejected',
  cancelled: 'cancelled',
  expired: 'expired',
  stale: 'changed',
  denied: 'refused',
};

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

const UNITS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: HOUR_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
};

/** Reads a time in the past: `yesterday`, `2026-11-01`, `36h` or `7d`. */
const PastTimeText = z.string().transform((typed, context): PastTime => {
  const text = typed.trim().toLowerCase();
  const [, count, unit = ''] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  if (count) return { agoMs: Number(count) * (UNITS[unit] ?? 0) };
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

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

/** Times that are offered for one that cannot be read. */
const commonPastTimes = (): readonly string[] => ['today', 'yesterday', '7d', '30d'];

const Id = z.string().min(1).max(40).meta({ label: 'Change id' });
const Sought = z.string().trim().min(1).max(80, 'is too long');

const Which = z.enum(CHANGE_LISTS, { error: 'must be pending, mine, all or review' });

export const changeList = queryCommand({
  name: 'change list',
  title: 'List changes',
  summary: 'List changes by approval, person, service, state or time',
  examples: ['change list', 'change list mine', 'change list service=staging since=yesterday'],
  args: z.strictObject({
    which: choiceField(Which, () => CHANGE_LISTS, { label: 'Which' }),
    service: ServiceName.optional().meta({ ...ServiceName.meta(), word: 'service' }),
    by: textField(Sought, {
      word: 'by',
      synonyms: ['who', 'user', 'person'],
      label: 'Requested by',
      hint: 'A user, for example @ana, or me',
    }),
    state: stateField('State'),
    since: textField(PastTimeText, {
      word: 'since',
      synonyms: ['from', 'after'],
      label: 'Requested since',
      hint: 'yesterday, a UTC day (2026-11-01), or a time ago (7d, 4h)',
      suggestions: commonPastTimes,
    }),
    before: textField(z.string().max(40), {
      word: 'before',
      label: 'Requested before',
      hint: 'A change id',
    }),
  }),
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
  title: 'Read the audit trail',
  summary: 'Read the audit trail: who did what and when, refusals included',
  examples: [
    'change log',
    'change log by=me since=7d',
    'change log target=analytics-prod state=failed',
  ],
  args: z.strictObject({
    by: textField(Sought, {
      word: 'by',
      synonyms: ['who', 'user', 'person'],
      label: 'By',
      hint: 'A user, for example @ana, or me',
    }),
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
    since: textField(PastTimeText, {
      word: 'since',
      synonyms: ['from', 'after'],
      label: 'Since',
      hint: 'yesterday, a UTC day (2026-11-01), or a time ago (7d, 4h)',
      suggestions: commonPastTimes,
    }),
    until: textField(PastTimeText, {
      word: 'until',
      synonyms: ['to'],
      label: 'Before',
      hint: 'today, a UTC day (2026-11-30), or a time ago (1d)',
      suggestions: commonPastTimes,
    }),
    before: numberField(z.int('must be a whole number').min(1), {
      word: 'before',
      label: 'Before event number',
      min: 1,
    }),
  }),

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
  title: 'Look up a change',
  summary: 'Show one change: its card, its history and your buttons',
  examples: ['change show 7KQ2MX'],
  args: z.strictObject({ id: Id }),

  target: () => null,
  answer: ({ id }, { changes }, asker) => changes.show(id, asker),
});

export const changeCancel = queryCommand({
  name: 'change cancel',
  title: 'Cancel a change',
  summary: 'Cancel a change that you requested, before it runs',
  examples: ['change cancel 7KQ2MX'],
  args: z.strictObject({ id: Id }),

  submit: () => 'Cancel change',
  target: () => null,
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
    tag: scopeField('tag', 'All services with this tag'),
    warehouse: scopeField('warehouse', 'All services of this warehouse'),
  }),

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
