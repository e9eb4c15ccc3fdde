import { z } from 'zod';
import { STATES, type State } from '../../domain/change.ts';
import { choiceField } from '../arguments/arguments.ts';
import { oneOf } from '../arguments/explain.ts';
import type { PastTime } from './command-context.ts';

const UNITS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Reads a time in the past: `yesterday`, `2026-11-01`, `36h` or `7d`. */
export const PastTimeText = z.string().transform((typed, context): PastTime => {
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

/** Normalises a typed change id: `#k3m9qd,` → `K3M9QD`. People type ids on phones. */
export function changeIdText(typed: string): string {
  return typed
    .trim()
    .replace(/^#/, '')
    .replace(/[.,;]$/, '')
    .toUpperCase();
}

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
export function stateField(label: string) {
  const words = Object.values(STATE_WORDS);
  return choiceField(StateText, () => words, {
    word: 'state',
    label,
    // The states that most questions are about, if no state is called like this.
    suggestions: () => ['waiting', 'running', 'accepted', 'failed', 'unknown'],
  });
}

/** Times that are offered for one that cannot be read. */
export const commonPastTimes = (): readonly string[] => ['today', 'yesterday', '7d', '30d'];
