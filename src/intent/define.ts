import type { z } from 'zod';
import type { Change, JsonObject, PlanRow, Snapshot, Target, UserId } from '../changes/change.ts';
import type { NamedItem, Service } from '../directory/directory.ts';
import type { FieldProblem, Secret } from '../errors.ts';
import type { Answer } from './answers/answer.ts';
import type { FieldContext, TypedValues } from './arguments/arguments.ts';
import type { SlackFreeze } from './arguments/freezes.ts';
import type { NamedScope } from './arguments/scopes.ts';
import { type TimingSupport, timingShape } from './arguments/timing.ts';
import type { EffectKind } from './effect.ts';
import type { Caller, CommandContext } from './ports/command-context.ts';

/** A reply as people may see it: the request's id, and what the server reported. */
export interface SendResult {
  readonly requestId: string | null;
  readonly reported: readonly string[];
  /** What the reply taught about the target; kept as its last seen values. */
  readonly learned: {
    readonly id: string;
    readonly name: string;
    readonly fields: JsonObject;
  } | null;
  /** Shown once, to the requester alone. */
  readonly secret?: Secret | null;
}

interface Words {
  /** Noun and verb: `service stop`. Policy, modal, help and manifest use this name. */
  readonly name: string;
  /** Earlier names: still accepted when typed, in policy files and in stored changes. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly examples: readonly string[];
  /** Whether a field has a meaning, given the others; all of them where this is missing. */
  readonly hasField?: (field: string, among: FieldContext) => boolean;
}

export interface QueryCommand<Args = unknown> extends Words {
  readonly kind: 'query';
  readonly args: z.ZodObject;
  readonly target: (args: Args) => Target | null;
  readonly answer: (args: Args, context: CommandContext, asker: Caller) => Answer | Promise<Answer>;
  /** Whether the line leaves so much open that its form is the better answer. */
  readonly needsForm?: (given: TypedValues) => boolean;
}

export interface ChangeCommand<Args = unknown> extends Words {
  readonly kind: 'change';
  readonly args: z.ZodObject;
  /** How people read the call: `PATCH state`. */
  readonly call: string;
  /** Takes `at=` and `in=`, and `for=` where what takes it back is known; missing: none of them. */
  readonly timed?: TimingSupport;
  /** The wire's method: a `post` is never sent a second time, whatever happened to the first. */
  readonly callClass: 'patch' | 'post' | 'put';
  /** How it moves the costs of its target; nothing is said of them where this is missing. */
  readonly effect?: EffectKind;
  /** Asked for under every rule, for whoever is held up by it wants to know why. */
  readonly needsReason?: true;
  /** What depends on who asks, and when, made exact before anything is planned. */
  readonly resolveArguments?: (
    args: Args,
    context: CommandContext,
    by: UserId,
  ) => Promise<ResolvedArguments<Args>>;
  readonly target: (args: Args, context: CommandContext) => Target;
  readonly observe: (
    args: Args,
    context: CommandContext,
  ) => Snapshot | null | Promise<Snapshot | null>;
  /** Reads the target again right before sending, where the API has a read to do it with. */
  readonly readBeforeSending?: (target: Target, context: CommandContext) => Promise<Snapshot>;
  /** What a form starts with, once the target was read. */
  readonly prefill?: (before: Snapshot) => TypedValues;
  readonly desired: (args: Args, before: Snapshot | null) => JsonObject;
  /** What the rules of single fields cannot say; nothing is asked for while there is one. */
  readonly problems?: (
    args: Args,
    before: Snapshot | null,
    context: CommandContext,
  ) => readonly FieldProblem[];
  /** Field by field, where the body does not have the names of the arguments. */
  readonly rows?: (args: Args, before: Snapshot | null) => readonly PlanRow[];
  readonly unchanged?: (args: Args, before: Snapshot | null) => readonly string[];
  readonly warnings: (
    args: Args,
    before: Snapshot | null,
    context: CommandContext,
  ) => readonly string[];
  readonly send: (
    target: Target,
    body: JsonObject,
    context: CommandContext,
    of: ChangeOrigin,
  ) => Promise<SendResult>;
  /** Looks whether an attempt without an answer took effect; null where it still cannot be said. */
  readonly verifyOutcome?: (
    target: Target,
    body: JsonObject,
    context: CommandContext,
    of: ChangeOrigin,
  ) => Promise<SendResult | null>;
  /** The command that takes this one back, with the words to type; null where there is none. */
  readonly undo: (target: Target, before: Snapshot | null, body: JsonObject) => UndoCommand | null;
  /** The reply holds a password, which is kept sealed until its requester has seen it. */
  readonly hasSecret?: true;
  /** What a person reads after success, in place of more than is known. */
  readonly endingNote: string;
}

/** The change that is sent, for what is kept in our own database. */
export type ChangeOrigin = Pick<Change, 'id' | 'requester' | 'reason'>;

export type ResolvedArguments<Args> =
  | { readonly ok: true; readonly args: Args }
  | { readonly ok: false; readonly problems: readonly FieldProblem[] };

export interface UndoCommand {
  readonly label: string;
  readonly line: string;
}

export type Command = QueryCommand | ChangeCommand;

/** Fields that name something arrive as what they name. */
type Resolved<Shape extends z.ZodObject> = {
  [Key in keyof z.output<Shape>]: Key extends 'service'
    ? Service
    : Key extends 'pipe' | 'alert' | 'tag' | 'warehouse' | 'ask'
      ? NamedItem
      : Key extends 'scope'
        ? NamedScope
        : Key extends 'freeze'
          ? SlackFreeze
          : z.output<Shape>[Key];
};

// The registry holds commands of many argument types in one list. The one place that calls them
// passes what their own schema has read, so that the erased type is right by construction.
export function queryCommand<Shape extends z.ZodObject>(
  definition: Omit<QueryCommand<Resolved<Shape>>, 'kind'> & { args: Shape },
): QueryCommand {
  return { ...definition, kind: 'query' } as unknown as QueryCommand;
}

export function changeCommand<Shape extends z.ZodObject>(
  definition: Omit<ChangeCommand<Resolved<Shape>>, 'kind'> & { args: Shape },
): ChangeCommand {
  const args = definition.args.extend(timingShape(definition.timed));
  return { ...definition, args, kind: 'change' } as unknown as ChangeCommand;
}

/** The current name of a command and its aliases. */
export function namesOf({ name, aliases = [] }: Command): readonly string[] {
  return [name, ...aliases];
}

export function nounOf(command: Command): string {
  return command.name.split(' ')[0] ?? command.name;
}

export function verbOf(command: Command): string {
  return command.name.split(' ').slice(1).join(' ');
}
