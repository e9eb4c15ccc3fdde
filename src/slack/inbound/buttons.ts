import { INCIDENT_VERBS, type IncidentClick } from '../../domain/answer.ts';
import type { ChangeId, UserId } from '../../domain/change.ts';
import { VERBS, type Verb } from '../../domain/change.ts';
import { createDenial } from '../../domain/gate.ts';
import { authorizePress, authorizeRequester } from '../../workflow/authorize.ts';
import { ACCEPT_GAP, type ReplyTo } from '../../workflow/clicks.ts';
import { showHome } from '../../workflow/queries/home-queries.ts';
import { authorizeDetails } from '../../workflow/review/authorize-details.ts';
import { receiveClick } from '../../workflow/review/click.ts';
import type { Receipt } from '../../workflow/review/click-intake.ts';
import { receiveGapClick } from '../../workflow/review/gap-click.ts';
import { receiveIncidentClick } from '../../workflow/review/incident-click.ts';
import { answerMessage, sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { fullRequest } from '../cards/parts/full-request.ts';
import { refusalMessage } from '../cards/refusals.ts';
import { commandByCallbackId, settingOf } from '../forms/form.ts';
import { openForm, redrawForm } from '../forms/open-form.ts';
import { chooseCommand, PALETTE } from '../forms/palette.ts';
import {
  needsReasonForm,
  type ReasonFormKind,
  type ReasonFormMetadata,
  reasonForm,
} from '../forms/reason-form.ts';
import type { PrivateMessage } from '../outbound/post.ts';
import { replyPrivately } from '../outbound/reply.ts';
import type { CommandLine, SlackContext } from '../slack-context.ts';
import { handleReceipt, sendAnswer } from './answering.ts';
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
import { reveal } from './reveal.ts';
import { storeOrReply } from './store-or-reply.ts';
import { answerLine, lineOf, nounToRead } from './typed-command.ts';
import { requestAgain, revertNow, undo } from './undo.ts';

type Ack = () => Promise<void>;

const OLD_BUTTON = 'This button is from an older version of Signalbox. Type the command instead.';

/** Routes a click. A click that decides is stored before Slack gets its acknowledgement. */
export async function press(bot: SlackContext, pressed: ButtonClick, ack: Ack): Promise<void> {
  const { id, value } = pressedButton(pressed);
  const verb = VERBS.find((each) => `change.${each}` === id);
  if (verb && !needsReasonForm(verb)) return decide(bot, pressed, { verb, value }, ack);
  const incidentVerb = INCIDENT_VERBS.find((each) => `incident.${each}` === id);
  if (incidentVerb) return decideIncident(bot, pressed, { verb: incidentVerb, value }, ack);

  if (id === ACCEPT_GAP) return decideGap(bot, pressed, value, ack);

  await ack();
  if (pressed.view?.callback_id === PALETTE) return chooseCommand(bot, pressed);
  if (pressed.view && isForm(bot, pressed.view.callback_id)) {
    return redraw(bot, pressed.user.id, pressed.view);
  }
  const by = pressed.user.id;
  const reads = () => (id.startsWith('command.') ? nounToRead(bot, lineOf(value)) : null);
  const replyTarget = pressedAt(pressed);
  const interaction = { url: pressed.response_url ?? null, user: by, replyTarget };
  const send = (answer: Message) => replyPrivately(bot, interaction, answer);
  const isAnswered = await sendAnswer(bot, { by, reads, replyTarget, send }, () =>
    answerPress(bot, pressed, { id, verb, value }),
  );
  // The content of the Home tab may be out of date after a click.
  if (isAnswered && isHome(pressed)) await showHome(bot.context, by);
}

function isForm({ commands }: SlackContext, id: string): boolean {
  return commandByCallbackId(commands, id) !== undefined;
}

/** Redraws a form, because a choice can show or hide other fields. */
async function redraw(
  bot: SlackContext,
  by: UserId,
  view: NonNullable<ButtonClick['view']>,
): Promise<void> {
  const command = commandByCallbackId(bot.commands, view.callback_id);
  if (!command) return;
  const { replyTarget, fixed } = settingOf(view.private_metadata);
  const given = { ...givenOf({ view }), ...fixed };
  const open = { by, replyTarget, view_id: view.id, ...(view.hash ? { hash: view.hash } : {}) };
  await redrawForm(bot, command, given, open);
}

async function decide(
  bot: SlackContext,
  pressed: ButtonClick,
  { verb, value }: { verb: Verb; value: string },
  ack: Ack,
): Promise<void> {
  const change = ChangeOf.safeParse(value);
  if (!change.success) return ack();
  const by = pressed.user.id;
  const key = `click:${pressed.trigger_id}`;
  await store(bot, pressed, { ack, key }, (replyTo) =>
    receiveClick(bot.context, key, { verb, change: change.data, by, text: '', replyTo }),
  );
}

/** A click on an anomaly affects everyone, so it is stored before the acknowledgement too. */
async function decideIncident(
  bot: SlackContext,
  pressed: ButtonClick,
  { verb, value }: { verb: IncidentClick['verb']; value: string },
  ack: Ack,
): Promise<void> {
  const incident = IncidentOf.safeParse(value);
  if (!incident.success) return ack();
  const key = `press:${pressed.trigger_id}`;
  const click = { key, verb, id: incident.data, by: pressed.user.id };
  await store(bot, pressed, { ack, key }, (replyTo) =>
    receiveIncidentClick(bot.context, click, replyTo),
  );
}

/** A press that accepts a gap of the audit trail. */
async function decideGap(
  bot: SlackContext,
  pressed: ButtonClick,
  value: string,
  ack: Ack,
): Promise<void> {
  const gap = GapOf.safeParse(value);
  const message = pressedMessageOf(pressed);
  if (!gap.success || !message) return ack();
  const key = `gap:${pressed.trigger_id}`;
  const press = { key, gap: gap.data, by: pressed.user.id, message };
  await store(bot, pressed, { ack, key }, (replyTo) =>
    receiveGapClick(bot.context, press, replyTo),
  );
}

async function store(
  bot: SlackContext,
  pressed: ButtonClick,
  { ack, key }: { readonly ack: Ack; readonly key: string },
  receive: (replyTo: ReplyTo) => Promise<Receipt>,
): Promise<void> {
  const replyTo = replyToOf(pressed);
  const receipt = await storeOrReply(bot, replyTo, () => receive(replyTo));
  await ack();
  await handleReceipt(bot, receipt, { key, replyTo });
}

async function answerPress(
  bot: SlackContext,
  pressed: ButtonClick,
  { id, verb, value }: { id: string; verb: Verb | undefined; value: string },
): Promise<Message | null> {
  const by = pressed.user.id;
  const replyTarget = pressedAt(pressed);
  const typed: CommandLine = { noun: '', text: '', by, replyTarget, trigger: pressed.trigger_id };
  if (id.startsWith('command.')) return answerLine(bot, typed, value);
  if (id === 'incident.details') return showIncident(bot, typed, value);

  const change = ChangeOf.safeParse(value);
  if (!change.success) return sentenceMessage([OLD_BUTTON]);
  const preview = privateMessageOf(pressed);
  const about = { change: change.data, home: isHome(pressed), preview };
  if (verb && needsReasonForm(verb)) return ask(bot, typed, verb, about);
  if (id === 'change.edit') return edit(bot, typed, change.data, preview);
  const answer = CHANGE_BUTTONS.get(id);
  return answer ? answer(bot, typed, change.data) : sentenceMessage([OLD_BUTTON]);
}

async function showIncident(
  { context, drawing }: SlackContext,
  { by }: CommandLine,
  id: string,
): Promise<Message> {
  const found = await context.incidents.details({ id, by });
  if (found.ok) return answerMessage(found.answer);
  return refusalMessage(found.denial, drawing);
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
  if (!command) return refusalMessage(createDenial('not-found'), bot.drawing);
  const given = { ...textOf(draft.plan.args), reason: draft.reason ?? '' };
  const replaces = preview ?? undefined;
  const replyTarget = { ...typed.replyTarget, edits: draft.id, replaces };
  return openForm(bot, { ...typed, replyTarget }, command, given);
}

function textOf(args: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, String(value)]));
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
