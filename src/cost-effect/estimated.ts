import type { EffectKind } from '../intent/effect.ts';

export interface LastMoved {
  /** When a change of ours last ran on a service, whatever came of it. */
  readonly ranAt: ReadonlyMap<string, Date>;
  /** The same for those alone that moved its size. */
  readonly sizedAt: ReadonlyMap<string, Date>;
}
export type EstimatedKind = Exclude<EffectKind, 'create'>;
