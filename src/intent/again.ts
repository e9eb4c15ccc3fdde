import { findServices, type Service } from '../directory/directory.ts';
import { fieldsOf, isPlaced } from './arguments.ts';
import type { Command } from './define.ts';
import { readLine, type Word } from './words.ts';

/** A word as it must be typed to be read as the same word. */
export function written({ text, quoted }: Word): string {
  if (quoted) return `"${text}"`;
  return /\s/.test(text) ? text.replace(/=(.*)$/s, '="$1"') : text;
}

/** The line that asks for the same, for whoever presses the button that types it. */
export function lineAgain(
  command: Command,
  given: Readonly<Record<string, string>>,
  reason: string,
): string {
  const words = fieldsOf(command.args).flatMap((field) => {
    const text = given[field.name];
    if (!text) return [];
    const quoted = isPlaced(field) && !/^[\w.-]+$/.test(text);
    return [written({ text: isPlaced(field) ? text : `${field.word}=${text}`, quoted })];
  });
  // A quote within the reason would end it too early; without quotes around it, it does not.
  const tail = reason === '' ? [] : [written({ text: reason, quoted: !reason.includes('"') })];
  return [command.name, ...words, ...tail].join(' ');
}

/** What to type for exactly this service: its name, unless that is shared or cannot be typed. */
export function callName(service: Service, services: readonly Service[]): string {
  const [word, ...more] = readLine(`"${service.name}"`).words;
  const found = word && more.length === 0 ? findServices(services, word.text) : [];
  return found.length === 1 && found[0] === service ? service.name : service.id;
}
