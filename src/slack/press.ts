import type { View } from '@slack/web-api';
import type { Secret } from '../base/errors.ts';
import { ownValue } from '../base/text.ts';
import { type Change, type ChangeId, VERBS, type Verb } from '../domain/change.ts';
import { createDenial } from '../domain/gate.ts';
import { INCIDENT_VERBS } from '../domain/incidents.ts';
import {
  authorizeDetails,
  authorizeForm,
  authorizePress,
  authorizeRequester,
  isUnchangedSince,
  loadChange,
  type ReplyTo,
  receivePress,
  revealPassword,
  showHome,
} from '../workflow/index.ts';
import { answerMessage, QUESTION, sentenceMessage } from './answer.ts';
import { type Message, modal, plain } from './blocks.ts';
import { mayRequestAgain } from './card.ts';
import type { CommandLine, SlackContext } from './context.ts';
import { changedSoFar, commandByCallbackId, settingOf } from './form.ts';
import { cardLink, loadNewest } from './links.ts';
import { postMarkOf } from './marks.ts';
import { lowerActionText } from './naming.ts';
import { chooseCommand, openForm, PALETTE, redrawForm } from './open-form.ts';
import {
  type ButtonPress,
  ChangeOf,
  IncidentOf,
  isHome,
  type PrivateMessage,
  pressedButton,
  privateMessageOf,
  replyToOf,
  seenMark,
} from './payload.ts';
import { readPlace, splitValue } from './place.ts';
import { fullRequest } from './preview.ts';
import { handleReceipt, openView, sendAnswer, storeOrReply } from './private-answers.ts';
import {
  narrowForm,
  needsForm,
  type ReasonFormKind,
  type ReasonFormMetadata,
  reasonForm,
  typedArgs,
  writeReasonFormMetadata,
} from './reason-form.ts';
import { refusalMessage } from './refusals.ts';
import type { Line } from './rich-text.ts';
import { answerLine, answerValues } from './typed.ts';

type Ack = () => Promise<void>;

/** Routes a press. One that decides is stored before Slack gets its acknowledgement. */
export async function press(bot: SlackContext, pressed: ButtonPress, ack: Ack): Promise<void> {
  const { id, value } = pressedButton(pressed);
  const button = { id, value, verb: VERBS.find((each) => `change.${each}` === id) };
  const replyTo = replyToOf(pressed);
  const decision = decisionOf(bot, pressed, button);
  if (decision) {
    const { subject, receive } = decision;
    const receipt = receive && (await storeOrReply(bot, replyTo, receive));
    await ack();
    const key = pressKey(pressed.trigger_id);
    return receipt ? handleReceipt(bot, receipt, { key, subject, replyTo }) : undefined;
  }

  await ack();
  const { view } = pressed;
  if (view?.callback_id === PALETTE) return chooseCommand(bot, pressed);
  const by = pressed.user.id;
  const command = view && commandByCallbackId(bot.commands, view.callback_id);
  if (view && command) {
    // A choice can show or hide other fields.
    const { replyTarget } = settingOf(view.private_metadata);
    const typed = pressed.actions[0]?.selected_option?.text?.text ?? '';
    const form = { by, replyTarget, view, typed, isRedrawn: true };
    return redrawForm(bot, command, changedSoFar(command, view), form);
  }
  const question = pressed.actions[0]?.block_id === QUESTION ? privateMessageOf(pressed) : null;
  const request = { asked: replyTo, inPlaceOf: () => question };
  const isAnswered = await sendAnswer(bot, request, () => answerPress(bot, pressed, button));
  // The content of the Home tab may be out of date after a press.
  if (isAnswered && isHome(pressed)) await showHome(bot.context, by);
}

interface PressedButton {
  readonly id: string;
  readonly value: string;
  /** The decision about a change that the button makes; undefined for any other button. */
  readonly verb: Verb | undefined;
}

/**
 * How to store a press that decides about a change or an anomaly, its `subject`; null for any other press. `receive`:
 * null where the value of the button is not one that Signalbox wrote.
 */
function decisionOf(
  { context, places }: SlackContext,
  pressed: ButtonPress,
  { id, verb, value }: PressedButton,
) {
  const incidentVerb = INCIDENT_VERBS.find((each) => `incident.${each}` === id);
  const deciding = verb && !needsForm(verb) ? verb : incidentVerb;
  if (!deciding) return null;
  const subject = splitValue(value).about;
  const { data: change } = (incidentVerb ? IncidentOf : ChangeOf).safeParse(subject);
  if (!change) return { subject, receive: null };
  const [key, by] = [pressKey(pressed.trigger_id), pressed.user.id];
  const place = readPlace(places, pressed, { id, value });
  const shown = incidentVerb
    ? { place: { ...place, post: postMarkOf(pressed.message?.blocks) }, seen: null }
    : { place, seen: seenMark(pressed) };
  const about = { key, by, verb: deciding, change, text: '', ...shown };
  return { subject, receive: (to: ReplyTo) => receivePress(context, { ...about, replyTo: to }) };
}

/** Slack's id of an interaction as one word: a repeated delivery is the same press. */
export function pressKey(trigger: string): string {
  return encodeURIComponent(trigger);
}

const OLD_BUTTON = 'This button is from an older version of Signalbox. Type the command instead.';

async function answerPress(
  bot: SlackContext,
  pressed: ButtonPress,
  { id, verb, value }: PressedButton,
): Promise<Message | null> {
  const by = pressed.user.id;
  const { channel, thread } = replyToOf(pressed);
  const replyTarget = { channel, thread };
  const typed: CommandLine = { noun: '', text: '', by, replyTarget, trigger: pressed.trigger_id };
  const place = readPlace(bot.places, pressed, { id, value });
  if (id.startsWith('command.'))
    return answerLine(bot, { ...typed, place }, splitValue(value).about);
  if (id === 'incident.details') {
    const found = await bot.context.incidents.details({ id: value, by });
    return found.ok ? answerMessage(found.answer) : refusalMessage(found.denial, bot.drawing);
  }

  const change = ChangeOf.safeParse(splitValue(value).about);
  if (!change.success) return sentenceMessage([OLD_BUTTON]);
  const preview = privateMessageOf(pressed);
  const asked = { place, seen: seenMark(pressed) };
  const about = { change: change.data, home: isHome(pressed), preview, ...asked };
  if (verb && needsForm(verb)) return ask(bot, typed, verb, about);
  const answer = ownValue(CHANGE_BUTTONS, id);
  return answer ? answer(bot, typed, change.data, preview) : sentenceMessage([OLD_BUTTON]);
}

async function ask(
  bot: SlackContext,
  { by, trigger }: CommandLine,
  kind: ReasonFormKind | 'narrow',
  { change, ...from }: ReasonFormMetadata,
): Promise<Message | null> {
  const pressed = { verb: kind, by, change, place: from.place };
  const authorized = await authorizePress(bot.context, pressed);
  await loadNewest(bot.permalinks, authorized.ok ? null : authorized.denial);
  if (!authorized.ok) return refusalMessage(authorized.denial, bot.drawing);
  const { commands } = bot.drawing;
  const metadata = writeReasonFormMetadata(bot.places, { kind, by }, { change, ...from });
  const command = commands.get(authorized.change.command);
  if (!command) return notFound(bot);
  const view =
    kind === 'narrow'
      ? narrowForm(authorized.change, command, metadata, bot.context.commandContext())
      : reasonForm(kind, authorized.change, { metadata, commands });
  await openView(bot, trigger, view);
  return null;
}

type ChangeButton = (
  bot: SlackContext,
  typed: CommandLine,
  id: ChangeId,
  preview: PrivateMessage | null,
) => Promise<Message | null>;

/** Buttons that only answer the user who pressed. */
const CHANGE_BUTTONS: Readonly<Record<string, ChangeButton>> = {
  /** The request in private; its private fields for those who may request or approve it. */
  'change.details': async (bot, { by }, id) => {
    const authorized = await authorizeDetails(bot.context, id, by);
    return authorized.ok
      ? fullRequest(authorized.change, authorized.isFull, bot.drawing)
      : refusalMessage(authorized.denial, bot.drawing);
  },
  'change.edit': async (bot, typed, id, preview) => {
    const authorized = await authorizeRequester(bot.context, id, typed.by);
    if (!authorized.ok) return refusalMessage(authorized.denial, bot.drawing);
    const draft = authorized.change;
    const command = bot.context.commands.get(draft.command);
    if (!command) return notFound(bot);
    const given = { ...typedArgs(draft.plan), reason: draft.reason ?? '' };
    const replaces = preview ?? undefined;
    const replyTarget = { ...typed.replyTarget, edits: draft.id, replaces };
    return openForm(bot, { ...typed, replyTarget }, command, given);
  },
  /** Shows a password once, to the requester only, in a modal. */
  'change.reveal': async (bot, { by, trigger }, id) => {
    const revealed = await revealPassword(bot.context, { id, by }, (password, change) => {
      const view = passwordModal(password, change);
      return openView(bot, trigger, view).then(
        (opened) => opened !== null,
        (err: unknown) => {
          bot.log.warn({ err, change: id }, MAYBE_SHOWN);
          return false;
        },
      );
    });
    if (revealed === 'none') return sentenceMessage([GONE]);
    return revealed === 'shown' ? null : sentenceMessage([NOT_SHOWN]);
  },
  /** Requests the inverse of a change as a new change of the user who pressed. */
  'change.undo': async (bot, typed, id) => {
    const change = await loadChange(bot.context.events, id);
    const inverse = change && inverseOf(bot, change);
    if (change?.state !== 'succeeded' || !inverse) return notFound(bot);
    const [noun, verb] = inverse.line.split(' ');
    const request = { commands: [`${noun} ${verb}`], by: typed.by, record: true };
    const authorized = await authorizeForm(bot.context, request);
    if (!authorized.ok) return refusalMessage(authorized.denial, bot.drawing);
    const line = `${inverse.line} "undo of ${change.id}"`;
    if (await isUnchangedSince(bot.context, change)) return answerLine(bot, typed, line);
    await bot.permalinks.load([change.card]);
    const warning: Line = [
      `The target was changed again after “${lowerActionText(change)}” (`,
      cardLink(change, id, bot.drawing.linkOf),
      '). An undo would also undo the later changes.',
    ];
    return sentenceMessage(warning, [{ label: `${inverse.label} anyway`, line }]);
  },
  /** Requests a revert that did not run; its thread has already reported why. */
  'change.take-back': async (bot, typed, id) => {
    const child = await loadChange(bot.context.events, id);
    const parent = child?.parent ? await loadChange(bot.context.events, child.parent) : null;
    const inverse = parent && inverseOf(bot, parent);
    if (!parent || !inverse) return notFound(bot);
    return answerLine(bot, typed, `${inverse.line} "undo of ${parent.id}"`);
  },
  /** Requests a change that was not run, for the current values, as a new change of the user who pressed. */
  'change.request-again': async (bot, typed, id) => {
    const change = await loadChange(bot.context.events, id);
    const command = change && bot.context.commands.get(change.command);
    const isVisible = change?.card || change?.requester === typed.by;
    if (!command || !isVisible || !mayRequestAgain(change)) return notFound(bot);
    const { args, target } = change.plan;
    // By its id: the target may have another name by now.
    const named = Object.hasOwn(args, target.kind) ? { [target.kind]: target.id } : {};
    const given = { ...typedArgs(change.plan), ...named };
    // As values: printed as a line, the words of the reason could be read as arguments.
    return answerValues(bot, typed, command, given, change.reason ?? '');
  },
};

const GONE =
  'There is no password to show. It was already shown, expired after a day, or belongs to another requester.';
const NOT_SHOWN =
  'Slack did not confirm that it showed the password. If you do not see it, press the button again.';
const MAYBE_SHOWN = 'the password may not have been shown: it stays sealed';

/** The card has what else is needed to connect. */
function passwordModal(secret: Secret, { plan: { target } }: Change): View {
  const text = { type: 'text' as const, text: secret.reveal() };
  const note = `Password of ${target.name}. Shown only once. Save it in your password manager.`;
  return modal('Password', {
    blocks: [
      { type: 'rich_text', elements: [{ type: 'rich_text_preformatted', elements: [text] }] },
      { type: 'context', elements: [plain(note, 300)] },
    ],
  });
}

function inverseOf({ context }: SlackContext, { command, plan }: Change) {
  return context.commands.get(command)?.undo?.(plan.target, plan.before, plan.body) ?? null;
}

function notFound({ drawing }: SlackContext): Message {
  return refusalMessage(createDenial('not-found'), drawing);
}
