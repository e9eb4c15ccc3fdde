import type { NamedItem, Service } from '../../directory/directory.ts';
import { EVERYTHING, type Scope, scopeKey, scopeText } from './freezes.ts';

/** What stands for one or more services at once, by a name that can be typed and chosen. */
export interface NamedScope extends NamedItem {
  readonly scope: Scope;
}

/** Everything, what the file gives one tag or one warehouse, and each service by itself. */
export function scopesOf(services: readonly Service[]): readonly NamedScope[] {
  return [
    { ...EVERYTHING, scope: { everything: true } },
    ...tagsOf(services).map((tag) => scoped({ tag: tag.id })),
    ...warehousesOf(services).map((warehouse) => scoped({ warehouse: warehouse.id })),
    ...services.map(({ id, name, aliases }) => ({
      id,
      name,
      aliases,
      scope: serviceScope(id, name),
    })),
  ];
}

function serviceScope(id: string, name: string): Scope {
  return { service: { id, name } };
}

function scoped(scope: Scope): NamedScope {
  return { id: scopeKey(scope), name: scopeText(scope), aliases: [], scope };
}

export function tagsOf(services: readonly Service[]): readonly NamedItem[] {
  return distinct(services.flatMap(({ tags }) => tags ?? []));
}

export function warehousesOf(services: readonly Service[]): readonly NamedItem[] {
  return distinct(services.flatMap(({ warehouse }) => warehouse ?? []));
}

function distinct(words: readonly string[]): readonly NamedItem[] {
  return [...new Set(words)].sort().map((word) => ({ id: word, name: word, aliases: [] }));
}

/** As a command's arguments hold it: one named thing, or the tag or warehouse that was typed. */
export interface ScopeArguments {
  readonly scope?: NamedScope | undefined;
  readonly tag?: NamedItem | undefined;
  readonly warehouse?: NamedItem | undefined;
}

/** Null unless exactly one thing is named. */
export function scopeOf({ scope, tag, warehouse }: ScopeArguments): Scope | null {
  const named: readonly Scope[] = [
    ...(scope ? [scope.scope] : []),
    ...(tag ? [{ tag: tag.id }] : []),
    ...(warehouse ? [{ warehouse: warehouse.id }] : []),
  ];
  return named.length === 1 ? (named[0] ?? null) : null;
}
