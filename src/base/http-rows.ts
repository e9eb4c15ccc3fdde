// Replies of live servers: fields that may be missing or of another type.

import { z } from 'zod';

// Servers add, omit and clear reply fields at any time. Null means unknown: the field is absent,
// null or of an unexpected type. It never becomes 0, false or "".
const DIGITS = /^\s*-?\d+(\.\d+)?([eE][+-]?\d+)?\s*$/;
const NUMERIC = z.string().regex(DIGITS).transform(Number);

/** Null instead of a value that is missing or does not match the schema. */
export function tolerant<S extends z.ZodType>(schema: S) {
  return schema
    .nullish()
    .transform((value) => value ?? null)
    .catch(null);
}

/** Some servers send numbers as strings. */
export const SentNumber = z.union([z.number(), NUMERIC]);
export const MaybeNumber = tolerant(SentNumber);
/** Also used for enumerations: an unknown state or type is shown as the server sent it. */
export const MaybeText = tolerant(z.string());
export const MaybeSwitch = tolerant(z.boolean());
export const MaybeTexts = tolerant(tolerantList(z.string()));
export const MaybeRecord = tolerant(z.record(z.string(), z.unknown()));
export const MaybeRecords = tolerant(tolerantList(z.record(z.string(), z.unknown())));

/**
 * A list from a live server. Entries that cannot be read are left out; a list in which no entry can
 * be read is an error, because it would look like an empty one.
 */
export function tolerantList<S extends z.ZodType>(entry: S) {
  return z.array(z.unknown()).transform((values, { issues }): z.output<S>[] => {
    const entries = values.flatMap((value) => {
      const read = entry.safeParse(value);
      return read.success ? [read.data] : [];
    });
    if (entries.length > 0 || values.length === 0) return entries;
    issues.push({ code: 'custom', input: values, message: 'has no readable entry' });
    return z.NEVER;
  });
}

/** The id of an entry: without one it cannot be named or read. */
export const EntryId = z.string().min(1).max(255);

// The same without a schema, for usage reports and lists of alerts, in which schemas are too slow.
export function numberOf(value: unknown): number | null {
  if (typeof value === 'string') return DIGITS.test(value) ? Number(value) : null;
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Like numberOf, but a value that is not a number becomes NaN, so that reports can mention it. */
export function figureOrNaN(value: unknown): number | null {
  return value === undefined || value === null ? null : (numberOf(value) ?? Number.NaN);
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function switchOf(value: unknown): boolean | null {
  return typeof value === 'boolean' ? value : null;
}

/** Rejects a reply with another id: it would overwrite what is known about this one. */
export function matchingId<S extends z.ZodType<Record<string, unknown>>>(
  schema: S,
  field: string,
  id: string,
) {
  const isMatch = (reply: Record<string, unknown>) => {
    const actual = reply[field];
    return typeof actual !== 'string' || actual.toLowerCase() === id.toLowerCase();
  };
  return schema.refine(isMatch, { error: OTHER_OBJECT });
}

const OTHER_OBJECT = 'is about another object';

export function isOtherObject({ issues }: z.ZodError): boolean {
  return issues.some(({ message }) => message === OTHER_OBJECT);
}
