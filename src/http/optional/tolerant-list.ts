import { z } from 'zod';

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
