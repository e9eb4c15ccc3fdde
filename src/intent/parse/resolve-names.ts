import { nearest } from '../../base/text.ts';
import { slashCommand } from '../../domain/answer.ts';
import { scopesOf, tagsOf, warehousesOf } from '../../domain/freezes.ts';
import { findByName, type NamedItem, nameToType, type Service } from '../../domain/targets.ts';
import type { Field } from '../arguments/arguments.ts';
import type { ParseProblem, TypedCommand, Vocabulary } from './parse-result.ts';
import { commandLine } from './suggest-line.ts';

type NameResolution =
  | { readonly ok: true; readonly args: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly misread: ParseProblem };

type Names = NonNullable<Field['names']>;

/** Replaces each typed name by the item it names; an unknown or ambiguous name is a problem. */
export function resolveNames(
  asked: TypedCommand,
  fields: readonly Field[],
  parsed: Readonly<Record<string, unknown>>,
  vocabulary: Vocabulary,
): NameResolution {
  const args: Record<string, unknown> = { ...parsed };
  for (const { name, names } of fields) {
    const text = asked.given[name];
    if (!names || text === undefined) continue;
    const things = thingsOf(names, vocabulary, args);
    const found = findByName(things, text);
    const one = found.length === 1 ? found[0] : unlisted(names, text, found);
    if (!one) {
      const field = { name, names, prefix: vocabulary.prefix ?? '' };
      return { ok: false, misread: unclear(asked, field, found, things) };
    }
    args[name] = one;
  }
  return { ok: true, args };
}

/** Everything that a field may name; a pipe belongs to the service given before it. */
export function thingsOf(
  names: Names,
  { services, alerts, freezes = [], commands, lists = {} }: Vocabulary,
  args: Readonly<Record<string, unknown>> = {},
): readonly NamedItem[] {
  if (names === 'service') return services;
  if (names === 'scope') return scopesOf(services);
  if (names === 'tag') return tagsOf(services);
  if (names === 'warehouse') return warehousesOf(services);
  if (names === 'alert') return alerts;
  if (names === 'freeze') return freezes;
  if (names === 'ask')
    return commands.map(({ name, aliases = [] }) => ({ id: name, name, aliases }));
  // Fields are resolved in order, so `service` was replaced by a Service before.
  const service = args.service as Service | undefined;
  const listed = lists.pipe ?? [];
  const configured = (service?.pipes ?? []).map((pipe) => ({ ...pipe, aliases: [] }));
  return [...listed, ...configured.filter(({ id }) => listed.every((item) => item.id !== id))];
}

/** An id that is not in the vocabulary is passed on: the server accepts or rejects it. */
function unlisted(names: Names, text: string, found: readonly NamedItem[]): NamedItem | null {
  const isId = /^(?=.*\d)[A-Za-z0-9_-]{12,64}$/.test(text);
  return (names === 'pipe' || names === 'alert') && found.length === 0 && isId
    ? { id: text, name: text, aliases: [] }
    : null;
}

const LISTS: Readonly<Record<Names, string>> = {
  service: 'service list lists all known services.',
  pipe: 'Pipe names are set in signalbox.yaml; an id also works.',
  alert: 'alert list lists all alerts.',
  scope: 'service list lists all known services.',
  tag: 'service list shows the tags of each service.',
  warehouse: 'service list shows the warehouse of each service.',
  freeze: 'change freezes lists all freezes.',
  ask: 'signalbox help lists all commands.',
};

const KINDS: Readonly<Record<Names, string>> = {
  service: 'service',
  pipe: 'pipe',
  alert: 'alert',
  scope: 'service',
  tag: 'tag',
  warehouse: 'warehouse',
  freeze: 'freeze',
  ask: 'command',
};

interface AmbiguousField {
  readonly name: string;
  readonly names: Names;
  readonly prefix: string;
}

function unclear(
  { command, given, reason }: TypedCommand,
  { name, names, prefix }: AmbiguousField,
  found: readonly NamedItem[],
  things: readonly NamedItem[],
): ParseProblem {
  const text = given[name] ?? '';
  const close = found.length > 1 ? found : near(text, things);
  const offers = close.slice(0, 5).map((thing) => {
    const shared = findByName(things, thing.name).length > 1;
    const again = { ...given, [name]: nameToType(thing, things) };
    return {
      label: shared ? thing.id : thing.name,
      line: commandLine(command, again, reason),
    };
  });
  const list = names === 'pipe' ? LISTS.pipe : slashCommand(prefix, LISTS[names]);
  const hint = offers.length > 0 ? 'Did you mean:' : list;
  const problem =
    found.length > 1
      ? `${found.length} ${KINDS[names]}s are called “${text}”. Which one do you mean?`
      : `There's no ${KINDS[names]} called “${text}”. ${hint}`;
  const named = { command, given, reason };
  return { kind: 'misread', sentence: problem, problems: { [name]: problem }, offers, named };
}

function near(text: string, things: readonly NamedItem[]): readonly NamedItem[] {
  const namesOf = ({ name, aliases }: NamedItem) => [name, ...aliases];
  const close = nearest(text, things.flatMap(namesOf));
  return [...new Set(close.flatMap((name) => things.filter((one) => namesOf(one).includes(name))))];
}
