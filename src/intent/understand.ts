import type { z } from 'zod';
import { findServices, type Service } from '../directory/directory.ts';
import { callName, lineAgain, written } from './again.ts';
import type { Offer } from './answer.ts';
import { type Field, fieldsOf, isPlaced } from './arguments.ts';
import { type Command, nounOf, verbOf } from './define.ts';
import { nearest } from './nearest.ts';
import { sortWords } from './sorting.ts';
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
  const tail = rest.map(written);
  const offers = nearest(verb, own.map(verbOf)).map((near) => ({
    label: `${noun} ${near}`,
    line: [noun, near, ...tail].join(' '),
  }));
  const verbs = [...own.map(verbOf), 'help'].join(', ');
  return {
    kind: 'misread',
    sentence: `/${noun} has no “${verb}”. It has: ${verbs}.`,
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

  const resolved = resolve({ command, given, reason }, fields, services);
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

type Resolved =
  | { readonly ok: true; readonly args: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly misread: Understood };

interface Asked {
  readonly command: Command;
  readonly given: Given;
  readonly reason: string;
}

function resolve(asked: Asked, fields: readonly Field[], services: readonly Service[]): Resolved {
  const { command, given } = asked;
  const parsed = command.args.safeParse(given);
  if (!parsed.success) return { ok: false, misread: invalid(command, fields, parsed.error) };

  const args: Record<string, unknown> = { ...parsed.data };
  for (const field of fields.filter(({ names }) => names === 'service')) {
    const text = given[field.name];
    if (text === undefined) continue;
    const found = findServices(services, text);
    const [service] = found;
    if (!service || found.length > 1) {
      return { ok: false, misread: unclearService(asked, field.name, found, services) };
    }
    args[field.name] = service;
  }
  return { ok: true, args };
}

function unclearService(
  { command, given, reason }: Asked,
  field: string,
  found: readonly Service[],
  services: readonly Service[],
): Understood {
  const text = given[field] ?? '';
  const close = found.length > 1 ? found : nearServices(text, services);
  const offers = close.map((service) => {
    const name = callName(service, services);
    const shared = findServices(services, service.name).length > 1;
    return {
      label: `${verbOf(command)} ${shared ? service.id : service.name}`,
      line: lineAgain(command, { ...given, [field]: name }, reason),
    };
  });
  const hint = offers.length > 0 ? ' Did you mean:' : ' /service list shows all that I know.';
  const sentence =
    found.length > 1
      ? `${found.length} services are called “${text}”. Which one?`
      : `I know no service “${text}”.${hint}`;
  return { kind: 'misread', sentence, offers };
}

function nearServices(text: string, services: readonly Service[]): readonly Service[] {
  const namesOf = ({ name, aliases }: Service) => [name, ...aliases];
  const near = nearest(text, services.flatMap(namesOf));
  const named = near.flatMap((name) => services.filter((one) => namesOf(one).includes(name)));
  return [...new Set(named)];
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
