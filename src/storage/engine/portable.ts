import { z } from 'zod';
import type { Json, JsonObject } from '../../changes/change.ts';
import type { JsonText } from '../tables/schema.ts';

/** An instant inside stored JSON. */
export const StoredInstant = z.iso.datetime().transform((text) => new Date(text));

/** A JSON object of any content: whatever the parser made of a text is JSON all the way down. */
export const JsonFields = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
);

/** Whatever JSON can hold. */
export const Any = z.custom<Json>((value) => value !== undefined);

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

/** Throws a fault that names the row when what was stored is not what the schema says. */
export function decode<T>(schema: z.ZodType<T>, text: JsonText, row: string): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new Error(`What is stored of ${row} cannot be read`, { cause });
  }
}
