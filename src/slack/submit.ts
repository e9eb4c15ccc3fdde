import type { View } from '@slack/web-api';
import type { FieldProblem } from '../base/errors.ts';
import {
  type Command,
  fieldContext,
  hasField,
  type Intent,
  type ParseResult,
  parseProblemOf,
  parseValues,
  type TypedValues,
  type Vocabulary,
} from '../commands/index.ts';
import { VERBS } from '../domain/change.ts';
import { authorizeForm, formProblem, receivePress } from '../workflow/index.ts';
import { sentenceMessage } from './answer.ts';
import type { Message } from './blocks.ts';
import { isPreview } from './card.ts';
import type { CommandLine, SlackContext } from './context.ts';
import { changedIn, changedSoFar, commandByCallbackId, settingOf } from './form.ts';
import { listOfChosenPipe, namedKinds, vocabularyWith } from './form-lists.ts';
import { formlessTrigger, openForm, ownForm } from './open-form.ts';
import { type FormSubmission, givenOf } from './payload.ts';
import { pressKey } from './press.ts';
import {
  handleReceipt,
  notDoneText,
  orLate,
  PROGRESS_AFTER_MS,
  sendAnswer,
} from './private-answers.ts';
import { readReasonFormMetadata, reasonProblem } from './reason-form.ts';
import { lateSentence } from './refusals.ts';
import { answerIntent, answerRefusal, personalWords } from './typed.ts';

type Errors = Readonly<Record<string, string>>;
type Response =
  | { response_action: 'errors'; errors: Errors }
  | { response_action: 'update'; view: View };
type Ack = (response?: Response) => Promise<void>;

/** Routes a submitted modal: the reason of a decision, or the fields of a command. */
export async function submit(
  bot: SlackContext,
  submitted: FormSubmission,
  ack: Ack,
): Promise<void> {
  const id = submitted.view.callback_id;
  const verb = VERBS.find((each) => `change.${each}` === id);
  if (verb) return decide(bot, submitted, verb, ack);
  const command = commandByCallbackId(bot.commands, id);
  if (!command) return ack();

  const form = { submitted, command, setting: settingOf(submitted.view.private_metadata) };
  const request = { commands: [command.name], by: submitted.user.id };
  // Slack shows an error and keeps the form if the acknowledgement takes more than 3 s.
  const late = bot.clock.timeout(PROGRESS_AFTER_MS);
  const authorized = await orLate(late, authorizeForm(bot.context, { ...request, record: false }));
  if (!authorized?.ok) {
    await ack();
    return show(bot, form, late, async (typed) => {
      const again = await authorizeForm(bot.context, { ...request, record: true });
      return again.ok ? answerLate(bot, typed, form) : answerRefusal(bot, again.denial);
    });
  }
  const understood = await readForm(bot, form);
  const problems = problemsIn(bot, understood);
  const shown = Object.keys(submitted.view.state.values);
  const isLacking = problems.some(({ field }) => field !== ANY && !shown.includes(field));
  // A choice shows further fields, and its redrawing can be lost or late.
  if (isLacking && !form.setting.fixed.alert) {
    const whole = { ...form.setting, line: [LACKING], isRedrawn: true };
    const view = ownForm(bot, command, changedSoFar(command, submitted.view), whole);
    return ack({ response_action: 'update', view });
  }
  if (problems.length > 0 || understood.kind !== 'intent') {
    return ack(errorsUnder(submitted, problems));
  }
  await ack();
  return show(bot, form, late, (typed) => answerAgain(bot, typed, understood, form.setting.fixed));
}

const LACKING = 'The form lacked fields that your choices need. Fill them, then submit it again.';

/** Each problem under its field; one that belongs to none under the first. */
function errorsUnder({ view }: FormSubmission, problems: readonly FieldProblem[]): Response {
  const shown = Object.keys(view.state.values);
  const [first = 'reason'] = shown;
  const under = (field: string) => (shown.includes(field) ? field : first);
  const errors = problems.map(({ field, problem }) => [under(field), problem] as const);
  return { response_action: 'errors', errors: Object.fromEntries(errors) };
}

interface SubmittedForm {
  readonly submitted: FormSubmission;
  readonly command: Command;
  readonly setting: ReturnType<typeof settingOf>;
}

async function readForm(
  bot: SlackContext,
  { submitted, command, setting }: SubmittedForm,
): Promise<ParseResult> {
  const { reason = '', ...shown } = givenOf(submitted);
  const inputs = Object.keys(submitted.view.state.values);
  const filled = changedIn(command, shown, { inputs, was: setting.was });
  // A form reads what a line reads, for example `monday 8:00`.
  const personal = await personalWords(bot, submitted.user.id, '');
  // An alert is read when it was chosen.
  const kinds = namedKinds(command).filter((kind) => kind !== 'alert');
  const known = { ...(await vocabularyWith(bot, kinds)), ...personal };
  const { alert } = setting.fixed;
  // The alert of a form is known by id only, until its name is read again.
  const alerts = alert ? [{ id: alert, name: alert, aliases: [] }] : known.alerts;
  const vocabulary = { ...known, alerts };
  const given = applying(command, { ...filled, ...setting.fixed }, vocabulary);
  const lists = await listOfChosenPipe(bot, { command, given, by: submitted.user.id });
  return parseValues(command, given, reason, { ...vocabulary, lists });
}

/** The answer to a form that is closed already, so that a button opens it again for a correction. */
async function answerLate(
  bot: SlackContext,
  typed: CommandLine,
  form: SubmittedForm,
): Promise<Message | null> {
  const understood = await readForm(bot, form);
  const formless = { ...typed, trigger: formlessTrigger(typed.trigger) };
  if (understood.kind === 'intent') {
    return answerAgain(bot, formless, understood, form.setting.fixed);
  }
  const given = { reason: '', ...changedSoFar(form.command, form.submitted.view) };
  const correction = understood.kind === 'misread' ? { line: [understood.sentence] } : {};
  return openForm(bot, formless, form.command, given, correction);
}

/** Drops values of fields that another choice has hidden. */
function applying(command: Command, given: TypedValues, vocabulary: Vocabulary): TypedValues {
  const among = fieldContext(vocabulary, given);
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => hasField(command, name, among)),
  );
}

async function answerAgain(
  bot: SlackContext,
  typed: CommandLine,
  intent: Intent,
  fixed: TypedValues,
): Promise<Message | null> {
  if (!fixed.alert) return answerIntent(bot, typed, intent);
  const { command, given, reason } = intent;
  const again = parseValues(command, given, reason ?? '', await vocabularyWith(bot, ['alert']));
  if (again.kind === 'intent') return answerIntent(bot, typed, again);
  return sentenceMessage([
    again.kind === 'misread' ? again.sentence : 'A required field is missing.',
  ]);
}

/** The field of a problem that belongs to none. */
const ANY = '';

/** The problems of a form by field; none when it is valid. */
function problemsIn(bot: SlackContext, understood: ParseResult): readonly FieldProblem[] {
  const { context } = bot;
  if (understood.kind === 'incomplete') {
    return understood.missing.map(({ name: field, label }) => ({
      field,
      problem: `${label} is required.`,
    }));
  }
  if (understood.kind === 'misread') {
    const found = Object.entries(understood.problems);
    if (found.length === 0) return [{ field: ANY, problem: understood.sentence }];
    return found.map(([field, problem]) => ({ field, problem }));
  }
  if (understood.kind !== 'intent' || understood.command.kind === 'query') return [];
  const { command, given, args } = understood;
  const commandContext = context.commandContext();
  // Problems that need a fresh read of the target are reported in the answer.
  const found = command.problems?.(args, null, commandContext) ?? [];
  const reason = reasonProblem(bot, understood);
  const problems = [...found, ...(reason ? [reason] : [])];
  if (problems.length === 0) return [];
  const among = fieldContext(commandContext, given);
  const asked = { command, given, reason: understood.reason ?? '' };
  return problemsIn(bot, parseProblemOf(asked, problems, among));
}

async function decide(
  bot: SlackContext,
  submitted: FormSubmission,
  verb: (typeof VERBS)[number],
  ack: Ack,
): Promise<void> {
  const { view, user, trigger_id } = submitted;
  const form = { kind: verb, by: user.id };
  const about = readReasonFormMetadata(bot.places, form, view.private_metadata);
  if (!about) return ack();
  const { reason = '', ...given } = givenOf(submitted);
  // The form stays open and keeps what was filled in.
  const refuse = (problems: readonly FieldProblem[]) => ack(errorsUnder(submitted, problems));
  const refuseWhole = (problem: string) => refuse([{ field: ANY, problem }]);
  const isLess = verb === 'narrow';
  const text = reason.trim();
  if (!isLess && text === '') {
    return refuseWhole('Add a few words: the next person relies on them.');
  }
  const { home, preview } = about;
  const shown = preview ?? { url: null, channel: null, ts: null };
  const replyTo = { ...shown, thread: null, user: user.id, replaces: preview !== null, home };
  const { change, place, seen } = about;
  const key = pressKey(trigger_id);
  const by = user.id;
  const pressed = { key, verb, change, by, text, place, seen, replyTo, ...(isLess && { given }) };
  // What cannot be read now is reported when the stored press is handled.
  const problem = await orLate(
    bot.clock.timeout(PROGRESS_AFTER_MS),
    formProblem(bot.context, pressed),
  ).catch(() => null);
  if (problem && typeof problem !== 'string') return refuse(problem);
  const receipt = await receivePress(bot.context, pressed).catch((error: unknown) => {
    const why = notDoneText(error);
    if (why === null) throw error;
    return { why };
  });
  if (typeof receipt === 'object') return refuseWhole(receipt.why);
  // The press is stored all the same, which records its refusal.
  await (problem ? refuseWhole(lateSentence(problem)) : ack());
  await handleReceipt(bot, receipt, { key, subject: change, replyTo });
}

/**
 * Answers privately where the modal was opened, because a submission has no response URL. The preview
 * of an edited draft replaces the old one.
 */
async function show(
  bot: SlackContext,
  { submitted: { user, trigger_id }, setting: { replyTarget } }: SubmittedForm,
  late: AbortSignal,
  answer: (typed: CommandLine) => Promise<Message | null>,
): Promise<void> {
  const typed: CommandLine = { noun: '', text: '', by: user.id, replyTarget, trigger: trigger_id };
  const asked = { ...replyTarget, user: user.id, url: null };
  const inPlaceOf = (shown: Message) => (isPreview(shown) ? replyTarget.replaces : null);
  await sendAnswer(bot, { asked, inPlaceOf, late }, () => answer(typed));
}
