import type { Config } from '../config/load-config.ts';
import type { Command } from '../intent/define.ts';

/** Whom the checks are about: everything that they know without asking anybody. */
export interface CheckContext {
  readonly config: Config;
  readonly version: string;
  readonly now: () => Date;
  /** How long each dependency may take. */
  readonly withinMs: number;
  readonly commands: readonly Command[];
  readonly nouns: Readonly<Record<string, string>>;
  /** The manifest beside us as it was last written; null where there is none. */
  readonly manifest: { readonly file: string; readonly content: unknown } | null;
}
