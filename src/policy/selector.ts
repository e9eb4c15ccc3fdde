import { z } from 'zod';
import type { PolicyVocabulary, Selector } from './policy-types.ts';
import { declaredName, strictConfigObject, withHint } from './problem.ts';

/** The schema of a selection of targets, for rules, freezes, digests and budgets. */
export function selectorSchema({ services, tags, warehouses }: PolicyVocabulary) {
  const list = (what: string, known: readonly string[]) =>
    z.array(declaredName(what, known)).min(1).optional();
  return strictConfigObject({
    services: list('service', [...services.keys()]),
    tags: list('tag of a service', tags),
    warehouses: list('warehouse', warehouses),
  })
    .refine((on) => on.services || on.tags || on.warehouses, {
      error: withHint('selects nothing', 'set services, tags or warehouses, or remove it'),
    })
    .transform(
      (on): Selector => ({
        services: on.services?.map((name) => ({ name, id: services.get(name) ?? '' })) ?? null,
        tags: on.tags ?? null,
        warehouses: on.warehouses ?? null,
      }),
    );
}
