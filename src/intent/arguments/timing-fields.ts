import type { z } from 'zod';
import { ClockTimeText, REVERT_SPAN, spanSchema, type TimingSupport } from '../../domain/timing.ts';
import { textField } from './arguments.ts';

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
