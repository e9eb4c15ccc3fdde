import type { ZodObject } from 'zod';
import type { Word } from '../../base/text.ts';
import { fieldsOf, isPlaced } from '../arguments/arguments.ts';

/** Quotes a word so that `splitWords` reads the same word again. */
export function quoteWord({ text, quoted }: Word): string {
  if (quoted) return `"${text}"`;
  return /\s/.test(text) ? text.replace(/=(.*)$/s, '="$1"') : text;
}

/** Returns the command line with the same values, for a button that enters it. */
export function commandLine(
  command: { readonly name: string; readonly args: ZodObject },
  given: Readonly<Record<string, string>>,
  reason: string,
): string {
  const words = fieldsOf(command.args).flatMap((field) => {
    const text = given[field.name];
    if (!text || field.rest) return [];
    const quoted = isPlaced(field) && !/^[\w.-]+$/.test(text);
    return [quoteWord({ text: isPlaced(field) ? text : `${field.word}=${text}`, quoted })];
  });
  const search = fieldsOf(command.args).find((field) => field.rest);
  const sought = search ? (given[search.name] ?? '') : '';
  if (sought) return [command.name, ...words, sought].join(' ');
  // A reason that contains a quote is not quoted: the inner quote would end it.
  const tail = reason === '' ? [] : [quoteWord({ text: reason, quoted: !reason.includes('"') })];
  return [command.name, ...words, ...tail].join(' ');
}
