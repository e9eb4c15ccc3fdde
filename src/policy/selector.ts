import { z } from 'zod';
import { declaredName, strictConfigObject, withHint } from '../base/problem.ts';
import type { CostSelector, PolicyVocabulary, Selector } from './policy-types.ts';

type TargetWords = Pick<PolicyVocabulary, 'services' | 'tags' | 'serverTags' | 'warehouses'>;
type CostWords = TargetWords & { readonly teams: readonly string[] };

/** The schema of a selection of targets, for rules and freezes. */
export function selectorSchema(words: TargetWords) {
  const tags = [...words.tags, ...(words.serverTags ?? [])];
  const hint = 'declare a tag of the server in cloud.tags';
  return strictConfigObject(targetLists({ ...words, tags }, hint))
    .refine((on) => on.services || on.tags || on.warehouses, {
      error: withHint('selects nothing', 'set services, tags or warehouses, or remove it'),
    })
    .transform((on) => targetsOf(on, words));
}

/** The schema of a selection of costs, for digests and budgets. Only the file assigns tags to costs. */
export function costSelectorSchema(words: CostWords) {
  return strictConfigObject({ ...targetLists(words), teams: list('team', words.teams) })
    .refine((on) => on.services || on.tags || on.warehouses || on.teams, {
      error: withHint('selects nothing', 'set services, tags, warehouses or teams, or remove it'),
    })
    .transform((on): CostSelector => ({ ...targetsOf(on, words), teams: on.teams ?? null }));
}

interface TargetLists {
  readonly services?: readonly string[] | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly warehouses?: readonly string[] | undefined;
}

function targetLists({ services, tags, warehouses }: TargetWords, tagHint?: string) {
  return {
    services: list('service', [...services.keys()]),
    tags: list('tag of a service', tags, tagHint),
    warehouses: list('warehouse', warehouses),
  };
}

function list(what: string, known: readonly string[], otherwise?: string) {
  return z
    .array(declaredName(what, known, otherwise))
    .min(1)
    .optional();
}

function targetsOf(on: TargetLists, { services }: TargetWords): Selector {
  return {
    services: on.services?.map((name) => ({ name, id: services.get(name) ?? '' })) ?? null,
    tags: on.tags ?? null,
    warehouses: on.warehouses ?? null,
  };
}
