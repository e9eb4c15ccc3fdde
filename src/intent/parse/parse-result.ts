import type { CommandOffer } from '../../domain/answer.ts';
import type { SlackFreeze } from '../../domain/freezes.ts';
import type { NamedItem, Service } from '../../domain/targets.ts';
import type { RequestedTiming } from '../../domain/timing.ts';
import type { Field, FieldContext, TypedValues } from '../arguments/arguments.ts';
import type { ListedKind, ServerLists } from '../arguments/listed-items.ts';
import type { Command } from '../define.ts';

/** A command with its values as text, from typed words or from form fields. */
export interface TypedCommand {
  readonly command: Command;
  readonly given: TypedValues;
  readonly reason: string;
}

export type { TypedValues } from '../arguments/arguments.ts';

export interface Vocabulary {
  readonly commands: readonly Command[];
  readonly services: readonly Service[];
  /** Empty for commands that do not concern alerts. */
  readonly alerts: readonly NamedItem[];
  /** Missing for commands that do not concern freezes. */
  readonly freezes?: readonly SlackFreeze[];
  readonly organization: Omit<FieldContext, 'given'>;
  /** The lists that a form offers: those that the server may answer. */
  readonly offered?: readonly ListedKind[];
  /** The lists that were read for this command. */
  readonly lists?: ServerLists;
  /** SLACK_COMMAND_PREFIX, for workspaces in which another app has the same commands. */
  readonly prefix?: string;
}

export type ParseResult =
  /** `about`: the word after `help`, for example a verb of the noun. */
  | { readonly kind: 'help'; readonly noun: string; readonly about: string | null }
  | {
      readonly kind: 'intent';
      readonly command: Command;
      readonly args: Readonly<Record<string, unknown>>;
      readonly given: TypedValues;
      readonly reason: string | null;
      /** When the change runs and for how long; not part of `args`. */
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
      /** The same problems by field, for a form that shows each at its field. */
      readonly problems: Readonly<Record<string, string>>;
      readonly offers: readonly CommandOffer[];
      /** The typed command, if it can be corrected in its form. */
      readonly asked?: { readonly command: Command; readonly given: TypedValues };
      /** The typed command, if it names an unknown item, which a list of the server may have. */
      readonly named?: TypedCommand;
    };

export type ParseProblem = ParseResult & { readonly kind: 'misread' };
export type Intent = ParseResult & { readonly kind: 'intent' };
