import type { z } from 'zod';
import { findServices, type Service } from '../directory/directory.ts';
import type { Offer } from './answer.ts';
import { type Field, fieldsOf, isPlaced } from './arguments.ts';
import { type Command, nounOf, verbOf } from './define.ts';
import { nearest } from './nearest.ts';
import { readLine, type Word } from './words.ts';

/** What was typed, as text by field name: what a modal shows again, and what a digest is not. */
export type Given = Readonly<Record<string, string>>;

export type Understood =
  | { readonly kind: 'help'; readonly noun: string }
  | {
      readonly kind: 'intent';
      readonly command: Command;
      readonly args: Readonly<Record<string, unknown>>;
      readonly given: Given;
      readonly reason: string | null;
    }
  | {
      readonly kind: 'incomplete';
      readonly command: Command;
      readonly given: Given;
      readonly missing: readonly Field[];
    }
  | { readonly kind: 'misread'; readonly sentence: string; readonly offers: readonly Offer[] };

export interface Vocabulary {
  readonly commands: readonly Command[];
  readonly services: readonly Service[];
}

const REASON_MAX = 500;

/** From `/service stop analytics-prod nightly maintenance` to what is meant; never by guess. */
export function understand(noun: string, typed: string, vocabulary: Vocabulary): Understood {
  const words = readLine(typed).words;
  const [verb, ...rest] = words;
  const own = vocabulary.commands.filter((command) => nounOf(command) === noun);
  if (!verb || verb.text.toLowerCase() === 'help') return { kind: 'help', noun };

  const command = own.find((candidate) => verbOf(candidate) === verb.text.toLowerCase());
  if (!command) return unknownVerb(noun, verb.text, rest, own);
  return readArguments(command, rest, vocabulary.services);
}

function unknownVerb(
  noun: string,
  verb: string,
  rest: readonly Word[],
  own: readonly Command[],
): Understood {
  const tail = rest.map(({ text, quoted }) => (quoted ? `"${text}"` : text));
  const offers = nearest(verb, own.map(verbOf)).map((near) => ({
    label: `${noun} ${near}`,
    line: [noun, near, ...tail].join(' '),
  }));
  const verbs = own.map(verbOf).join(', ');
  return {
    kind: 'misread',
    sentence: `/${noun} has no “${verb}”. It has: ${verbs}, help.`,
    offers,
  };
}

function readArguments(
  command: Command,
  words: readonly Word[],
  services: readonly Service[],
): Understood {
  const fields = fieldsOf(command.args);
  const read = sortWords(fields, words, services);
  if ('unknownKey' in read) return unknownKey(command, fields, read.unknownKey);

  const { given, rest } = read;
  if (command.kind === 'query' && rest.length > 0) {
    return misread(`/${command.name} does not take “${rest.join(' ')}”.`, command);
  }
  return complete(command, { ...given }, rest.join(' '), services);
}

/** The same reading for words and for a modal's fields: text in, an intent or a “no” out. */
export function complete(
  command: Command,
  given: Given,
  reason: string,
  services: readonly Service[],
): Understood {
  const fields = fieldsOf(command.args);
  const missing = fields.filter(({ name, optional }) => !optional && !given[name]);
  if (missing.length > 0) {
    return { kind: 'incomplete', command, given: { ...given, reason }, missing };
  }

  const resolved = resolve(command, fields, given, services);
  if (!resolved.ok) return resolved.misread;
  if (reason.length > REASON_MAX) {
    return misread(
      `A reason may be ${REASON_MAX} characters long; yours has ${reason.length}.`,
      null,
    );
  }
  return {
    kind: 'intent',
    command,
    args: resolved.args,
    given,
    reason: command.kind === 'change' && reason.trim() !== '' ? reason.trim() : null,
  };
}

/** An intent as it could have been typed: what the reader checks against what they meant. */
export function lineOf({ command, args, given, reason }: Understood & { kind: 'intent' }): string {
  const words = fieldsOf(command.args).flatMap((field) => {
    const text = given[field.name];
    if (text === undefined) return [];
    const value = field.names === 'service' ? nameOf(args[field.name], text) : text;
    return [isPlaced(field) ? value : `${field.word}=${value}`];
  });
  return [`/${command.name}`, ...words, ...(reason ? [reason] : [])].join(' ');
}

function nameOf(service: unknown, otherwise: string): string {
  const isNamed = typeof service === 'object' && service !== null && 'name' in service;
  return isNamed ? String(service.name) : otherwise;
}

type Sorted =
  | { readonly given: Given; readonly rest: readonly string[] }
  | { readonly unknownKey: string };

function sortWords(
  fields: readonly Field[],
  words: readonly Word[],
  services: readonly Service[],
): Sorted {
  const given: Record<string, string> = {};
  let left = [...words];
  for (const field of fields.filter(isPlaced)) {
    const taken = takePlaced(field, left, services);
    if (taken.length === 0) break;
    given[field.name] = taken.map(({ text }) => text).join(' ');
    left = left.slice(taken.length);
  }

  // A key is only looked for before the reason begins: “load=high today” is a reason.
  const keyed = fields.filter((field) => !isPlaced(field));
  while (left[0] && !left[0].quoted && keyed.length > 0) {
    const [, key, value] = /^([\w-]+)=(.*)$/s.exec(left[0].text) ?? [];
    if (key === undefined || value === undefined) break;
    const field = keyed.find(({ word, name }) => [word, name].includes(key.toLowerCase()));
    if (!field) return { unknownKey: key };
    given[field.name] = value;
    left = left.slice(1);
  }
  return { given, rest: left.map(({ text }) => text) };
}

// Names may hold spaces: the longest run of words that is a known name is taken whole.
function takePlaced(
  field: Field,
  words: readonly Word[],
  services: readonly Service[],
): readonly Word[] {
  if (field.names === 'service') {
    for (let count = Math.min(8, words.length); count > 1; count -= 1) {
      const run = words.slice(0, count);
      if (findServices(services, run.map(({ text }) => text).join(' ')).length > 0) return run;
    }
  }
  return words.slice(0, 1);
}

type Resolved =
  | { readonly ok: true; readonly args: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly misread: Understood };

function resolve(
  command: Command,
  fields: readonly Field[],
  given: Given,
  services: readonly Service[],
): Resolved {
  const parsed = command.args.safeParse(given);
  if (!parsed.success) return { ok: false, misread: invalid(command, fields, parsed.error) };

  const args: Record<string, unknown> = { ...parsed.data };
  for (const field of fields.filter(({ names }) => names === 'service')) {
    const text = given[field.name];
    if (text === undefined) continue;
    const found = findServices(services, text);
    const [service] = found;
    if (!service || found.length > 1) {
      return { ok: false, misread: unclearService(command, text, found, services) };
    }
    args[field.name] = service;
  }
  return { ok: true, args };
}

function unclearService(
  command: Command,
  text: string,
  found: readonly Service[],
  services: readonly Service[],
): Understood {
  const known = services.flatMap(({ name, aliases }) => [name, ...aliases]);
  const names = found.length > 1 ? found.map(({ id }) => id) : nearest(text, known);
  const offers = names.map((name) => ({
    label: `${verbOf(command)} ${name}`,
    line: `${command.name} ${name.includes(' ') ? `"${name}"` : name}`,
  }));
  const hint = offers.length > 0 ? ' Did you mean:' : ' /service list shows all that I know.';
  const sentence =
    found.length > 1
      ? `${found.length} services are called “${text}”. Which one?`
      : `I know no service “${text}”.${hint}`;
  return { kind: 'misread', sentence, offers };
}

function invalid(command: Command, fields: readonly Field[], error: z.ZodError): Understood {
  const sentences = error.issues.map(({ path, message }) => {
    const field = fields.find(({ name }) => name === path[0]);
    return `${field?.word ?? field?.label ?? String(path[0])}: ${message}`;
  });
  return misread(sentences.join('\n'), command);
}

function unknownKey(command: Command, fields: readonly Field[], key: string): Understood {
  const words = fields.flatMap(({ word }) => word ?? []);
  const near = nearest(key, words);
  const known =
    near.length > 0 ? `Did you mean ${near.join(' or ')}?` : `It takes: ${words.join(', ')}.`;
  return misread(`/${command.name} has no “${key}=”. ${known}`, command);
}

function misread(sentence: string, command: Command | null): Understood {
  const example = command?.examples[0];
  return {
    kind: 'misread',
    sentence: example ? `${sentence}\nFor example: /${example}` : sentence,
    offers: [],
  };
}
