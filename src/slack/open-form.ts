import type { View } from '@slack/web-api';
import { Cache } from '../base/cache.ts';
import {
  type Command,
  commandLine,
  fieldContext,
  fieldsOf,
  hasField,
  resolveNames,
  type TypedValues,
  type Vocabulary,
} from '../commands/index.ts';
import { slashCommand } from '../domain/answer.ts';
import type { Snapshot, UserId } from '../domain/change.ts';
import { findByName } from '../domain/targets.ts';
import { authorizeForm, authorizeForms } from '../workflow/index.ts';
import { sentenceMessage } from './answer.ts';
import { isPassing, refusedBySlack } from './api.ts';
import { lines, type Message, message, modal, plain, section } from './blocks.ts';
import type { CommandLine, SlackContext } from './context.ts';
import { commandForm, type FormSetting, metadataOf, settingOf, waitingForm } from './form.ts';
import { filledByChoice, localVocabulary, readInTime, vocabularyWith } from './form-lists.ts';
import { optionOf } from './inputs.ts';
import type { ButtonPress } from './payload.ts';
import type { ReplyTarget } from './post.ts';
import {
  againMs,
  missingObject,
  openToRedraw,
  openView,
  PROGRESS_AFTER_MS,
} from './private-answers.ts';
import { needsReason } from './reason-form.ts';
import { NO_COMMAND, refusalLine, refusalMessage } from './refusals.ts';
import type { Line } from './rich-text.ts';

type FormTrigger = Pick<CommandLine, 'by' | 'trigger' | 'replyTarget'>;

const FORMLESS = 'message:';

/** The id of an interaction in which Slack opens no form: a message has no `trigger_id`. */
export function formlessTrigger(id: string): string {
  return `${FORMLESS}${id}`;
}

/** What is wrong with the values of a form that opens: a sentence above it, and the problem of each field. */
type Correction = Pick<FormSetting, 'line' | 'problems'>;

const NEEDS_FORM = 'This command needs more values.';

/** Opens the form of a command with the given values; returns the refusal of another user. */
export async function openForm(
  bot: SlackContext,
  { by, trigger, replyTarget }: FormTrigger,
  command: Command,
  typed: TypedValues,
  correction: Correction = {},
): Promise<Message | null> {
  const request = { commands: [command.name], by, record: true };
  const authorized = await authorizeForm(bot.context, request);
  if (!authorized.ok) return refusalMessage(authorized.denial, bot.drawing);
  if (trigger.startsWith(FORMLESS)) {
    // The press of this button has a trigger, so that the same line opens the form.
    const { reason = '', ...values } = typed;
    const offer = { label: 'Open the form', line: commandLine(command, values, reason) };
    return sentenceMessage(correction.line ?? [NEEDS_FORM], [offer]);
  }
  const given = replyTarget.edits ? typed : { ...usualOf(bot, command, typed), ...typed };
  // Only an alert must be read before its form is filled.
  if (!given.alert) {
    const setting = { replyTarget, fixed: taskOf(command, given), ...correction };
    await openView(bot, trigger, ownForm(bot, command, given, setting));
    return null;
  }

  const id = await openToRedraw(bot, trigger, waitingForm(command, ['Reading the alert…']));
  await redrawForm(bot, command, given, { by, replyTarget, view: { id }, ...correction });
  return null;
}

/** The usual values of the fields that were not given. */
function usualOf({ context }: SlackContext, command: Command, given: TypedValues): TypedValues {
  const commandContext = context.commandContext();
  if (command.kind !== 'change') return {};
  return command.defaults?.(fieldContext(commandContext, given), commandContext.services) ?? {};
}

/** The task that the line names: its form does not ask for it again. */
function taskOf(command: Command, given: TypedValues): TypedValues {
  const field = command.kind === 'query' ? command.taskField : undefined;
  const task = field && given[field];
  return field && task ? { [field]: task } : {};
}

/** The form of a command whose fields need no read of the target: with the values that were seen last. */
export function ownForm(
  bot: SlackContext,
  command: Command,
  given: TypedValues,
  setting: FormSetting,
): View {
  const vocabulary = localVocabulary(bot);
  const before = lastSeenOf(bot, command, given);
  const seen: Line = before ? ['Last seen ', { at: before.seenAt }, ` (${before.source})`] : [];
  const values = before && command.kind === 'change' ? (command.prefill?.(before) ?? {}) : {};
  const own = Object.entries(values).filter(([name]) => given[name] === undefined);
  const filledWith = Object.fromEntries(own);
  return commandForm(command, { ...filledWith, ...given }, vocabulary, {
    ...setting,
    filledWith,
    line: setting.line ?? (before ? seen : null),
    needsReason: needsReason(bot, command, given, vocabulary),
  });
}

interface FormRequest extends Correction, Pick<FormSetting, 'replyTarget' | 'isRedrawn'> {
  readonly by: UserId;
  /** The open form, as the user saw it. */
  readonly view: { readonly id: string; readonly hash?: string | undefined };
  /** The text of the item that was just chosen. */
  readonly typed?: string;
}

/** Redraws an open form for its current values, with the values of the chosen target. */
export async function redrawForm(
  bot: SlackContext,
  command: Command,
  given: TypedValues,
  { by, view, typed = '', ...setting }: FormRequest,
): Promise<void> {
  const update = newestUpdate(bot, view);
  // The choices in a form are not counted, so a refusal is not recorded here.
  const request = { commands: [command.name], by, record: false };
  const authorized = await authorizeForm(bot.context, request);
  if (!authorized.ok) {
    return update(waitingForm(command, refusalLine(authorized.denial, bot.drawing)));
  }
  if (!given.alert) {
    const filled = await filledByChoice(bot, { command, given, by, typed });
    const { replyTarget, isRedrawn = false } = setting;
    return update(ownForm(bot, command, filled, { replyTarget, isRedrawn }));
  }
  const form = alertForm(bot, { command, given, by }, setting).catch((error: unknown) => {
    bot.log.warn({ err: error, alert: given.alert }, 'an alert could not be read for its form');
    const missing = missingObject(error);
    return waitingForm(command, [
      missing
        ? `${missing.title}. ${missing.advice}`
        : 'Signalbox could not read the alert. Close this form and try again.',
    ]);
  });
  await update(await form);
}

/** The last request to redraw each open form: what a person chose later must not be drawn over. */
const newest = new Cache<string, symbol>(1_000);
const TRIES = 4;

/**
 * Redraws a form, and again after a passing error. A conflict means that another choice was drawn meanwhile: only the
 * newest one is drawn over it. Source: docs/slack.md#timing
 */
function newestUpdate(
  { clients, clock }: SlackContext,
  { id: view_id, hash }: FormRequest['view'],
) {
  const own = Symbol('redraw');
  newest.set(view_id, own);
  return async (view: View): Promise<void> => {
    let seen = hash ? { hash } : {};
    for (let tries = 1; newest.get(view_id) === own; tries += 1) {
      try {
        await clients.views.views.update({ view_id, ...seen, view });
        return;
      } catch (error) {
        const refused = refusedBySlack(error);
        const isConflict = refused === 'hash_conflict';
        // Slack may not know a form yet that it has just opened; else the person closed it.
        const isGone = refused === 'not_found';
        if (isGone && tries === TRIES) return;
        if (!(isConflict || isGone || isPassing(refused)) || tries === TRIES) throw error;
        if (isConflict) seen = {};
        else await clock.sleep(againMs(error, tries));
      }
    }
  };
}

/** The alert cannot be changed in its form, because the fields hold its values. */
async function alertForm(
  bot: SlackContext,
  { command, given, by }: Parameters<typeof readInTime>[2],
  setting: FormSetting,
) {
  const vocabulary = await vocabularyWith(bot, ['alert']);
  const resolved = resolveAlert(command, given, vocabulary);
  if (!resolved) {
    const list = slashCommand(bot.prefix, 'alert list');
    return waitingForm(command, [
      `There's no alert called “${given.alert}”. ${list} shows all alerts.`,
    ]);
  }
  const own = command.kind === 'change' ? command : null;
  const observed = await own?.observe?.(resolved, bot.context.commandContext());
  const filledWith = (observed?.before && own?.prefill?.(observed.before)) ?? {};
  const fixed = { alert: resolved.alert.id };
  const filled = { ...filledWith, ...given, ...fixed };
  const lists = await namesOfChosen(bot, vocabulary, { command, given: filled, by });
  const named = { ...vocabulary, lists };
  return commandForm(command, filled, named, {
    ...{ ...setting, fixed, filledWith },
    line: [`Alert “${resolved.alert.name}”`, ...(setting.line ? ['\n', ...setting.line] : [])],
    needsReason: needsReason(bot, command, filled, vocabulary),
  });
}

/** The names of the chosen items; an item whose list is late or unknown is shown by its id. */
async function namesOfChosen(
  bot: SlackContext,
  { offered = [] }: Vocabulary,
  question: Parameters<typeof readInTime>[2],
) {
  const { command, given } = question;
  const kinds = fieldsOf(command.args).flatMap(({ name, lists }) =>
    lists && given[name] && offered.includes(lists) ? [lists] : [],
  );
  return readInTime(bot, kinds, question, PROGRESS_AFTER_MS);
}

function resolveAlert(command: Command, given: TypedValues, vocabulary: Vocabulary) {
  const asked = { command, given, reason: '' };
  const resolved = resolveNames(asked, fieldsOf(command.args), given, vocabulary);
  // resolveNames replaces the name by the alert.
  return resolved.ok ? (resolved.args as { alert: { id: string; name: string } }) : null;
}

/** The last seen state of the service that is chosen in a form. */
function lastSeenOf(bot: SlackContext, command: Command, given: TypedValues): Snapshot | null {
  if (command.kind !== 'change' || !given.service) return null;
  const vocabulary = localVocabulary(bot);
  const among = fieldContext(vocabulary, given);
  if (!hasField(command, 'service', among)) return null;
  return findByName(vocabulary.services, given.service)[0]?.lastSeen ?? null;
}

/** The message shortcut, because slash commands do not work in threads. */
export const PALETTE = 'command.palette';

const CHOICES_MAX = 100;
const WHERE =
  'The answer appears where you opened this. Only you see it. Files are posted to the thread.';

/** Opens the modal before the membership lookup, because a trigger expires after three seconds. */
export async function openPalette(
  bot: SlackContext,
  { by, trigger, replyTarget }: FormTrigger,
): Promise<void> {
  const id = await openToRedraw(bot, trigger, textView(['Loading…']));
  const update = newestUpdate(bot, { id });
  const names = bot.commands.map(({ name }) => name);
  const usable = await authorizeForms(bot.context, by, names);
  if (!usable.ok) return update(textView(refusalLine(usable.denial, bot.drawing)));
  const own = bot.commands.filter(({ name }) => usable.commands.includes(name));
  await update(own.length > 0 ? palette(own, replyTarget) : textView([NO_COMMAND]));
}

/** A select of the commands that a user may use. The form of the chosen one replaces it. */
export function palette(commands: readonly Command[], replyTarget: ReplyTarget): View {
  const groups = (['query', 'change'] as const).map((kind) => ({
    label: plain(kind === 'query' ? 'Queries' : 'Changes', 75),
    options: commands
      .filter((command) => command.kind === kind)
      .slice(0, CHOICES_MAX)
      .map(({ name, summary }) => optionOf({ id: name, name, about: summary })),
  }));
  const accessory = {
    type: 'static_select',
    action_id: 'command',
    placeholder: plain('Choose a command', 150),
    option_groups: groups.filter(({ options }) => options.length > 0),
  } as const;
  return modal(TITLE, {
    id: PALETTE,
    metadata: metadataOf(replyTarget, {}),
    blocks: [
      { ...section('What do you want to do?'), block_id: 'command', accessory },
      { type: 'context', elements: [plain(WHERE, 300)] },
    ],
  });
}

/** Shows the form of the chosen command in the same modal. Submission checks authorization. */
export async function chooseCommand(
  bot: SlackContext,
  { user, view, actions }: ButtonPress,
): Promise<void> {
  const name = actions[0]?.selected_option?.value;
  const command = bot.commands.find((each) => each.name === name);
  if (!view || !command) return;
  const { replyTarget } = settingOf(view.private_metadata);
  await redrawForm(bot, command, {}, { by: user.id, replyTarget, view });
}

const TITLE = 'Run a command';

function textView(line: Line): View {
  return modal(TITLE, { id: PALETTE, blocks: message(lines(line)).blocks });
}
