import type { View } from '@slack/web-api';
import type { Secret } from '../base/errors.ts';
import type { Command } from '../commands/index.ts';
import { type Change, type ChangeId, type UserId, VERBS, type Verb } from '../domain/change.ts';
import { createDenial } from '../domain/gate.ts';
import { INCIDENT_VERBS } from '../domain/incidents.ts';
import { authorizeForm, authorizePress, authorizeRequester } from '../workflow/old/authorize.ts';
import { authorizeDetails } from '../workflow/old/authorize-details.ts';
import { receiveClick } from '../workflow/old/click.ts';
import type { Receipt } from '../workflow/old/click-intake.ts';
import { ACCEPT_GAP, type ReplyTo } from '../workflow/old/clicks.ts';
import { loadForUser } from '../workflow/old/find-change.ts';
import { receiveGapClick } from '../workflow/old/gap-click.ts';
import { showHome } from '../workflow/old/home-queries.ts';
import { receiveIncidentClick } from '../workflow/old/incident-click.ts';
import { isUnchangedSince } from '../workflow/old/inverse.ts';
import { recordReveal, unsealSecret } from '../workflow/old/secret.ts';
import { answerMessage, sentenceMessage } from './answer.ts';
import type { Message } from './blocks.ts';
import { plain } from './blocks.ts';
import { mayRequestAgain } from './card.ts';
import type { CommandLine, SlackContext } from './context.ts';
import { commandByCallbackId, settingOf } from './form.ts';
import { cardLink } from './links.ts';
import { lowerActionText } from './naming.ts';
import { chooseCommand, openForm, PALETTE, redrawForm } from './open-form.ts';
import {
  type ButtonClick,
  ChangeOf,
  GapOf,
  givenOf,
  IncidentOf,
  isHome,
  pressedAt,
  pressedButton,
  pressedMessageOf,
  privateMessageOf,
  replyToOf,
} from './payload.ts';
import type { PrivateMessage } from './post.ts';
import { fullRequest } from './preview.ts';
import { handleReceipt, replyPrivately, sendAnswer, storeOrReply } from './private-answers.ts';
import {
  needsReasonForm,
  type ReasonFormKind,
  type ReasonFormMetadata,
  reasonForm,
} from './reason-form.ts';
import { refusalMessage } from './refusals.ts';
import type { Line } from './rich-text.ts';
import { answerLine, answerValues, lineOf, nounToRead } from './typed.ts';

type Ack = () => Promise<void>;

/** Routes a click. A click that decides is stored before Slack gets its acknowledgement. */
export async function press(bot: SlackContext, pressed: ButtonClick, ack: Ack): Promise<void> {
  const { id, value } = pressedButton(pressed);
  const button = { id, value, verb: VERBS.find((each) => `change.${each}` === id) };
  const decision = decisionOf(bot, pressed, button);
  if (decision) return store(bot, pressed, decision, ack);

  await ack();
  if (pressed.view?.callback_id === PALETTE) return chooseCommand(bot, pressed);
  const by = pressed.user.id;
  const form = pressed.view && commandByCallbackId(bot.commands, pressed.view.callback_id);
  if (pressed.view && form) return redraw(bot, by, pressed.view, form);
  const reads = () => (id.startsWith('command.') ? nounToRead(bot, lineOf(value)) : null);
  const replyTarget = pressedAt(pressed);
  const interaction = { url: pressed.response_url ?? null, user: by, replyTarget };
  const send = (answer: Message) => replyPrivately(bot, interaction, answer);
  const isAnswered = await sendAnswer(bot, { by, reads, replyTarget, send }, () =>
    answerPress(bot, pressed, button),
  );
  // The content of the Home tab may be out of date after a click.
  if (isAnswered && isHome(pressed)) await showHome(bot.context, by);
}

interface PressedButton {
  readonly id: string;
  readonly value: string;
  /** The decision about a change that the button makes; undefined for any other button. */
  readonly verb: Verb | undefined;
}

interface Decision {
  readonly key: string;
  /** Null where the value of the button is not one that Signalbox wrote. */
  readonly receive: ((replyTo: ReplyTo) => Promise<Receipt>) | null;
}

/** How to store a click that decides about a change, an anomaly or a gap; null for any other click. */
function decisionOf(
  { context }: SlackContext,
  pressed: ButtonClick,
  { id, verb, value }: PressedButton,
): Decision | null {
  const { user, trigger_id } = pressed;
  const by = user.id;
  if (verb && !needsReasonForm(verb)) {
    const key = `click:${trigger_id}`;
    const { data: change } = ChangeOf.safeParse(value);
    const click = change && { verb, change, by, text: '' };
    return {
      key,
      receive: click ? (to) => receiveClick(context, key, { ...click, replyTo: to }) : null,
    };
  }
  const incidentVerb = INCIDENT_VERBS.find((each) => `incident.${each}` === id);
  if (incidentVerb) {
    const key = `press:${trigger_id}`;
    const { data: incident } = IncidentOf.safeParse(value);
    const click = incident && { key, verb: incidentVerb, id: incident, by };
    return { key, receive: click ? (to) => receiveIncidentClick(context, click, to) : null };
  }
  if (id !== ACCEPT_GAP) return null;
  const key = `gap:${trigger_id}`;
  const { data: gap } = GapOf.safeParse(value);
  const message = pressedMessageOf(pressed);
  const click = gap && message && { key, gap, by, message };
  return { key, receive: click ? (to) => receiveGapClick(context, click, to) : null };
}

async function store(
  bot: SlackContext,
  pressed: ButtonClick,
  { key, receive }: Decision,
  ack: Ack,
): Promise<void> {
  if (!receive) return ack();
  const replyTo = replyToOf(pressed);
  const receipt = await storeOrReply(bot, replyTo, () => receive(replyTo));
  await ack();
  await handleReceipt(bot, receipt, { key, replyTo });
}

/** Redraws a form, because a choice can show or hide other fields. */
async function redraw(
  bot: SlackContext,
  by: UserId,
  view: NonNullable<ButtonClick['view']>,
  command: Command,
): Promise<void> {
  const { replyTarget, fixed } = settingOf(view.private_metadata);
  const given = { ...givenOf({ view }), ...fixed };
  const open = { by, replyTarget, view_id: view.id, ...(view.hash ? { hash: view.hash } : {}) };
  await redrawForm(bot, command, given, open);
}

const OLD_BUTTON = 'This button is from an older version of Signalbox. Type the command instead.';

async function answerPress(
  bot: SlackContext,
  pressed: ButtonClick,
  { id, verb, value }: PressedButton,
): Promise<Message | null> {
  const by = pressed.user.id;
  const replyTarget = pressedAt(pressed);
  const typed: CommandLine = { noun: '', text: '', by, replyTarget, trigger: pressed.trigger_id };
  if (id.startsWith('command.')) return answerLine(bot, typed, value);
  if (id === 'incident.details') {
    const found = await bot.context.incidents.details({ id: value, by });
    return found.ok ? answerMessage(found.answer) : refusalMessage(found.denial, bot.drawing);
  }

  const change = ChangeOf.safeParse(value);
  if (!change.success) return sentenceMessage([OLD_BUTTON]);
  const preview = privateMessageOf(pressed);
  const about = { change: change.data, home: isHome(pressed), preview };
  if (verb && needsReasonForm(verb)) return ask(bot, typed, verb, about);
  if (id === 'change.edit') return edit(bot, typed, change.data, preview);
  const answer = CHANGE_BUTTONS.get(id);
  return answer ? answer(bot, typed, change.data) : sentenceMessage([OLD_BUTTON]);
}

async function ask(
  bot: SlackContext,
  { by, trigger }: CommandLine,
  kind: ReasonFormKind,
  { change, ...from }: ReasonFormMetadata,
): Promise<Message | null> {
  const authorized = await authorizePress(bot.context, change, { verb: kind, by });
  if (!authorized.ok) return refusalMessage(authorized.denial, bot.drawing);
  const { commands } = bot.drawing;
  const view = reasonForm(kind, authorized.change, { ...from, commands });
  await bot.clients.views.views.open({ trigger_id: trigger, view });
  return null;
}

async function edit(
  bot: SlackContext,
  typed: CommandLine,
  id: ChangeId,
  preview: PrivateMessage | null,
): Promise<Message | null> {
  const authorized = await authorizeRequester(bot.context, id, typed.by);
  if (!authorized.ok) return refusalMessage(authorized.denial, bot.drawing);
  const draft = authorized.change;
  const command = bot.context.commands.get(draft.command);
  if (!command) return notFound(bot);
  const args = Object.entries(draft.plan.args).map(([name, value]) => [name, String(value)]);
  const given = { ...Object.fromEntries(args), reason: draft.reason ?? '' };
  const replaces = preview ?? undefined;
  const replyTarget = { ...typed.replyTarget, edits: draft.id, replaces };
  return openForm(bot, { ...typed, replyTarget }, command, given);
}

/** The request in private; its private fields for those who may request or approve it. */
async function details(
  bot: SlackContext,
  { by }: CommandLine,
  id: ChangeId,
): Promise<Message | null> {
  const authorized = await authorizeDetails(bot.context, id, by);
  return authorized.ok
    ? fullRequest(authorized.change, authorized.isFull, bot.drawing)
    : refusalMessage(authorized.denial, bot.drawing);
}

type ChangeButton = typeof details;
/** Buttons that only answer the user who pressed. */
const CHANGE_BUTTONS: ReadonlyMap<string, ChangeButton> = new Map<string, ChangeButton>([
  ['change.undo', undo],
  ['change.take-back', revertNow],
  ['change.request-again', requestAgain],
  ['change.reveal', reveal],
  ['change.details', details],
]);

const GONE =
  'There is no password to show. It was already shown, expired after a day, or belongs to another requester.';

const NOT_SHOWN =
  'Slack did not confirm that it showed the password. If you do not see it, press the button again.';

/** Shows a password once, to the requester only, in a modal. */
async function reveal(
  bot: SlackContext,
  { by, trigger }: CommandLine,
  id: ChangeId,
): Promise<Message | null> {
  const authorized = await authorizeRequester(bot.context, id, by);
  const secret = authorized.ok ? await unsealSecret(bot.context, id, by) : null;
  if (!authorized.ok || !secret) return sentenceMessage([GONE]);
  const view = passwordModal(secret, authorized.change.plan.target.name);
  const shown = await bot.clients.views.views.open({ trigger_id: trigger, view }).then(
    () => true,
    (error: unknown) => {
      bot.log.warn(
        { err: error, change: id },
        'the password may not have been shown: it stays sealed',
      );
      return false;
    },
  );
  await recordReveal(bot.context, id, { by, shown });
  return shown ? null : sentenceMessage([NOT_SHOWN]);
}

function passwordModal(secret: Secret, name: string): View {
  const text = { type: 'text' as const, text: secret.reveal() };
  const note = `Password of ${name}. Shown only once. Save it in your password manager.`;
  return {
    type: 'modal',
    title: plain('Password', 24),
    close: plain('Close', 24),
    blocks: [
      {
        type: 'rich_text',
        elements: [{ type: 'rich_text_preformatted', elements: [text] }],
      },
      { type: 'context', elements: [plain(note, 300)] },
    ],
  };
}

/** Requests the inverse of a change as a new change of the user who pressed. */
async function undo(bot: SlackContext, typed: CommandLine, id: ChangeId): Promise<Message | null> {
  const change = await loadForUser(bot.context, id);
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
}

/** Requests a revert that did not run; its thread has already reported why. */
async function revertNow(
  bot: SlackContext,
  typed: CommandLine,
  id: ChangeId,
): Promise<Message | null> {
  const child = await loadForUser(bot.context, id);
  const parent = child?.parent ? await loadForUser(bot.context, child.parent) : null;
  const inverse = parent && inverseOf(bot, parent);
  if (!parent || !inverse) return notFound(bot);
  return answerLine(bot, typed, `${inverse.line} "undo of ${parent.id}"`);
}

/** Requests a change that was not run, for the current values, as a new change of the user who pressed. */
async function requestAgain(
  bot: SlackContext,
  typed: CommandLine,
  id: ChangeId,
): Promise<Message | null> {
  const change = await loadForUser(bot.context, id);
  const command = change && bot.context.commands.get(change.command);
  const isVisible = change?.card || change?.requester === typed.by;
  if (!command || !isVisible || !mayRequestAgain(change)) return notFound(bot);
  const { args, target } = change.plan;
  const given = Object.entries(args).map(([name, value]) => {
    // By its id: the target may have another name by now.
    return [name, name === target.kind ? target.id : String(value)] as const;
  });
  // As values: printed as a line, the words of the reason could be read as arguments.
  return answerValues(bot, typed, command, Object.fromEntries(given), change.reason ?? '');
}

function inverseOf({ context }: SlackContext, { command, plan }: Change) {
  return context.commands.get(command)?.undo(plan.target, plan.before, plan.body) ?? null;
}

function notFound({ drawing }: SlackContext): Message {
  return refusalMessage(createDenial('not-found'), drawing);
}
