import { once } from 'node:events';
import type { View, WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { ApiError, InvalidRequest } from '../base/errors.ts';
import { newRequest, requestNow } from '../base/log.ts';
import type { Clock } from '../base/time.ts';
import type { Position, UserId } from '../domain/change.ts';
import { createDenial } from '../domain/gate.ts';
import {
  countCommand,
  isHandled,
  type Receipt,
  type ReplyTo,
  storingProblem,
} from '../workflow/index.ts';
import { sentenceMessage } from './answer.ts';
import { isPassing, type Respond, refusedBySlack, retryAfterMs } from './api.ts';
import { fact, lines, type Message, message, title } from './blocks.ts';
import type { SlackContext } from './context.ts';
import type { PrivateMessage } from './payload.ts';
import { withPlaces } from './place.ts';
import { postEphemeral, postMessage, updateMessage } from './post.ts';
import { refusalMessage } from './refusals.ts';
import type { Line } from './rich-text.ts';

// The private answer to a command or press: its progress notice, its rate limit, and errors in words.

/** Who asked, and where. The URL is null where Slack gives none, for example on the Home tab. */
type Asked = Pick<ReplyTo, 'url' | 'user' | 'channel' | 'thread'>;

interface RequestAnswering {
  readonly asked: Asked;
  /** Shows the answer where the user asked; without it in private. */
  readonly send?: (answer: Message) => Promise<void>;
  /** An earlier message that the answer replaces, if it belongs there. */
  readonly inPlaceOf?: (answer: Message) => PrivateMessage | null | undefined;
  /** Aborts when the user should see a notice that the answer replaces; 2 s after the call without it. */
  readonly late?: AbortSignal;
}

/** Slack cannot replace a notice in a channel, so that only an unusually slow answer has one. */
const LASTING_NOTICE_AFTER_MS = 8_000;

/**
 * Answers a request. An answer that takes more than 2 s is preceded by a notice, which it replaces
 * in direct messages. Returns false when there was nothing to show, for example for an open form.
 */
export async function sendAnswer(
  bot: SlackContext,
  { asked, send, inPlaceOf, late }: RequestAnswering,
  work: () => Promise<Message | null>,
): Promise<boolean> {
  const { user, channel } = asked;
  const show = () => showNotice(bot, asked, PREPARING);
  const isReplaced = channel === null || channel.startsWith('D');
  const when = isReplaced ? { late } : { afterMs: LASTING_NOTICE_AFTER_MS };
  const { result, notice } = await withProgress({ ...bot, show, ...when }, () =>
    withinRateLimit(bot, user, work).catch((error: unknown) => faultMessage(bot, error)),
  );
  const to = { user, kind: 'private' } as const;
  const answer = result && { ...result, blocks: withPlaces(bot.places, result.blocks, to) };
  const isShown = answer && (await replaceShown(bot, inPlaceOf?.(answer), answer));
  const rest = isShown ? null : answer;
  const isReplacing = await replaceShown(bot, notice, rest ?? DONE);
  if (rest && !isReplacing) await (send ? send(rest) : replyPrivately(bot, asked, rest));
  return answer !== null;
}

const RATE_LIMITED = createDenial('rate-limited');

/** Answers unless the user exceeds the rate limit, which the first limited request reports. */
async function withinRateLimit(
  bot: SlackContext,
  by: UserId,
  answer: () => Promise<Message | null>,
): Promise<Message | null> {
  const status = await countCommand(bot.context, by);
  if (status === 'ok') return answer();
  return status === 'limited' ? refusalMessage(RATE_LIMITED, bot.drawing) : null;
}

const PREPARING = sentenceMessage(['Preparing the answer…']);
/** Replaces the notice when the result is shown elsewhere, for example in a form. */
const DONE = sentenceMessage(['Done.']);

/** After this time without an answer, the user sees what Signalbox is doing. */
export const PROGRESS_AFTER_MS = 2_000;

interface ProgressOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** Aborts when the user should see the notice; 2 s after the call without it. */
  readonly late?: AbortSignal | undefined;
  readonly afterMs?: number;
  /** Shows the notice; its position if the answer can replace it, else null. */
  readonly show: () => Promise<Position | null>;
}

export interface Finished<T> {
  readonly result: T;
  /** The user has seen the notice, or Slack refused it. */
  readonly isLate: boolean;
  /** Where the notice is that the answer replaces; null without such a notice. */
  readonly notice: Position | null;
}

/**
 * The result of the work, after a notice if the work takes more than 2 s. A notice that cannot be
 * shown does not change the result. Source: docs/slack.md#private-messages.
 */
export async function withProgress<T>(
  { clock, log, show, late, afterMs = PROGRESS_AFTER_MS }: ProgressOptions,
  work: () => Promise<T>,
): Promise<Finished<T>> {
  let shown: Promise<Position | null> | null = null;
  const notify = () => {
    shown = show().catch((error: unknown) => {
      log.warn({ err: error }, 'a progress notice was not shown');
      return null;
    });
  };
  const cancel = late ? whenAborted(late, notify) : clock.after(afterMs, notify);
  try {
    const result = await work();
    return { result, isLate: shown !== null, notice: await shown };
  } finally {
    cancel();
  }
}

/** Returns a function that removes the listener. */
function whenAborted(signal: AbortSignal, run: () => void): () => void {
  if (signal.aborted) run();
  else signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}

/** The result of the work; null if the signal aborts first. */
export async function orLate<T>(late: AbortSignal, work: Promise<T>): Promise<T | null> {
  if (late.aborted) return null;
  return Promise.race([work, once(late, 'abort').then(() => null)]);
}

interface Answering {
  readonly respond: Respond;
  readonly clients: { readonly posts: WebClient };
  readonly log: Logger;
}

/**
 * Shows a notice; returns its position if it can be replaced. Only a direct message of the app can: in
 * a channel the notice is ephemeral, and a direct message between two users gets a reply.
 */
export async function showNotice(
  answering: Answering,
  asked: Asked,
  notice: Message,
): Promise<Position | null> {
  const { user, channel, thread } = asked;
  const { posts } = answering.clients;
  if (channel === null) return postMessage(posts, user, notice);
  if (channel.startsWith('D')) {
    const posted = postMessage(posts, channel, notice, thread ?? undefined);
    const position = await posted.catch((error: unknown) => {
      answering.log.debug({ err: error }, 'a direct message without the app gets a reply');
      return null;
    });
    if (position) return position;
  }
  await replyPrivately(answering, asked, notice);
  return null;
}

/**
 * Replaces a notice, or what a person has just answered or edited: a direct message by its position, an ephemeral one by
 * its response URL, which is the only way. False if there is none, or Slack refused. Source: docs/slack.md#private-messages.
 */
export async function replaceShown(
  { clients, respond, log }: Answering,
  shown: (Omit<PrivateMessage, 'url'> & { readonly url?: string | null }) | null | undefined,
  answer: Message,
): Promise<boolean> {
  if (!shown) return false;
  const { url, channel, ts } = shown;
  try {
    if (channel && ts) await updateMessage(clients.posts, { channel, ts }, answer);
    else if (url) await respond(url, { ...answer, replace: true });
    else return false;
    return true;
  } catch (error) {
    log.warn({ err: error }, 'a private message could not be replaced');
    return false;
  }
}

/**
 * Answers privately by the response URL, in the thread of the interaction. Without one, and where Slack refuses it,
 * for example after five uses, the answer is an ephemeral message, else a direct message.
 * Source: docs/slack.md#timing.
 */
export async function replyPrivately(
  { respond, clients, log }: Answering,
  { url, user, channel, thread }: Asked,
  answer: Message,
): Promise<void> {
  const post = () => postEphemeral(clients.posts, user, { channel, thread }, answer);
  if (url === null) return post();
  await respond(url, { ...answer, replace: false, thread }).catch((error: unknown) => {
    log.warn({ why: String(error) }, 'the response URL failed: the answer is posted as a message');
    return post();
  });
}

const AGAIN = 'Try again in a minute.';

/**
 * Stores a press. When the database is unavailable, the error is thrown, so that the press is not
 * acknowledged and Slack marks it as failed; the explanation is sent without waiting for it.
 */
export async function storeOrReply(
  bot: SlackContext,
  replyTo: ReplyTo,
  store: (replyTo: ReplyTo) => Promise<Receipt>,
): Promise<Receipt> {
  try {
    return await store(replyTo);
  } catch (error) {
    const problem = storingProblem(error);
    if (problem !== null) {
      const notice = sentenceMessage([`${problem}, so your press was not recorded. ${AGAIN}`]);
      replyPrivately(bot, replyTo, notice).catch((failed: unknown) => {
        bot.log.warn({ err: failed }, 'a failed press could not be reported to the user');
      });
    }
    throw error;
  }
}

/**
 * After the acknowledgement: shows a notice if a stored press takes long, or reports the rate limit. The subject is the
 * change or the anomaly that it is about.
 */
export async function handleReceipt(
  { context }: SlackContext,
  receipt: Receipt,
  { key, subject, replyTo }: { key: string; subject: string; replyTo: ReplyTo },
): Promise<void> {
  if (receipt === 'muted') return;
  const { messenger, now } = context;
  const press = { key, at: now(), by: replyTo.user, replyTo };
  if (receipt === 'limited') {
    return messenger.answerIncidentPress(press, { ok: false, denial: RATE_LIMITED });
  }
  if (receipt === 'ok') messenger.expectAnswer(press, () => isHandled(context, subject, key));
}

/** The server's error, or a reference that finds an internal error in the log. */
function faultMessage(bot: SlackContext, error: unknown): Message {
  const known = errorMessage(error);
  if (notDoneText(error) !== null) bot.log.warn({ err: error }, 'nothing could be stored');
  if (known) return known;
  const ref = requestNow() ?? newRequest();
  bot.log.error({ err: error, request: ref }, 'internal error reported to a user');
  return sentenceMessage([`Signalbox had an internal error. Nothing was changed (ref ${ref}).`]);
}

/** Slack opens a form within 3 s after the interaction, and once, with two names for each error. */
const TOO_LATE = [
  ...['expired_trigger_id', 'trigger_expired'],
  ...['exchanged_trigger_id', 'trigger_exchanged'],
];

/** Slack did not open a form. Its message is for the user. */
class FormNotOpened extends Error {
  override readonly name = 'FormNotOpened';
}

/** Within the 3 s of a trigger, of which some have passed. */
const OPEN_AGAIN_WITHIN_MS = 1_200;
const OPEN_TRIES = 3;
const FORM_DEFECTS = ['invalid_arguments', 'invalid_blocks', 'view_too_large'];

/**
 * Opens a form, again after a passing error while its trigger is valid, and returns its id; null where it opened without
 * an answer. The user reads why it did not open; a refusal of the form itself is a defect.
 */
export async function openView(
  { clients, clock }: SlackContext,
  trigger: string,
  view: View,
): Promise<string | null> {
  const began = clock.now();
  for (let tries = 1, isUnsure = false; ; tries += 1) {
    try {
      const opened = await clients.views.views.open({ trigger_id: trigger, view });
      return opened.view?.id ?? null;
    } catch (cause) {
      const refused = refusedBySlack(cause);
      const isLate = TOO_LATE.includes(refused ?? '');
      // Only the try before can have used the trigger.
      if (isLate && isUnsure && refused !== TOO_LATE[0]) return null;
      if (FORM_DEFECTS.includes(refused ?? '')) throw cause;
      if (!isPassing(refused) && !isLate) throw notOpened(cause, false, refused);
      isUnsure ||= refused === null;
      const waitMs = againMs(cause, tries);
      const isInTime = clock.now() + waitMs - began < OPEN_AGAIN_WITHIN_MS;
      if (isLate || !isInTime || tries === OPEN_TRIES) throw notOpened(cause, isLate, refused);
      await clock.sleep(waitMs);
    }
  }
}

/** The same for a form that is redrawn, which needs its id. */
export async function openToRedraw(...form: Parameters<typeof openView>): Promise<string> {
  const id = await openView(...form);
  if (id === null) throw notOpened(null, false, null);
  return id;
}

function notOpened(cause: unknown, isLate: boolean, refused: string | null): FormNotOpened {
  const why =
    refused === null
      ? 'it did not answer'
      : isPassing(refused)
        ? 'it limits the rate of requests'
        : `it refused it (${refused})`;
  const words = isLate
    ? ' within 3 s. Nothing was changed. Try again.'
    : `: ${why}. ${IN_A_MINUTE}`;
  return new FormNotOpened(`Slack did not open the form${words}`, { cause });
}

const AGAIN_MS = 250;
/** A timer may end just before the time that Slack named. */
const MARGIN_MS = 50;

/** How long a person who waits for a form waits for the next try. */
export function againMs(error: unknown, tries: number): number {
  return (retryAfterMs(error) ?? tries * AGAIN_MS) + MARGIN_MS;
}

const IN_A_MINUTE = `Nothing was changed. ${AGAIN}`;

/** What a user reads while nothing can be stored; null for any other error. */
export function notDoneText(error: unknown): string | null {
  const problem = storingProblem(error);
  return problem && `${problem}, so nothing was done. ${AGAIN}`;
}

/** What a user reads after an API or database error, or without a form; null for any other error. */
export function errorMessage(error: unknown): Message | null {
  if (error instanceof FormNotOpened) return sentenceMessage([error.message]);
  if (error instanceof InvalidRequest) {
    const broken = error.problems.map(({ field, problem }) => `${field} ${problem}`).join('; ');
    return sentenceMessage([`Signalbox did not send the request: ${broken}.`]);
  }
  if (!(error instanceof ApiError)) {
    const notDone = notDoneText(error);
    return notDone === null ? null : sentenceMessage([notDone]);
  }
  const { status, serverText, requestId, kind, sentence } = error;
  if (kind === 'wrong-address') {
    const wrong = 'The configured address does not respond like the API. Check the configuration.';
    return sentenceMessage([wrong]);
  }
  const missing = missingObject(error);
  const response = [status, serverText].filter((part) => part !== null).join(' ');
  // Without a readable response only the kind of error is known, and the status if it is an error.
  const isError = status !== null && status >= 400;
  const facts: readonly Line[] = [
    serverText === null ? [sentence] : fact('Server response', response),
    ...(serverText === null && isError ? [fact('Status', `${status}`)] : []),
    ...(requestId ? [fact('Request', requestId)] : []),
  ];
  if (missing) return message(title(missing.title), lines([missing.advice], ...facts));
  const advice = (kind !== 'foreign-answer' && ADVICE[status ?? 0]) || IN_A_MINUTE;
  return message(title('Request failed'), lines(...facts, [advice]));
}

/** What to do next, by HTTP status. */
const ADVICE: Readonly<Record<number, string>> = {
  400: 'The server rejected the request (see above).',
  401: 'The server rejected the API key. A Signalbox administrator can renew it.',
  403: 'The API key lacks the permission. A Signalbox administrator can grant it.',
  404: 'Not found: it may have expired, or it belongs to another service.',
  424: 'The service must be running. Signalbox does not start it automatically.',
  429: 'Too many requests were sent. Try again in a minute.',
};

/** What a 404 means, by operation. */
const MISSING: Readonly<Record<string, { title: string; advice: string }>> = {
  getAlert: { title: 'There is no such alert', advice: 'It may have been deleted.' },
  getBackup: {
    title: 'There is no such backup',
    advice: 'It may have expired, or it belongs to another service.',
  },
  // A pipe that works well can have no settings.
  getPipeSettings: {
    title: 'This pipe has no settings',
    advice:
      'Pipes that copy a database have none. Any other pipe was deleted or belongs to another service.',
  },
};

/** The object that the server does not have; null for any other error. */
export function missingObject(error: unknown) {
  if (!(error instanceof ApiError) || error.status !== 404 || error.kind !== 'answer') return null;
  return MISSING[error.operation] ?? null;
}
