import { z } from 'zod';
import type { Json, JsonObject } from '../../base/text.ts';
import type { JsonText } from './schema.ts';

/** A time inside stored JSON. */
export const StoredInstant = z.iso.datetime().transform((text) => new Date(text));

/** A JSON object with any content; parsed text contains only JSON values. */
export const JsonFields = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** Keys of stored JSON that version 1.0 names otherwise. */
const KEYS_OF_1_0 = {
  announced: 'told',
  reportedImpact: 'toldImpact',
  settled: 'final',
  lastSettled: 'lastFinal',
} as const;
type RenamedKey = keyof typeof KEYS_OF_1_0;

/** Also reads rows in which version 1.0 stored `key` under its other name. */
export function withOldKey<T extends z.ZodType>(key: RenamedKey, schema: T) {
  return z.preprocess((stored) => {
    const row = JsonFields.parse(stored);
    return { [key]: row[KEYS_OF_1_0[key]], ...row };
  }, schema);
}

/** Stores a value under both names of `key`, because replicas of version 1.0 may still run. */
export function alsoUnderOldKey<T extends object>(key: RenamedKey & keyof T, value: T): T {
  return { ...value, [KEYS_OF_1_0[key]]: value[key] };
}

/** Any JSON value. */
export const AnyJson = z.custom<Json>((value) => value !== undefined);

export function toText(date: Date): string;
export function toText(date: Date | null): string | null;
export function toText(date: Date | null): string | null {
  return date?.toISOString() ?? null;
}

export function toDate(text: string): Date;
export function toDate(text: string | null): Date | null;
export function toDate(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

/** A stored row is damaged, or in a form that this release does not know. */
export class UnreadableRowError extends Error {
  override readonly name = 'UnreadableRowError';
}

/** Parses stored JSON; throws `UnreadableRowError` with the name of the row if it does not match. */
export function decode<T>(schema: z.ZodType<T>, text: JsonText, row: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new UnreadableRowError(`The stored ${row} cannot be read`, { cause });
  }
}
