import type { ZodObject } from 'zod';
import { findByName, type NamedItem } from '../../directory/directory.ts';
import { fieldsOf, isPlaced } from '../arguments/arguments.ts';
import { splitWords, type Word } from './split-words.ts';

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

/** Returns the name of an item, or its id if the name is ambiguous or cannot be typed. */
export function nameToType(thing: NamedItem, things: readonly NamedItem[]): string {
  const [word, ...more] = splitWords(`"${thing.name}"`);
  const found = word && more.length === 0 ? findByName(things, word.text) : [];
  return found.length === 1 && found[0] === thing ? thing.name : thing.id;
}

const MENU_NAME_MAX = 20;
const SHORT_ID = 8;

/** Like `nameToType`, but short: Slack limits the lines of a menu, which name an id as well. */
export function menuReference(thing: NamedItem, things: readonly NamedItem[]): string {
  const name = nameToType(thing, things);
  return name.length <= MENU_NAME_MAX ? name : thing.id.slice(0, SHORT_ID);
}
