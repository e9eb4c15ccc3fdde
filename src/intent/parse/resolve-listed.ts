import { findByName } from '../../domain/targets.ts';
import { fieldsOf, type TypedValues } from '../arguments/arguments.ts';
import type { ListedItem, ServerLists } from '../arguments/listed-items.ts';
import type { ParseProblem, TypedCommand } from './parse-result.ts';
import { commandLine } from './suggest-line.ts';

type Resolution =
  | { readonly ok: true; readonly given: TypedValues }
  | { readonly ok: false; readonly misread: ParseProblem };

/**
 * Replaces the names of items that the server lists by their ids. Any other text is passed on as an
 * id: the list can be incomplete or unknown, and the server accepts or rejects it.
 */
export function resolveListed(asked: TypedCommand, lists: ServerLists = {}): Resolution {
  const given: Record<string, string> = { ...asked.given };
  for (const { name, lists: kind, word } of fieldsOf(asked.command.args)) {
    const text = asked.given[name];
    if (!kind || !text) continue;
    const found = distinct(findByName(lists[kind] ?? [], text));
    if (found.length > 1) return { ok: false, misread: ambiguous(asked, { name, word }, found) };
    given[name] = found[0]?.id ?? text;
  }
  return { ok: true, given };
}

function distinct(items: readonly ListedItem[]): readonly ListedItem[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}

function ambiguous(
  { command, given, reason }: TypedCommand,
  field: { readonly name: string; readonly word: string | undefined },
  found: readonly ListedItem[],
): ParseProblem {
  const what = field.word ?? field.name;
  const problem = `${found.length} of them are called “${given[field.name]}” (${what}). Which one do you mean?`;
  const offers = found.slice(0, 5).map(({ id, name, about }) => ({
    label: [name, about, id].filter(Boolean).join(' · '),
    line: commandLine(command, { ...given, [field.name]: id }, reason),
  }));
  return { kind: 'misread', sentence: problem, problems: { [field.name]: problem }, offers };
}
