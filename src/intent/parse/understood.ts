import type { Named, Service } from '../../directory/directory.ts';
import type { Offer } from '../answers/answer.ts';
import type { Circumstances, Field, TypedValues } from '../arguments/arguments.ts';
import type { StandingFreeze } from '../arguments/freezes.ts';
import type { AskedTiming } from '../arguments/timing.ts';
import type { Command } from '../define.ts';

/** What was asked for, as text; the same from words and from a form's fields. */

export interface ParsedCommand {
  readonly command: Command;
  readonly given: TypedValues;
  readonly reason: string;
}

export type { TypedValues } from '../arguments/arguments.ts';

export interface Vocabulary {
  readonly commands: readonly Command[];
  readonly services: readonly Service[];
  /** Empty where no command about alerts is meant. */
  readonly alerts: readonly Named[];
  /** Missing where no command about freezes is meant. */
  readonly freezes?: readonly StandingFreeze[];
  readonly organization: Omit<Circumstances, 'given'>;
  /** Stands before each noun, where another app of the workspace has the same. */
  readonly prefix?: string;
}

export type Understood =
  | { readonly kind: 'help'; readonly noun: string }
  | {
      readonly kind: 'intent';
      readonly command: Command;
      readonly args: Readonly<Record<string, unknown>>;
      readonly given: TypedValues;
      readonly reason: string | null;
      /** When it is to run and for how long; it is no part of `args`. */
      readonly timing: AskedTiming;
    }
  | {
      readonly kind: 'incomplete';
      readonly command: Command;
      readonly given: TypedValues;
      readonly missing: readonly Field[];
    }
  | {
      readonly kind: 'misread';
      readonly sentence: string;
      /** The same by field, for a form that shows each where it belongs. */
      readonly problems: Readonly<Record<string, string>>;
      readonly offers: readonly Offer[];
      /** What was asked for, where it can be mended in the form of its command. */
      readonly asked?: { readonly command: Command; readonly given: TypedValues };
    };

export type Misread = Understood & { readonly kind: 'misread' };
export type Intent = Understood & { readonly kind: 'intent' };
