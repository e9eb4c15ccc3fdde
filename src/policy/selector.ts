import { z } from 'zod';
import type { Selector, Words } from './policy-types.ts';
import { sentence, strict, wordOf } from './problem.ts';

/** A selection of targets, as rules, freezes, digests and budgets write it. */
export function selectorSchema({ services, tags, warehouses }: Words) {
  const list = (what: string, known: readonly string[]) =>
    z.array(wordOf(what, known)).min(1).optional();
  return strict({
    services: list('service', [...services.keys()]),
    tags: list('tag of a service', tags),
    warehouses: list('warehouse', warehouses),
  })
    .refine((on) => on.services || on.tags || on.warehouses, {
      error: sentence('selects nothing', 'give it services, tags or warehouses, or leave it out'),
    })
    .transform(
      (on): Selector => ({
        services: on.services?.map((name) => ({ name, id: services.get(name) ?? '' })) ?? null,
        tags: on.tags ?? null,
        warehouses: on.warehouses ?? null,
      }),
    );
}
