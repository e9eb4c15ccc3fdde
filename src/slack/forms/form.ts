import { createHash } from 'node:crypto';
import type { View } from '@slack/web-api';
import { z } from 'zod';
import { findByName, type NamedItem, type Service } from '../../directory/directory.ts';
import { utcStamp } from '../../intent/answers/texts.ts';
import { type Field, fieldsOf, type TypedValues } from '../../intent/arguments/arguments.ts';
import { type SlackFreeze, servicesIn } from '../../intent/arguments/freezes.ts';
import { type NamedScope, scopesOf, tagsOf, warehousesOf } from '../../intent/arguments/scopes.ts';
import { type Command, namesOf, nounOf, verbOf } from '../../intent/define.ts';
import type { Vocabulary } from '../../intent/parse/parse-result.ts';
import { hasField } from '../../intent/parse/parse-values.ts';
import { lines, message } from '../blocks/blocks.ts';
import type { Line } from '../blocks/rich-text.ts';
import { ChangeOf, ChannelOf, PrivateMessageOf } from '../inbound/payload.ts';
import { NO_REPLY_TARGET, type ReplyTarget } from '../outbound/post.ts';
import { type Choice, elementFor, plain, unshownText, VALUE_MAX } from './inputs.ts';

const REASON: Field = { name: 'reason', label: 'Reason', optional: true };

/** Known values of the target: hints for fields, and a line above them. */
export interface FormHints {
  readonly hints: Readonly<Record<string, string>>;
  readonly line: string | null;
}

const NOTHING_KNOWN: FormHints = { hints: {}, line: null };

interface FormSetting {
  /** Where the answer is shown. */
  readonly replyTarget: ReplyTarget;
  /** Values that were chosen before and have no field in the form. */
  readonly fixed?: TypedValues;
  /** The initial values: only fields that differ from them are requested. */
  readonly filledWith?: TypedValues;
  readonly known?: FormHints;
}

const Metadata = z.object({
  channel: ChannelOf.nullish().catch(null),
  thread: z.string().max(30).nullish().catch(null),
  fixed: z.record(z.string(), z.string()).default({}),
  edits: ChangeOf.optional().catch(undefined),
  replaces: PrivateMessageOf.optional().catch(undefined),
  was: z.record(z.string(), z.string()).default({}),
});

/** Reads the metadata of a form. It comes from outside and authorizes nothing. */
export function settingOf(metadata: string): {
  replyTarget: ReplyTarget;
  fixed: TypedValues;
  was: TypedValues;
} {
  try {
    const read = Metadata.parse(JSON.parse(metadata));
    const { channel = null, thread = null, edits, replaces, ...rest } = read;
    return { replyTarget: { channel, thread, edits, replaces }, ...rest };
  } catch {
    return { replyTarget: NO_REPLY_TARGET, fixed: {}, was: {} };
  }
}

/**
 * The fields that the user changed. Unchanged fields are not requested, because another user may
 * have changed them while the form was open.
 */
export function changedIn(filled: TypedValues, was: TypedValues): TypedValues {
  return Object.fromEntries(
    Object.entries(filled).filter(([name, text]) => was[name] !== shortHash(text)),
  );
}

// A hash instead of the text, because metadata is limited to 3,000 characters.
function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12);
}

/** The metadata of a form: ids and hashes only. */
export function metadataOf(
  replyTarget: ReplyTarget,
  fixed: TypedValues,
  filledWith: TypedValues = {},
): string {
  const hashes = Object.entries(filledWith).map(([name, text]) => [name, shortHash(text)] as const);
  return JSON.stringify({ ...replyTarget, fixed, was: Object.fromEntries(hashes) });
}

export function callbackIdOf({ name }: Pick<Command, 'name'>): string {
  return name.replaceAll(' ', '.');
}

/** The command of a form or shortcut; an installed manifest may still have an earlier name. */
export function commandByCallbackId(commands: readonly Command[], id: string): Command | undefined {
  return commands.find((command) => namesOf(command).some((name) => callbackIdOf({ name }) === id));
}

/**
 * `service scale` → `Scale service`, and what only looks as it is typed: `Pipe settings`. Short
 * enough for every place that Slack has for it.
 */
export function titleOf(command: Command): string {
  const { kind, name } = command;
  if (kind === 'query') return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  const verb = verbOf(command);
  // A freeze affects many changes.
  const noun = nounOf(command) === 'change' ? 'changes' : nounOf(command);
  return `${verb.charAt(0).toUpperCase()}${verb.slice(1)} ${noun}`.trim();
}

/** The form of a command, with the fields that apply to the given values. */
export function commandForm(
  command: Command,
  given: TypedValues,
  vocabulary: Vocabulary,
  { replyTarget, fixed = {}, filledWith = {}, known = NOTHING_KNOWN }: FormSetting,
): View {
  const among = { ...vocabulary.organization, given };
  const own = fieldsOf(command.args).filter(
    ({ name, typedOnly }) =>
      !Object.hasOwn(fixed, name) &&
      hasField(command, name, among) &&
      (!typedOnly || Boolean(given[name])),
  );
  const isTyped = own.some(({ typedOnly }) => typedOnly);
  const needed = command.kind === 'change' && command.needsReason;
  const reason = needed ? { ...REASON, optional: false } : REASON;
  const fields = command.kind === 'change' ? [...own, reason] : own;
  // A form without fields shows the summary instead.
  const above = known.line ?? (fields.length === 0 ? command.summary : null);
  const line = above === null ? [] : [{ type: 'section' as const, text: plain(above, 3_000) }];
  return {
    type: 'modal',
    callback_id: callbackIdOf(command),
    private_metadata: metadataOf(replyTarget, fixed, filledWith),
    title: plain(titleOf(command), 24),
    submit: plain(command.kind === 'change' ? 'Preview' : 'Look up', 24),
    close: plain('Close', 24),
    blocks: [
      ...line,
      ...fields.map((field) => {
        const text = given[field.name] ?? '';
        const unshown = unshownText(field, text, filledWith[field.name] === text);
        const value = unshown === null ? text : '';
        const isPicked = isPickedFrom(field, value, vocabulary);
        const chosen = isPicked ? chosenOf(field, value, given, vocabulary) : null;
        const hint = unshown ?? known.hints[field.name] ?? hintOf(field, isPicked);
        return {
          type: 'input' as const,
          block_id: field.name,
          label: plain(isPicked ? field.label.replace(/ \(id\)$/, '') : field.label, 150),
          optional: field.optional && !(field.unlessTyped && !isTyped),
          ...(field.redraws ? { dispatch_action: true } : {}),
          ...(hint ? { hint: plain(hint, 150) } : {}),
          element: elementFor(field, { value, chosen, among, isPicked }),
        };
      }),
    ],
  };
}

/** Shown during a read, because a trigger expires after three seconds, and instead of a form. */
export function waitingForm(command: Command, line: Line): View {
  return {
    type: 'modal',
    callback_id: callbackIdOf(command),
    title: plain(titleOf(command), 24),
    close: plain('Close', 24),
    // The parts of a message and of a modal are the same blocks under two names.
    blocks: message(lines(line)).blocks as never[],
  };
}

/** Whether the field is a type-ahead: without a list of its items it is a line of text. */
function isPickedFrom({ names, lists }: Field, value: string, { offered = [] }: Vocabulary) {
  if (names !== undefined) return true;
  return lists !== undefined && offered.includes(lists) && value.length <= VALUE_MAX;
}

/** A line of text that redraws the form does so only when Enter is pressed. */
function hintOf({ hint, input, redraws }: Field, isPicked: boolean): string | undefined {
  const isText = !isPicked && input === undefined;
  return hint && redraws && isText ? `${hint}; press Enter for more options` : hint;
}

function chosenOf(
  field: Field,
  value: string,
  given: TypedValues,
  vocabulary: Vocabulary,
): Choice | null {
  if (value === '') return null;
  const choices = choicesFor(field, given, vocabulary);
  const [one, ...others] = findByName(choices.map(asNamed), value);
  if (one && others.length === 0) return choices.find(({ id }) => id === one.id) ?? null;
  // An id that is in no list stays chosen.
  return others.length === 0 && field.names !== 'service'
    ? { id: value, name: value, about: '' }
    : null;
}

function asNamed({ id, name }: Choice): NamedItem {
  return { id, name, aliases: [] };
}

export function choicesFor(
  { names, lists: kind }: Field,
  given: TypedValues,
  { services, alerts, freezes = [], commands, lists = {} }: Vocabulary,
): readonly Choice[] {
  if (kind) return lists[kind] ?? [];
  if (names === 'service') return services.map(serviceChoice);
  if (names === 'scope') return scopesOf(services).map((one) => scopeChoice(one, services));
  if (names === 'tag') return tagsOf(services).map(plainChoice);
  if (names === 'warehouse') return warehousesOf(services).map(plainChoice);
  if (names === 'freeze') return freezes.map(freezeChoice);
  if (names === 'ask') {
    return commands.map(({ name, summary }) => ({ id: name, name, about: summary }));
  }
  if (names === 'alert') return alerts.map(({ id, name }) => ({ id, name, about: id }));
  const [service] = findByName(services, given.service ?? '');
  const owners = service ? [service] : services;
  const listed = lists.pipe ?? [];
  const configured = owners.flatMap(({ name: owner, pipes }) =>
    pipes.map(({ id, name }) => ({ id, name, about: `of ${owner}` })),
  );
  return [...listed, ...configured.filter(({ id }) => listed.every((item) => item.id !== id))];
}

function plainChoice({ id, name }: NamedItem): Choice {
  return { id, name, about: '' };
}

function scopeChoice({ id, name, scope }: NamedScope, services: readonly Service[]): Choice {
  const own = servicesIn(scope, services);
  const [one] = own;
  if ('service' in scope && one) return serviceChoice(one);
  const all = 'everything' in scope ? 'all services' : own.map((each) => each.name).join(', ');
  return { id, name, about: all };
}

function freezeChoice({ id, name, freeze }: SlackFreeze): Choice {
  return { id, name, about: `until ${utcStamp(freeze.until)} · ${id} · ${freeze.reason}` };
}

function serviceChoice({ id, name, tags }: Service): Choice {
  return { id, name, about: [...(tags ?? ['not listed']), id.slice(0, 8)].join(' · ') };
}
