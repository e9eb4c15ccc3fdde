import { model } from './model.ts';
import type { Promised } from './oracle.ts';
import { type Rules, WITNESS } from './rules.ts';
import { interleave } from './two-primaries.ts';
import { EVERYTHING, HANDS, HONEST, ROLLBACKS, walk } from './walk.ts';

/** The model without a rule, and a seed whose walk breaks a promise without that rule. */
export interface Mutant {
  /** One rule, or two that stand in for each other. */
  readonly without: string;
  readonly where: Where;
  readonly seed: number;
  readonly breaks: Promised | 'never sent';
}

export type Where = keyof typeof WEATHERS | 'two primaries';

const WEATHERS = {
  'honest walk': HONEST,
  rollbacks: ROLLBACKS,
  everything: EVERYTHING,
  'a hand': HANDS,
};

export const MUTANTS: readonly Mutant[] = [];

/** Rules that no seed needs, with the rule that stands in for each. They are kept, because each acts earlier. */
export const UNFOUND: readonly { readonly without: string; readonly because: string }[] = [];

/** What the mutant breaks with its seed. */
export async function findMutant({ without, where, seed }: Mutant): Promise<readonly string[]> {
  const kind = model(rulesWithout(without));
  if (where !== 'two primaries') {
    return (await walk(seed, kind, WEATHERS[where])).broken.map(({ promise }) => promise);
  }
  const sent = await interleave(seed, kind);
  if (sent === 1) return [];
  return [sent === 0 ? 'never sent' : 'sent twice'];
}

function rulesWithout(names: string): Rules {
  return { ...WITNESS, ...Object.fromEntries(names.split(' + ').map((name) => [name, false])) };
}
