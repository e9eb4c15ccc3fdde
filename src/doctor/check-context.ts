import type { Command } from '../commands/define.ts';
import type { Config } from '../config/load-config.ts';

/** What all checks share. No field needs a network call. */
export interface CheckContext {
  readonly config: Config;
  readonly version: string;
  readonly now: () => Date;
  /** The time limit of each dependency, in milliseconds. */
  readonly withinMs: number;
  readonly commands: readonly Command[];
  readonly nouns: Readonly<Record<string, string>>;
  /** The manifest file in the working directory; null without one. */
  readonly manifest: { readonly file: string; readonly content: unknown } | null;
}
