import { z } from 'zod';
import { quoted, withHint } from './problem.ts';

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };
const LONGEST_MS = 365 * 86_400_000;

const AS_DURATION = withHint('must be a duration', 'for example 30m, 4h or 2d, at most 365d');

/** `30m`, `4h`, `2d` → milliseconds, from 1 minute to 365 days. */
export const Duration = z
  .string(AS_DURATION)
  .regex(/^\d{1,6}[mhd]$/, AS_DURATION)
  .transform((text) => Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] ?? Number.NaN))
  .refine((ms) => ms > 0 && ms <= LONGEST_MS, AS_DURATION);

const AS_INSTANT = withHint(
  'must be a date and time with its zone',
  'for example 2026-12-24T00:00Z or 2026-12-24T00:00+01:00',
);

export const InstantTextSchema = z
  .union([z.iso.datetime({ offset: true }), z.iso.datetime({ offset: true, precision: -1 })], {
    error: ({ input }) => (input === undefined ? 'is missing' : AS_INSTANT),
  })
  .transform((text) => new Date(text));

/** A UTC day of the calendar, as `2026-01-31`. */
export const DayTextSchema = z.string().refine(isExistingDay, {
  abort: true,
  error: ({ input }) =>
    withHint(`is not a day: ${quoted(String(input))}`, 'a UTC day, for example 2026-01-01'),
});

function isExistingDay(text: string): boolean {
  const at = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) return false;
  return text.startsWith('2') && at.toISOString() === `${text}T00:00:00.000Z`;
}
