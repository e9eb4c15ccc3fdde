import type { EffectKind } from '../intent/effect.ts';

/** The last changes that may have affected costs. */
export interface LastCostChanges {
  /** By service id: when its last change ran, whatever its outcome. */
  readonly ranAt: ReadonlyMap<string, Date>;
  /** By service id: when the last change of its size ran. */
  readonly sizedAt: ReadonlyMap<string, Date>;
}

/** The kinds of changes whose cost effect can be estimated. */
export type EstimatedKind = Exclude<EffectKind, 'create'>;
