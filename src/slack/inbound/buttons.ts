import type { ChangeId } from '../../changes/change.ts';
import { authorizeDetails, authorizePress, authorizeRequester } from '../../workflow/authorize.ts';
import {
  INCIDENT_VERBS,
  type IncidentClick,
  type ReplyTo,
  VERBS,
  type Verb,
} from '../../workflow/clicks.ts';
import { createDenial } from '../../workflow/denial.ts';
import { showHome } from '../../workflow/queries/home-queries.ts';
import { receiveClick } from '../../workflow/review/click.ts';
import { receiveIncidentClick } from '../../workflow/review/incident-click.ts';
import { answerMessage, sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { fullPlan } from '../cards/preview.ts';
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
import { NO_REPLY_TARGET, postEphemeral } from '../outbound/post.ts';
import type { SlackContext } from '../slack-context.ts';
import { ChangeOf, givenOf, IncidentOf, type Pressed } from './payload.ts';
import { goOn, withinRateLimit } from './rate-limit-reply.ts';
import { reveal } from './reveal.ts';
import { storeOrReply } from './store-or-reply.ts';
import type { Typed } from './typed.ts';
import { answerTyped, faultMessage } from './typed-command.ts';
import { revertNow, undo } from './undo.ts';

type Ack = () => Promise<void>;

const OLD_BUTTON = 'This button is from an older version of Signalbox. Type the command instead.';

/** Routes a click. A click that decides is stored before Slack gets its acknowledgement. */
export async function press(bot: SlackContext, pressed: Pressed, ack: Ack): Promise<void> {
  const [action] = pressed.actions;
  const id = action?.action_id ?? '';
  const value = action?.selected_option?.value ?? action?.value ?? '';
  const verb = VERBS.find((each) => `change.${each}` === id);
  if (verb && !needsReasonForm(verb)) return decide(bot, pressed, { verb, value }, ack);
  const incidentVerb = INCIDENT_VERBS.find((each) => `incident.${each}` === id);
  if (incidentVerb) return decideIncident(bot, pressed, { verb: incidentVerb, value }, ack);

  await ack();
  if (pressed.view?.callback_id === PALETTE) return chooseCommand(bot, pressed);
  if (pressed.view && isForm(bot, pressed.view.callback_id)) return redraw(bot, pressed.view);
  const answer = await withinRateLimit(bot, pressed.user.id, () =>
    answerPress(bot, pressed, { id, verb, value }),
  ).catch((error: unknown) => faultMessage(bot, error));
  if (answer) await reply(bot, pressed, answer);
}

/** The Home tab has no response URL, and its content may be out of date after a click. */
async function reply(bot: SlackContext, pressed: Pressed, answer: Message): Promise<void> {
  const { response_url: url, user } = pressed;
  if (url) return bot.respond(url, { ...answer, replace: false });
  await postEphemeral(bot.clients.posts, user.id, NO_REPLY_TARGET, answer);
  if (isHome(pressed)) await showHome(bot.context, user.id);
}

function isHome({ view }: Pressed): boolean {
  return view?.type === 'home';
}

function isForm({ commands }: SlackContext, id: string): boolean {
  return commandByCallbackId(commands, id) !== undefined;
}

/** Redraws a form, because a choice can show or hide other fields. */
async function redraw(bot: SlackContext, view: NonNullable<Pressed['view']>): Promise<void> {
  const command = commandByCallbackId(bot.commands, view.callback_id);
  if (!command) return;
  const { spot, fixed } = settingOf(view.private_metadata);
  const given = { ...givenOf({ view }), ...fixed };
  const open = { spot, view_id: view.id, ...(view.hash ? { hash: view.hash } : {}) };
  await redrawForm(bot, command, given, open);
}

async function decide(
  bot: SlackContext,
  pressed: Pressed,
  { verb, value }: { verb: Verb; value: string },
  ack: Ack,
): Promise<void> {
  const change = ChangeOf.safeParse(value);
  if (!change.success) return ack();
  const by = pressed.user.id;
  const replyTo = replyToOf(pressed);
  const click = { verb, change: change.data, by, text: '', replyTo };
  const key = `click:${pressed.trigger_id}`;
  const receipt = await storeOrReply(bot, replyTo, () => receiveClick(bot.context, key, click));
  await ack();
  await goOn(bot, receipt, replyTo);
}

/** A click on an anomaly affects everyone, so it is stored before the acknowledgement too. */
async function decideIncident(
  bot: SlackContext,
  pressed: Pressed,
  { verb, value }: { verb: IncidentClick['verb']; value: string },
  ack: Ack,
): Promise<void> {
  const incident = IncidentOf.safeParse(value);
  if (!incident.success) return ack();
  const key = `press:${pressed.trigger_id}`;
  const press = { key, verb, id: incident.data, by: pressed.user.id };
  const replyTo = replyToOf(pressed);
  const receipt = await storeOrReply(bot, replyTo, () =>
    receiveIncidentClick(bot.context, press, replyTo),
  );
  await ack();
  await goOn(bot, receipt, replyTo);
}

function replyToOf(pressed: Pressed): ReplyTo {
  const { user, channel, container, response_url } = pressed;
  return {
    url: response_url ?? null,
    user: user.id,
    channel: channel?.id ?? null,
    replaces: container?.is_ephemeral === true,
    home: isHome(pressed),
  };
}

/** The response URL of an ephemeral message. */
function previewOf({ container, response_url: url }: Pressed): string | null {
  return container?.is_ephemeral === true && url ? url : null;
}

// An ephemeral message in a thread is shown only if the thread exists.
function threadOf({ container }: Pressed): string | null {
  return container?.thread_ts ?? null;
}

async function answerPress(
  bot: SlackContext,
  pressed: Pressed,
  { id, verb, value }: { id: string; verb: Verb | undefined; value: string },
): Promise<Message | null> {
  const by = pressed.user.id;
  const spot = { channel: pressed.channel?.id ?? null, thread: threadOf(pressed) };
  const typed: Typed = { noun: '', text: '', by, spot, trigger: pressed.trigger_id };
  if (id.startsWith('command.')) return runLine(bot, typed, value);
  if (id === 'incident.details') return showIncident(bot, typed, value);

  const change = ChangeOf.safeParse(value);
  if (!change.success) return sentenceMessage([OLD_BUTTON]);
  const about = { change: change.data, home: isHome(pressed), preview: previewOf(pressed) };
  if (verb && needsReasonForm(verb)) return ask(bot, typed, verb, about);
  if (id === 'change.edit') return edit(bot, typed, change.data);
  if (id === 'change.undo') return undo(bot, typed, change.data);
  if (id === 'change.take-back') return revertNow(bot, typed, change.data);
  if (id === 'change.reveal') return reveal(bot, typed, change.data);
  if (id === 'change.details') return details(bot, typed, change.data);
  return sentenceMessage([OLD_BUTTON]);
}

/** Runs the command line of a button as the user who pressed it. */
async function runLine(bot: SlackContext, typed: Typed, line: string): Promise<Message | null> {
  const [noun = '', ...rest] = line.split(' ');
  return answerTyped(bot, { ...typed, noun, text: rest.join(' ') });
}

async function showIncident(
  { context, drawing }: SlackContext,
  { by }: Typed,
  id: string,
): Promise<Message> {
  const found = await context.incidents.details({ id, by });
  if (found.ok) return answerMessage(found.answer);
  return refusalMessage(found.denial, drawing);
}

async function ask(
  bot: SlackContext,
  { by, trigger }: Typed,
  kind: ReasonFormKind,
  { change, ...from }: ReasonFormMetadata,
): Promise<Message | null> {
  const authorized = await authorizePress(bot.context, change, { verb: kind, by });
  if (!authorized.ok) return refusalMessage(authorized.denial, bot.drawing);
  const view = reasonForm(kind, authorized.change, from);
  await bot.clients.views.views.open({ trigger_id: trigger, view });
  return null;
}

async function edit(bot: SlackContext, typed: Typed, id: ChangeId): Promise<Message | null> {
  const authorized = await authorizeRequester(bot.context, id, typed.by);
  if (!authorized.ok) return refusalMessage(authorized.denial, bot.drawing);
  const draft = authorized.change;
  const command = bot.context.commands.get(draft.command);
  if (!command) return refusalMessage(createDenial('not-found'), bot.drawing);
  const given = { ...textOf(draft.plan.args), reason: draft.reason ?? '' };
  const spot = { ...typed.spot, edits: draft.id };
  return openForm(bot, { ...typed, spot }, command, given);
}

function textOf(args: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(args).map(([name, value]) => [name, String(value)]));
}

/** The full request in private, for its requester and for those who may request or approve it. */
async function details(bot: SlackContext, { by }: Typed, id: ChangeId): Promise<Message | null> {
  const authorized = await authorizeDetails(bot.context, id, by);
  return authorized.ok
    ? fullPlan(authorized.change)
    : refusalMessage(authorized.denial, bot.drawing);
}
