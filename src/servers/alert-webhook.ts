// What the webhook of the alert service delivers, with the body of docs/alerts.md. It is text from outside: nothing of it
// is used before it has this shape, and every text has a bound.

import { z } from 'zod';
import { ownValue } from '../base/text.ts';
import { wordOf } from '../domain/words.ts';

/** What people read about the state. Every state but `firing` only changes a message that exists. */
export type AlertStateWord = 'firing' | 'ok' | 'pending' | 'no data' | 'broken' | 'disabled';

export const AlertReport = z.object({
  /** Names the alert; its groups have the same. */
  id: z.string(),
  /** For `/alert edit`; null: the server did not send it. */
  alert: z.string().nullable(),
  name: z.string(),
  state: z.custom<AlertStateWord>((word) => typeof word === 'string'),
  value: z.string().nullable(),
  /** `> 100` */
  threshold: z.string().nullable(),
  group: z.string().nullable(),
  /** The word with which the body names a service; null: none. */
  service: z.string().nullable(),
  /** The end of the window that was evaluated, in milliseconds since 1970: the order of reports. */
  at: z.number(),
});
export type AlertReport = z.output<typeof AlertReport>;

// A map, because `__proto__` is a word as well.
const STATES = new Map<string, AlertStateWord>(
  Object.entries({
    ...({ firing: 'firing', alert: 'firing', resolved: 'ok', ok: 'ok' } as const),
    ...({ pending: 'pending', no_data: 'no data', insufficient_data: 'no data' } as const),
    ...({ error: 'broken', disabled: 'disabled' } as const),
  }),
);

/** A text on one line, without characters that nobody sees; empty is null. Numbers may come without quotes. */
function line(most: number) {
  return z
    .union([z.string().max(10_000), z.number()])
    .nullish()
    .transform((given) => {
      const text = String(given ?? '').replace(/[\s\p{C}]+/gu, ' ');
      const cut = [...text.trim()].slice(0, most).join('');
      return cut === '' ? null : cut;
    });
}

const Body = z.object({
  alert: line(64),
  event: line(64),
  group: line(80),
  status: line(30),
  state: line(30),
  title: line(120),
  value: line(30),
  comparator: line(30),
  threshold: line(30),
  thresholdMax: line(30),
  service: line(63),
  at: line(40),
});

/** An id that can stand in a command as one word. */
const ID = /^[\w-]{1,64}$/;
const EARLY_MS = 10 * 60_000;
/** A delivery that a sender retried for a day says nothing about now. */
const LATE_MS = 86_400_000;

/**
 * Reads a delivery that arrived at `now`. `why` is what to correct in the body of the webhook; it quotes nothing of
 * the delivery.
 */
export function readAlertReport(text: string, now: Date) {
  const body = Body.safeParse(parsed(text));
  if (!body.success) return refused('the body is not the JSON of the template');
  const { alert, event, group, status, state, title, value, service } = body.data;
  const word = STATES.get((status ?? state ?? '').toLowerCase());
  if (word === undefined) return refused('status is none that an alert has');
  const id = alert ?? event;
  if (id === null) return refused('alert and event are empty');
  const at = timeOf(body.data.at, now.getTime());
  if (at === null) return refused('at is not a time of the last 24 hours');
  const shown = { name: title ?? `Alert ${id}`, value, threshold: thresholdOf(body.data) };
  const target = { alert: alert !== null && ID.test(alert) ? alert : null, group, service };
  const report: AlertReport = { id, ...target, ...shown, state: word, at };
  return { ok: true as const, report };
}

function refused(why: string) {
  return { ok: false as const, why };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Without a time, the arrival counts. A clock that is a little ahead must not block later reports. */
function timeOf(text: string | null, now: number): number | null {
  if (text === null) return now;
  const at = /^\d{1,15}$/.test(text) ? Number(text) : Date.parse(text);
  const isNear = at > now - LATE_MS && at < now + EARLY_MS;
  return isNear ? Math.min(at, now) : null;
}

/** As the list of alerts words them. */
const COMPARED: Readonly<Record<string, string>> = {
  ...{ '>': 'above', '>=': 'above_or_equal', '<': 'below', '<=': 'below_or_equal' },
};

function thresholdOf({ comparator, threshold, thresholdMax }: z.output<typeof Body>) {
  if (threshold === null) return null;
  const range = /^(between|outside)$/.test(comparator ?? '') ? `and ${thresholdMax ?? '?'}` : null;
  const word = comparator === null ? null : wordOf(ownValue(COMPARED, comparator) ?? comparator);
  return [word, threshold, range].filter(Boolean).join(' ');
}
