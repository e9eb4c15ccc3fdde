import { z } from 'zod';
import type { Json, JsonObject } from '../../changes/change.ts';
import type { JsonText } from '../tables/schema.ts';

/** A time inside stored JSON. */
export const StoredInstant = z.iso.datetime().transform((text) => new Date(text));

/** A JSON object with any content; parsed text contains only JSON values. */
export const JsonFields = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

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

/** Parses stored JSON; throws an error with the name of the row if it does not match the schema. */
export function decode<T>(schema: z.ZodType<T>, text: JsonText, row: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`The stored ${row} cannot be read`, { cause });
  }
}
