import type { FieldProblem } from '../../errors.ts';
import type { TypedValues } from '../../intent/arguments/arguments.ts';
import type { Command } from '../../intent/define.ts';
import { hasField, parseValues } from '../../intent/parse/complete.ts';
import type { Intent, ParseResult, Vocabulary } from '../../intent/parse/understood.ts';
import { VERBS } from '../../workflow/clicks.ts';
import { isDatabaseUnavailable } from '../../workflow/limits/database-unavailable.ts';
import { receiveClick } from '../../workflow/review/click.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { changedIn, commandByCallbackId, settingOf } from '../forms/form.ts';
import { readReasonFormMetadata } from '../forms/reason-form.ts';
import { formVocabulary, fullVocabulary } from '../forms/vocabulary.ts';
import { postEphemeral, type ReplyTarget } from '../outbound/post.ts';
import type { SlackContext } from '../slack-context.ts';
import { givenOf, type Submitted } from './payload.ts';
import { goOn, withinRateLimit } from './rate-limit-reply.ts';
import { DATABASE_AWAY } from './store-or-reply.ts';
import type { Typed } from './typed.ts';
import { answerIntent, faultMessage } from './typed-command.ts';

type Errors = Readonly<Record<string, string>>;
type Ack = (response?: { response_action: 'errors'; errors: Errors }) => Promise<void>;

/** Routes a submitted modal: the reason of a decision, or the fields of a command. */
export async function submit(bot: SlackContext, submitted: Submitted, ack: Ack): Promise<void> {
  const id = submitted.view.callback_id;
  const verb = VERBS.find((each) => `change.${each}` === id);
  if (verb) return decide(bot, submitted, verb, ack);
  const command = commandByCallbackId(bot.commands, id);
  if (!command) return ack();

  const setting = settingOf(submitted.view.private_metadata);
  const { reason = '', ...shown } = givenOf(submitted);
  const filled = changedIn(shown, setting.was);
  const vocabulary = withFixed(await formVocabulary(bot, command), setting.fixed);
  const given = applying(command, { ...filled, ...setting.fixed }, vocabulary);
  const understood = parseValues(command, given, reason, vocabulary);
  const errors = errorsOf(bot, understood, Object.keys(submitted.view.state.values));
  if (errors || understood.kind !== 'intent') {
    return ack({ response_action: 'errors', errors: errors ?? {} });
  }
  await ack();
  return show(bot, submitted, setting.spot, (typed) =>
    answerAgain(bot, typed, understood, setting.fixed),
  );
}

// The alert of a form is known by id only, until its name is read again.
function withFixed(vocabulary: Vocabulary, { alert }: TypedValues): Vocabulary {
  return alert ? { ...vocabulary, alerts: [{ id: alert, name: alert, aliases: [] }] } : vocabulary;
}

/** Drops values of fields that another choice has hidden. */
function applying(command: Command, given: TypedValues, { organization }: Vocabulary): TypedValues {
  const among = { ...organization, given };
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => hasField(command, name, among)),
  );
}

async function answerAgain(
  bot: SlackContext,
  typed: Typed,
  intent: Intent,
  fixed: TypedValues,
): Promise<Message | null> {
  if (!fixed.alert) return answerIntent(bot, typed, intent);
  const { command, given, reason } = intent;
  const again = parseValues(command, given, reason ?? '', await fullVocabulary(bot));
  if (again.kind === 'intent') return answerIntent(bot, typed, again);
  return sentenceMessage([
    again.kind === 'misread' ? again.sentence : 'A required field is missing.',
  ]);
}

/** Error texts by field; null when the form is valid. */
function errorsOf(
  { context }: SlackContext,
  understood: ParseResult,
  shown: readonly string[],
): Errors | null {
  const [first = 'reason'] = shown;
  const under = (problems: readonly FieldProblem[]) =>
    Object.fromEntries(
      problems.map(({ field, problem }) => [shown.includes(field) ? field : first, problem]),
    );
  if (understood.kind === 'incomplete') {
    return under(understood.missing.map(({ name }) => ({ field: name, problem: 'Required' })));
  }
  if (understood.kind === 'misread') {
    const found = Object.entries(understood.problems);
    const problems = found.map(([field, problem]) => ({ field, problem }));
    return under(problems.length > 0 ? problems : [{ field: first, problem: understood.sentence }]);
  }
  if (understood.kind !== 'intent' || understood.command.kind === 'query') return null;
  // Problems that need a fresh read of the target are reported in the answer.
  const problems =
    understood.command.problems?.(understood.args, null, context.commandContext()) ?? [];
  return problems.length > 0 ? under(problems) : null;
}

async function decide(
  bot: SlackContext,
  submitted: Submitted,
  verb: (typeof VERBS)[number],
  ack: Ack,
): Promise<void> {
  const { view, user, trigger_id } = submitted;
  const about = readReasonFormMetadata(view.private_metadata);
  if (!about) return ack();
  const text = (givenOf(submitted).reason ?? '').trim();
  if (text === '') {
    const errors = { reason: 'Add a few words: the next person relies on them.' };
    return ack({ response_action: 'errors', errors });
  }
  const { home, preview: url } = about;
  const replyTo = { url, user: user.id, channel: null, replaces: url !== null, home };
  const click = { verb, change: about.change, by: user.id, text, replyTo };
  const receipt = await receiveClick(bot.context, `click:${trigger_id}`, click).catch(
    (error: unknown) => {
      if (isDatabaseUnavailable(error)) return null;
      throw error;
    },
  );
  // The form stays open and keeps its text.
  if (!receipt) return ack({ response_action: 'errors', errors: { reason: DATABASE_AWAY } });
  await ack();
  await goOn(bot, receipt, replyTo);
}

/** Answers privately where the modal was opened, because a submission has no response URL. */
async function show(
  bot: SlackContext,
  { user, trigger_id }: Submitted,
  spot: ReplyTarget,
  answer: (typed: Typed) => Promise<Message | null>,
): Promise<void> {
  const typed: Typed = { noun: '', text: '', by: user.id, spot, trigger: trigger_id };
  const shown = await withinRateLimit(bot, user.id, () => answer(typed)).catch((error: unknown) =>
    faultMessage(bot, error),
  );
  if (shown) await postEphemeral(bot.clients.posts, user.id, spot, shown);
}
