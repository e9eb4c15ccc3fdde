/** From what users type to the items that it names: services, alerts, freezes, items of lists. */

import { cached } from '../base/cache.ts';
import { PathId } from '../base/http.ts';
import { nearest, type Words } from '../base/text.ts';
import { type CommandOffer, slashCommand } from '../domain/answer.ts';
import { scopesOf, tagsOf, warehousesOf } from '../domain/freezes.ts';
import { findByName, type NamedItem, nameToType, type Service } from '../domain/targets.ts';
import { alike, commandLine, type Field, fieldsOf, quoteWord, typedText } from './arguments.ts';
import type { ParseProblem, ServerLists, TypedCommand, Vocabulary } from './define.ts';

export type NameKind = NonNullable<Field['names']>;

/** Lists whose readings are kept: each word of a line needs them. */
const LISTS_MAX = 50;

/** Replaces each typed name by the item it names; an unknown or ambiguous name is a problem. */
export function resolveNames(
  asked: TypedCommand,
  fields: readonly Field[],
  parsed: Readonly<Record<string, unknown>>,
  vocabulary: Vocabulary,
) {
  const args: Record<string, unknown> = { ...parsed };
  for (const { name, names } of fields) {
    const text = asked.given[name];
    if (!names || text === undefined) continue;
    const things = thingsOf(names, vocabulary, args);
    const found = findByName(things, text);
    const one = found.length === 1 ? found[0] : unlisted(names, text, found);
    if (!one) {
      const { prefix = '' } = vocabulary;
      const misread = unclear(asked, { name, names, prefix }, found, things);
      return { ok: false, misread } as const;
    }
    if (IN_PATHS.includes(names) && !PathId.safeParse(one.id).success) {
      const sentence = `The ${KINDS[names][0]} “${text}” cannot be used: no request can contain the id “${one.id}” that the server gives it.`;
      return { ok: false, misread: misreadOf(name, sentence, []) } as const;
    }
    args[name] = one;
  }
  return { ok: true, args } as const;
}

/** What the path of a request contains. A server can list an id that no path may have: it is refused before a preview. */
const IN_PATHS: readonly NameKind[] = ['service', 'pipe', 'alert'];

/** Everything that a field may name; a pipe belongs to the service given before it. */
function thingsOf(
  names: NameKind,
  { services, alerts, freezes = [], commands, lists = {} }: Vocabulary,
  args: Readonly<Record<string, unknown>> = {},
): readonly NamedItem[] {
  if (names === 'service') return services;
  if (names === 'scope' || names === 'tag' || names === 'warehouse') return SCOPES[names](services);
  if (names === 'alert') return alerts;
  if (names === 'freeze') return freezes;
  if (names === 'ask') return commands.map(({ name }) => ({ id: name, name, aliases: [] }));
  // Fields are resolved in order, so `service` was replaced by a Service before; while words are read it is a text.
  const typed = args.service as Service | string | undefined;
  const [service] = typeof typed === 'string' ? findByName(services, typed) : [typed];
  const listed = lists.pipe ?? [];
  const pipes = service?.pipes ?? services.flatMap((each) => each.pipes);
  const configured = pipes.map((pipe) => ({ ...pipe, aliases: [] }));
  return [...listed, ...configured.filter(({ id }) => listed.every((item) => item.id !== id))];
}

/** Cached: each word of a line is compared with them. */
const SCOPES = {
  scope: cached<readonly Service[], readonly NamedItem[]>(LISTS_MAX, scopesOf),
  tag: cached<readonly Service[], readonly NamedItem[]>(LISTS_MAX, tagsOf),
  warehouse: cached<readonly Service[], readonly NamedItem[]>(LISTS_MAX, warehousesOf),
};

const NAME_WORDS_MAX = 8;

/** The longest run of words at the start that is a known name; a quoted word is a name of its own. */
export function nameAt(
  names: NameKind,
  words: Words,
  vocabulary: Vocabulary,
  args: Readonly<Record<string, unknown>> = {},
) {
  const things = thingsOf(names, vocabulary, args);
  const [first] = words;
  const end = words.findIndex(({ quoted }) => quoted);
  const most = first?.quoted ? 1 : Math.min(NAME_WORDS_MAX, end < 0 ? words.length : end);
  if (!first) return null;
  const begin = alike(nameText(first.text, first.quoted));
  if (!keysOf(things).some((key) => key.startsWith(begin))) return null;
  for (let taken = most; taken > 0; taken -= 1) {
    const text = nameText(typedText(words.slice(0, taken)), first.quoted);
    if (text !== '' && findByName(things, text).length > 0) return { text, taken, things };
  }
  return null;
}

/** What the names and ids begin with, so that most words are compared only once. */
const keysOf = cached(LISTS_MAX, (things: readonly NamedItem[]) =>
  things.flatMap(({ id, name, aliases }) => [id, name, ...aliases].map(alike)),
);

/** Without marks and punctuation around it; of a link, its last part, which can be an id. */
function nameText(typed: string, isQuoted: boolean): string {
  if (isQuoted) return typed;
  const [, linked] = /^<?https?:\/\/\S*?([\w-]+)\/?(?:\|[^>]*)?>?$/.exec(typed) ?? [];
  return linked ?? typed.replace(/^[#"'(`*~_>]+|[,;:!?.…。，！？)"'`*~_]+$/g, '');
}

/** How many words at the start are similar to a name with as many words: `5xx rtae`; null if none are. */
export function similarAt(names: NameKind, words: Words, vocabulary: Vocabulary) {
  const known = thingsOf(names, vocabulary).flatMap(({ name, aliases }) => [name, ...aliases]);
  for (let taken = Math.min(NAME_WORDS_MAX, words.length); taken > 1; taken -= 1) {
    const text = typedText(words.slice(0, taken));
    const parts = (name: string) => name.split(/[\s-]+/).length;
    const alike = known.filter((name) => parts(name) === parts(text));
    if (nearest(text, alike).length > 0) return taken;
  }
  return null;
}

/** The only known alert anywhere in the words, for example in a pasted notice. */
export function onlyAlert(words: Words, vocabulary: Vocabulary) {
  const found = words.flatMap((_, at) => nameAt('alert', words.slice(at), vocabulary) ?? []);
  return found.length === 1 ? found[0] : undefined;
}

/** A name as a line has it. */
export function quotedName(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : quoteWord({ text: name, quoted: true });
}

/** An id that is not in the vocabulary is passed on: the server accepts or rejects it. */
function unlisted(names: NameKind, text: string, found: readonly NamedItem[]): NamedItem | null {
  const isId = /^(?=.*\d)[A-Za-z0-9_-]{12,64}$/.test(text);
  return (names === 'pipe' || names === 'alert') && found.length === 0 && isId
    ? { id: text, name: text, aliases: [] }
    : null;
}

/** What users call the items of each kind, and where they find them. */
const KINDS: Readonly<Record<NameKind, readonly [kind: string, list: string]>> = {
  service: ['service', 'service list lists all known services.'],
  pipe: ['pipe', 'Pipe names are set in signalbox.yaml; an id also works.'],
  alert: ['alert', 'alert list lists all alerts.'],
  scope: ['service', 'service list lists all known services.'],
  tag: ['tag', 'service list shows the tags of each service.'],
  warehouse: ['warehouse', 'service list shows the warehouse of each service.'],
  freeze: ['freeze', 'change freezes lists all freezes.'],
  ask: ['command', 'signalbox help lists all commands.'],
};

function unclear(
  named: TypedCommand,
  { name, names, prefix }: { name: string; names: NameKind; prefix: string },
  found: readonly NamedItem[],
  things: readonly NamedItem[],
): ParseProblem {
  const text = named.given[name] ?? '';
  const close = found.length > 1 ? found : near(text, things);
  const offers: CommandOffer[] = close.slice(0, OFFERS_MAX).map((thing) => {
    const shared = findByName(things, thing.name).length > 1;
    const line = lineWith(named, name, nameToType(thing, things));
    return { label: shared ? thing.id : thing.name, line };
  });
  const [kind, list] = KINDS[names];
  const shownList = names === 'pipe' ? list : slashCommand(prefix, list);
  const [, line = ''] = /^(.+) (?:lists|shows) /.exec(list) ?? [];
  if (offers.length === 0 && line !== '') offers.push({ label: line, line });
  const hint = close.length > 0 ? 'Did you mean:' : shownList;
  const problem =
    found.length > 1
      ? `${found.length} ${kind}s are called “${text}”. Which one do you mean?`
      : `There's no ${kind} called “${text}”. ${hint}`;
  return { ...misreadOf(name, problem, offers), named };
}

function misreadOf(name: string, sentence: string, offers: readonly CommandOffer[]): ParseProblem {
  return { kind: 'misread', sentence, problems: { [name]: sentence }, offers };
}

const OFFERS_MAX = 5;

function lineWith({ command, given, reason }: TypedCommand, name: string, value: string): string {
  return commandLine(command, { ...given, [name]: value }, reason);
}

function near(text: string, things: readonly NamedItem[]): readonly NamedItem[] {
  const namesOf = ({ name, aliases }: NamedItem) => [name, ...aliases];
  const close = nearest(text, things.flatMap(namesOf));
  return [...new Set(close.flatMap((name) => things.filter((one) => namesOf(one).includes(name))))];
}

/**
 * Replaces the names of items that the server lists by their ids. Any other text is passed on as an
 * id: the list can be incomplete or unknown, and the server accepts or rejects it.
 */
export function resolveListed(asked: TypedCommand, lists: ServerLists = {}) {
  const given: Record<string, string> = { ...asked.given };
  for (const { name, lists: kind, word = name } of fieldsOf(asked.command.args)) {
    const text = given[name];
    if (!kind || !text) continue;
    const items = findByName(lists[kind] ?? [], text);
    const found = [...new Map(items.map((item) => [item.id, item])).values()];
    if (found.length > 1) {
      const sentence = `${found.length} of them are called “${text}” (${word}). Which one do you mean?`;
      const offers = found.slice(0, OFFERS_MAX).map(({ id, name: own, about }) => ({
        label: [own, about, id].filter(Boolean).join(' · '),
        line: lineWith(asked, name, id),
      }));
      return { ok: false, misread: misreadOf(name, sentence, offers) } as const;
    }
    given[name] = found[0]?.id ?? text;
  }
  return { ok: true, given } as const;
}
