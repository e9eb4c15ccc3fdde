// Replies of live servers: an array that is read while it arrives, and fields that may be missing or
// of another type.

import { z } from 'zod';

/** An array in a JSON body that is read while the body arrives. */
export interface StreamedArray {
  /** The keys of the array in the body, for example `['result', 'costs']`. */
  readonly path: readonly [string, string];
  /** Called once for each attempt, because a repeated read delivers all rows again. */
  readonly open: () => TakeRows;
}

/** Receives elements of an array in order, batch by batch. False: an element is not acceptable. */
type TakeRows = (rows: readonly unknown[]) => boolean;

interface RowStream {
  /** Returns false if a row was not acceptable. */
  push(chunk: Buffer): boolean;
  /** The bytes that are not parsed yet. */
  pendingBytes(): number;
  /** The body without the rows that were taken: the array has only the last ones. */
  rest(): Buffer;
}

// One batch blocks the event loop for about 2 ms.
const BATCH_BYTES = 256 * 1024;

/**
 * Parses the elements of one array in batches, without a tokenizer. It cuts the bytes where an object
 * may begin, and JSON.parse decides whether the bytes before are complete elements. Bytes that end inside
 * a string or a nested value are not, so that a cut is never wrong. After wrong guesses it waits
 * for twice as many bytes. A body without a found boundary stays whole.
 * Source: docs/costs.md#fetching.
 */
export function createRowStream(array: StreamedArray | null, batchBytes = BATCH_BYTES): RowStream {
  const take = array?.open() ?? (() => true);
  // One buffer for all chunks: a new one for each batch would be garbage of the size of the body.
  let buffer = Buffer.alloc(array ? 2 * batchBytes : 0);
  let [size, triedAt] = [0, batchBytes];
  let head: Buffer | null = null;
  let marker: Buffer | null = null;

  function append(chunk: Buffer): void {
    if (size + chunk.length > buffer.length) {
      buffer = Buffer.concat([buffer], Math.max(2 * buffer.length, size + chunk.length));
    }
    size += chunk.copy(buffer, size);
  }

  function drop(bytes: number): void {
    buffer.copyWithin(0, bytes, size);
    size -= bytes;
  }

  /** The complete elements before the last boundary, which are no longer pending; or null. */
  function takeElements(pending: Buffer, start: Buffer): readonly unknown[] | null {
    for (const { end, next } of possibleCuts(pending, start).take(MOST_GUESSES)) {
      const elements = parsed(`[${pending.subarray(0, end)}]`);
      if (!Array.isArray(elements)) continue;
      drop(next);
      return elements;
    }
    return null;
  }

  function findHead({ path }: StreamedArray): void {
    const end = startOfArray(buffer.subarray(0, size), path);
    if (end === null) return;
    head = Buffer.from(buffer.subarray(0, end));
    drop(end);
  }

  return {
    push(chunk) {
      append(chunk);
      if (!array || size < triedAt) return true;
      if (!head) findHead(array);
      const pending = buffer.subarray(0, size);
      marker ??= head && startOfObject(pending);
      const rows = marker && takeElements(pending, marker);
      triedAt = rows ? batchBytes : size * 2;
      return rows === null || take(rows);
    },
    pendingBytes: () => size,
    rest: () => Buffer.concat([head ?? Buffer.alloc(0), buffer.subarray(0, size)]),
  };
}

/** The offset after the `[` of the array at this path; null if it is not there. */
function startOfArray(bytes: Buffer, [outer, inner]: StreamedArray['path']): number | null {
  const at = bytes.indexOf(`"${inner}"`);
  const found = at < 0 ? null : /^"[^"]*"\s*:\s*\[/.exec(bytes.toString('latin1', at, at + 1_000));
  if (!found) return null;
  const end = at + found[0].length;
  // The same text may be in another place, so the path is verified.
  const closed = parsed(`${new TextDecoder().decode(bytes.subarray(0, end))}]}}`);
  const place = Object(Object(closed)[outer])[inner];
  return Array.isArray(place) && place.length === 0 ? end : null;
}

/** The bytes from the `{` of the first element to the end of its first key. */
function startOfObject(elements: Buffer): Buffer | null {
  const start = /^\s*(\{\s*"(?:[^"\\]|\\.)*")/.exec(elements.toString('latin1', 0, 1_000))?.[1];
  return start === undefined ? null : Buffer.from(start, 'latin1');
}

const MOST_GUESSES = 8;
const [COMMA, BRACE_CLOSE] = [0x2c, 0x7d];
const isSpace = (byte: number | undefined) =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** The places at which an object follows another, from the last one. It may be inside an element. */
function* possibleCuts(bytes: Buffer, marker: Buffer) {
  let next = bytes.lastIndexOf(marker);
  while (next > 0) {
    const comma = lastVisible(bytes, next - 1);
    const brace = lastVisible(bytes, comma - 1);
    const isPair = bytes[comma] === COMMA && bytes[brace] === BRACE_CLOSE;
    if (isPair) yield { end: brace + 1, next };
    next = bytes.lastIndexOf(marker, next - 1);
  }
}

function lastVisible(bytes: Buffer, from: number): number {
  let at = from;
  while (isSpace(bytes[at])) at -= 1;
  return at;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

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
