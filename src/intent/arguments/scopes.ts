import type { NamedItem, Service } from '../../directory/directory.ts';
import { EVERYTHING, type Scope, scopeKey, scopeText } from './freezes.ts';

/** One or more services, by a name that can be typed and selected. */
export interface NamedScope extends NamedItem {
  readonly scope: Scope;
}

/** All scopes: everything, each tag, each warehouse and each service. */
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

/** The scope arguments of a command: a named scope, or a typed tag or warehouse. */
export interface ScopeArguments {
  readonly scope?: NamedScope | undefined;
  readonly tag?: NamedItem | undefined;
  readonly warehouse?: NamedItem | undefined;
}

/** Returns null unless exactly one scope is given. */
export function scopeOf({ scope, tag, warehouse }: ScopeArguments): Scope | null {
  const named: readonly Scope[] = [
    ...(scope ? [scope.scope] : []),
    ...(tag ? [{ tag: tag.id }] : []),
    ...(warehouse ? [{ warehouse: warehouse.id }] : []),
  ];
  return named.length === 1 ? (named[0] ?? null) : null;
}
