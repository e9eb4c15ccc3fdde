import { createHash } from 'node:crypto';
import type { KnownBlock, ModalView } from '@slack/types';
import type { View } from '@slack/web-api';
import { z } from 'zod';
import {
  type Command,
  type Field,
  type FieldContext,
  fieldContext,
  fieldsOf,
  hasField,
  type TypedValues,
  titleOf,
  type Vocabulary,
} from '../commands/index.ts';
import { lines, message, modal, plain } from './blocks.ts';
import { chosenOf, elementFor, inputOf, isPickedFrom, LONG_MAX, unshownText } from './inputs.ts';
import { ChangeOf, ChannelOf, type FormSubmission, givenOf, PrivateMessageOf } from './payload.ts';
import { NO_REPLY_TARGET, type ReplyTarget } from './post.ts';
import type { Line } from './rich-text.ts';

const REASON: Field = { name: 'reason', label: 'Reason', optional: true };

export interface FormSetting {
  /** Where the answer is shown. */
  readonly replyTarget: ReplyTarget;
  /** Values that were chosen before and have no field in the form. */
  readonly fixed?: TypedValues;
  /** The initial values: only fields that differ from them are requested. */
  readonly filledWith?: TypedValues;
  /** What is wrong with the initial values, by field. */
  readonly problems?: Readonly<Record<string, string>>;
  /** Above the fields. */
  readonly line?: Line | null;
  /** Whether the rule that decides requires a reason. */
  readonly needsReason?: boolean;
  /** The form is open already, so the focus stays where it is. */
  readonly isRedrawn?: boolean;
}

const Setting = z
  .object({
    channel: ChannelOf.nullable().catch(null),
    thread: z.string().max(30).nullable().catch(null),
    fixed: z.record(z.string(), z.string()).default({}),
    edits: ChangeOf.optional().catch(undefined),
    replaces: PrivateMessageOf.optional().catch(undefined),
    was: z.record(z.string(), z.string()).default({}),
  })
  .transform(({ fixed, was, ...replyTarget }) => ({ replyTarget, fixed, was }));

/** Reads the metadata of a form. It comes from outside and authorizes nothing. */
export function settingOf(metadata: string): z.infer<typeof Setting> {
  try {
    return Setting.parse(JSON.parse(metadata));
  } catch {
    return { replyTarget: NO_REPLY_TARGET, fixed: {}, was: {} };
  }
}

/**
 * The fields that the user changed, or emptied where the target can be without the value. Unchanged fields are not
 * requested, because another user may have changed them while the form was open.
 */
export function changedIn(
  { args }: Command,
  filled: TypedValues,
  { inputs, was }: { readonly inputs: readonly string[]; readonly was: TypedValues },
): TypedValues {
  const emptied = inputs.filter((name) => was[name] && !filled[name]);
  const removed = fieldsOf(args).flatMap(({ name, none }) =>
    none && emptied.includes(name) ? [[name, none] as const] : [],
  );
  const changed = Object.entries(filled).filter(([name, text]) => was[name] !== shortHash(text));
  return Object.fromEntries([...changed, ...removed]);
}

/** What the user has changed so far in an open form, with what the form has fixed. */
export function changedSoFar(command: Command, view: FormSubmission['view']): TypedValues {
  const { fixed, was } = settingOf(view.private_metadata);
  return { ...changedIn(command, givenOf({ view }), { inputs: [], was }), ...fixed };
}

// A hash instead of the text, because metadata is limited to 3,000 characters.
function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}

/** The metadata of a form: ids and hashes only, without the texts that its inputs cannot show. */
export function metadataOf(
  replyTarget: ReplyTarget,
  fixed: TypedValues,
  filledWith: TypedValues = {},
): string {
  const shown = Object.entries(filledWith).filter(([, text]) => text.length <= LONG_MAX);
  const hashes = shown.map(([name, text]) => [name, shortHash(text)]);
  return JSON.stringify({ ...replyTarget, fixed, was: Object.fromEntries(hashes) });
}

export function callbackIdOf({ name }: Pick<Command, 'name'>): string {
  return name.replaceAll(' ', '.');
}

/** The command of a form or shortcut. */
export function commandByCallbackId(commands: readonly Command[], id: string): Command | undefined {
  return commands.find((command) => callbackIdOf(command) === id);
}

/** The form of a command, with the fields that apply to the given values. */
export function commandForm(
  command: Command,
  given: TypedValues,
  vocabulary: Vocabulary,
  setting: FormSetting,
): ModalView {
  const { replyTarget, fixed = {}, filledWith = {}, problems = {} } = setting;
  const among = fieldContext(vocabulary, given);
  const fields = shownFields(command, among, setting);
  // A form without fields shows the summary instead.
  const above = setting.line ?? (fields.length === 0 ? [command.summary] : null);
  const line = above === null ? [] : message(lines(above)).blocks;
  const title = command.kind === 'query' ? command.formTitle?.(given) : undefined;
  const submit = command.kind === 'change' ? 'Preview' : command.submit?.(given);
  // The first field with a wrong value has the focus, or a required one that is empty.
  const wrong = fields.find(({ name }) => problems[name] !== undefined);
  const empty = fields.find(({ name, optional }) => !optional && !given[name]);
  const toFill = wrong ?? empty ?? fields[0];
  const focused = setting.isRedrawn ? undefined : toFill;
  const inputBlock = (field: Field): KnownBlock => {
    const current = field.input?.kind === 'channel' ? replyTarget.channel : null;
    const text = given[field.name] ?? current ?? '';
    const problem = problems[field.name];
    const unshown = unshownText(field, text, filledWith[field.name] === text);
    const value = unshown === null ? text : '';
    const isPicked = isPickedFrom(field, value, vocabulary);
    const chosen = isPicked ? chosenOf(field, value, given, vocabulary) : null;
    const own = lacksChannel(field, replyTarget) ? undefined : hintOf(field, isPicked);
    const label = isPicked ? field.label.replace(/ \(id\)$/, '') : field.label;
    // The target decides which rule applies and which values are shown.
    const isTarget = command.kind === 'change' && /^(service|alert)$/.test(field.names ?? '');
    const redraws = field.redraws || isTarget;
    return inputOf(field.name, label, elementFor(field, { value, chosen, among, isPicked }), {
      ...{ optional: field.optional, redraws, hasFocus: field === focused },
      hint: problem === undefined ? (unshown ?? own) : [problem, own].filter(Boolean).join(' '),
    });
  };
  return modal(title ?? titleOf(command), {
    id: callbackIdOf(command),
    metadata: metadataOf(replyTarget, fixed, filledWith),
    submit: submit ?? 'Look up',
    blocks: [
      ...line,
      ...fields.flatMap((field) => [
        ...(field.group ? [{ type: 'header' as const, text: plain(field.group, 150) }] : []),
        inputBlock(field),
      ]),
    ],
  });
}

/** The fields in their order, each optional or required for the given values. */
function shownFields(
  command: Command,
  among: FieldContext,
  { fixed = {}, needsReason = false, replyTarget }: FormSetting,
): readonly Field[] {
  const own = fieldsOf(command.args).filter(
    ({ name, typedOnly, input }) =>
      !Object.hasOwn(fixed, name) &&
      hasField(command, name, among) &&
      (!typedOnly || Boolean(among.given[name])) &&
      // Slack refuses a select without options, for example the regions of an unknown provider.
      !(input?.kind === 'choice' && input.options(among).length === 0),
  );
  const isTyped = own.some(({ typedOnly }) => typedOnly);
  const fields = own.map((field) => ({
    ...field,
    optional:
      field.optional &&
      !(field.unlessTyped && !isTyped) &&
      !lacksChannel(field, replyTarget) &&
      !command.isRequired?.(field.name, among),
  }));
  return command.kind === 'change' ? [...fields, { ...REASON, optional: !needsReason }] : fields;
}

/** A form that is opened outside a channel, for example in Home, has no current channel as default. */
function lacksChannel({ input }: Field, { channel }: ReplyTarget): boolean {
  return input?.kind === 'channel' && (channel === null || channel.startsWith('D'));
}

/** Shown during a read, because a trigger expires after three seconds, and instead of a form. */
export function waitingForm(command: Command, line: Line): View {
  const { blocks } = message(lines(line));
  return modal(titleOf(command), { id: callbackIdOf(command), blocks });
}

/** A line of text that redraws the form does so only when Enter is pressed. */
function hintOf({ hint, pickHint, input, redraws }: Field, isPicked: boolean): string | undefined {
  if (isPicked && pickHint) return pickHint;
  const isText = !isPicked && input === undefined;
  return hint && redraws && isText ? `${hint}; press Enter for more options` : hint;
}
