import { z } from 'zod';

// A server adds, drops and blanks fields of its replies at any time. Null stands for all that is not
// known: absent, null, or of a kind that cannot be shown. It never becomes 0, false or "".

const DIGITS = /^\s*-?\d+(\.\d+)?([eE][+-]?\d+)?\s*$/;
const NUMERIC = z.string().regex(DIGITS).transform(Number);

function tolerant<S extends z.ZodType>(schema: S) {
  return schema
    .nullish()
    .transform((value) => value ?? null)
    .catch(null);
}

/** Some servers wrap their numbers in strings. */
export const MaybeNumber = tolerant(z.union([z.number(), NUMERIC]));
/** Enumerations too: a state or type that we have never heard of is shown as it is. */
export const MaybeText = tolerant(z.string());
export const MaybeSwitch = tolerant(z.boolean());
export const MaybeTexts = tolerant(z.array(z.string()));
export const MaybeRecord = tolerant(z.record(z.string(), z.unknown()));
export const MaybeRecords = tolerant(z.array(z.record(z.string(), z.unknown())));

// The same without a schema, for replies of so many values that a schema takes too long.

export function numberOf(value: unknown): number | null {
  if (typeof value === 'string') return DIGITS.test(value) ? Number(value) : null;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** As above, but what is told and cannot be read is NaN: that a figure was lost is worth a word. */
export function figureOf(value: unknown): number | null {
  return value === undefined || value === null ? null : (numberOf(value) ?? Number.NaN);
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function switchOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** Refuses a reply that says it is about another thing: carried on, it would overwrite this one. */
export function about<S extends z.ZodType<Record<string, unknown>>>(
  schema: S,
  field: string,
  id: string,
) {
  return schema.refine((reply) => {
    const told = reply[field];
    return typeof told !== 'string' || told.toLowerCase() === id.toLowerCase();
  });
}
