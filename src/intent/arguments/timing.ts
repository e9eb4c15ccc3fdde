import { isValid } from 'date-fns/isValid';
import { parseISO } from 'date-fns/parseISO';
import { z } from 'zod';
import type { FieldProblem } from '../../errors.ts';
import { textField } from './arguments.ts';

/** Whether a change can start later, and whether it can be reverted after a while. */
export type TimingSupport = 'start' | 'start and revert';

/** A clock time; the plan resolves it in the time zone of the requester. */
export interface ClockTime {
  /** `2026-11-22`; null: the next occurrence of `time`. */
  readonly day: string | null;
  readonly time: string;
  /** `Z` or `+01:00`; null: the time zone of the requester. */
  readonly offset: string | null;
}

export interface RequestedTiming {
  readonly at: ClockTime | null;
  readonly inMs: number | null;
  readonly forMs: number | null;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const UNITS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** The longest time that a change may wait for its start. */
export const LATEST_START_MS = 30 * DAY_MS;

const AS_MOMENT = 'must be a time, for example 20:00 or 2026-11-22T20:00';
const MOMENT =
  /^(?:(\d{4}-\d{2}-\d{2})[t ])?(\d{1,2}):([0-5]\d)(?::00)?(?:(z|[+-]\d{2}:?[0-5]\d))?$/i;

/** `20:00`, with or without its date and its zone. */
export const ClockTimeText = z.string().transform((typed, context): ClockTime => {
  const [, day = null, hours = '', minutes = '', offset = null] = MOMENT.exec(typed.trim()) ?? [];
  const isTime = hours !== '' && Number(hours) < 24;
  if (isTime && (day === null ? offset === null : isValid(parseISO(day)))) {
    return { day, time: `${hours.padStart(2, '0')}:${minutes}`, offset: wholeOffset(offset) };
  }
  context.addIssue({ code: 'custom', message: AS_MOMENT });
  return z.NEVER;
});

function wholeOffset(offset: string | null): string | null {
  return offset?.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2') ?? null;
}

export function spanSchema(least: string, most: string, example: string) {
  const [from, until] = [spanOf(least) ?? 0, spanOf(most) ?? 0];
  const problem = `must be from ${least} to ${most} (for example ${example})`;
  return z.string().transform((typed, context): number => {
    const ms = spanOf(typed.trim().toLowerCase());
    if (ms !== null && ms >= from && ms <= until) return ms;
    context.addIssue({ code: 'custom', message: problem });
    return z.NEVER;
  });
}

/** `30m`, `4h`, `2d` → milliseconds; null for anything else. */
function spanOf(text: string): number | null {
  const [, count, unit = ''] = /^(\d{1,5})([mhd])$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (UNITS[unit] ?? 0);
}

// Common spellings of a time that are offered in the accepted form: `8pm` → `20:00`.
function similarTimes(typed: string): readonly string[] {
  const words = /^(\d{1,2})(?:[:.h]?([0-5]\d))?\s*(am|pm|h|uhr)?$/i.exec(typed.trim());
  const [, hours = '', minutes = '00', half = ''] = words ?? [];
  const twelve = /[ap]m/i.test(half);
  const hour = (twelve ? Number(hours) % 12 : Number(hours)) + (/pm/i.test(half) ? 12 : 0);
  if (hours === '' || hour > 23 || (twelve && Number(hours) > 12)) return [];
  return [`${String(hour).padStart(2, '0')}:${minutes}`];
}

function similarSpans(typed: string): readonly string[] {
  const words = /^(\d{1,3})\s*(m|h|d)[a-z]*$/i.exec(typed.trim());
  const [, count, unit = ''] = words ?? [];
  const span = `${count}${unit.toLowerCase()}`;
  if (count !== undefined) return within([span]);
  return /^\d{1,3}$/.test(typed) ? within([`${typed}h`, `${typed}d`, `${typed}m`]) : [];
}

function within(spans: readonly string[]): readonly string[] {
  return spans.filter((span) => REVERT_SPAN.safeParse(span).success);
}

const REVERT_SPAN = spanSchema('30m', '14d', '4h');

const startShape = (verb: string) => ({
  at: textField(ClockTimeText, {
    word: 'at',
    label: `${verb.charAt(0).toUpperCase()}${verb.slice(1)} at`,
    hint: '20:00 or 2026-11-22T20:00 in your time zone. Leave empty to run once approved',
    suggestions: similarTimes,
    synonyms: ['start', 'from', 'when', 'time', 'begin'],
    afterReason: true,
  }),
  in: textField(spanSchema('1m', '30d', '2h'), {
    word: 'in',
    label: `${verb.charAt(0).toUpperCase()}${verb.slice(1)} in`,
    hint: 'For example 2h, instead of a time',
    suggestions: similarSpans,
    synonyms: ['after', 'wait', 'delay'],
    afterReason: true,
    typedOnly: true,
  }),
});

const REVERT = {
  for: textField(REVERT_SPAN, {
    word: 'for',
    label: 'Revert after',
    hint: '30m to 14d, for example 4h; leave empty to keep',
    suggestions: similarSpans,
    synonyms: ['until', 'till', 'hold', 'hours', 'back', 'duration'],
    afterReason: true,
  }),
};

/**
 * The timing keys of a change; parser, forms and help use this definition. Their labels have the verb
 * of the command: `Stop at`.
 */
export function timingShape(
  timed: TimingSupport | undefined,
  verb: string,
): Readonly<Record<string, z.ZodType>> {
  if (timed === undefined) return {};
  return timed === 'start' ? startShape(verb) : { ...startShape(verb), ...REVERT };
}

const TIMING_KEYS = Object.keys(timingShape('start and revert', ''));

export function isTimingKey(name: string): boolean {
  return TIMING_KEYS.includes(name);
}

export const NO_TIMING: RequestedTiming = { at: null, inMs: null, forMs: null };

type Args = Readonly<Record<string, unknown>>;

/** Separates the arguments of a change from its timing. */
export function separateTiming(
  timed: TimingSupport | undefined,
  args: Args,
): { readonly own: Args; readonly timing: RequestedTiming } {
  if (timed === undefined) return { own: args, timing: NO_TIMING };
  const { at = null, in: inMs = null, for: forMs = null, ...own } = args;
  // The schemas above parsed the three values, so they have these types.
  return { own, timing: { at, inMs, forMs } as RequestedTiming };
}

/** A change can have only one start time. */
export function timingProblems({ at, inMs }: RequestedTiming): readonly FieldProblem[] {
  if (at === null || inMs === null) return [];
  return [{ field: 'at', problem: 'cannot be combined with in=; use only one of them' }];
}

/** `30 min`, `4 h`, `2 days` */
export function spanText(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes % 60 !== 0) return `${minutes} min`;
  const hours = minutes / 60;
  if (hours < 48 || hours % 24 !== 0) return `${hours} h`;
  return `${hours / 24} days`;
}
