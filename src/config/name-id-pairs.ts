import { z } from 'zod';

type Pair = readonly [string, string];

/** Parses `key=value,key=value` with percent-encoded values. Problems never quote a value. */
export function pairs(key: RegExp) {
  return z
    .string()
    .default('')
    .transform((text, context) =>
      text
        .split(',')
        .filter((part) => part.trim() !== '')
        .map((part): Pair => {
          const [name = '', ...rest] = part.split('=');
          const value = decoded(rest.join('=').trim());
          if (key.test(name.trim()) && value !== null && rest.length > 0) {
            return [name.trim(), value];
          }
          context.addIssue({ code: 'custom', message: 'must be key=value,key=value' });
          return ['', ''];
        }),
    );
}

function decoded(text: string): string | null {
  try {
    const value = decodeURIComponent(text);
    return /\p{Cc}/u.test(value) ? null : value;
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}
