import type { NamedItem, Service } from '../../directory/directory.ts';
import type { CommandOffer } from '../answers/answer.ts';
import type { Field, FieldContext, TypedValues } from '../arguments/arguments.ts';
import type { SlackFreeze } from '../arguments/freezes.ts';
import type { RequestedTiming } from '../arguments/timing.ts';
import type { Command } from '../define.ts';

/** What was asked for, as text; the same from words and from a form's fields. */

export interface TypedCommand {
  readonly command: Command;
  readonly given: TypedValues;
  readonly reason: string;
}

export type { TypedValues } from '../arguments/arguments.ts';

export interface Vocabulary {
  readonly commands: readonly Command[];
  readonly services: readonly Service[];
  /** Empty where no command about alerts is meant. */
  readonly alerts: readonly NamedItem[];
  /** Missing where no command about freezes is meant. */
  readonly freezes?: readonly SlackFreeze[];
  readonly organization: Omit<FieldContext, 'given'>;
  /** Stands before each noun, where another app of the workspace has the same. */
  readonly prefix?: string;
}

export type ParseResult =
  | { readonly kind: 'help'; readonly noun: string }
  | {
      readonly kind: 'intent';
      readonly command: Command;
      readonly args: Readonly<Record<string, unknown>>;
      readonly given: TypedValues;
      readonly reason: string | null;
      /** When it is to run and for how long; it is no part of `args`. */
      readonly timing: RequestedTiming;
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
      readonly offers: readonly CommandOffer[];
      /** What was asked for, where it can be mended in the form of its command. */
      readonly asked?: { readonly command: Command; readonly given: TypedValues };
    };

export type ParseProblem = ParseResult & { readonly kind: 'misread' };
export type Intent = ParseResult & { readonly kind: 'intent' };
