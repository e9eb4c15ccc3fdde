import { newRequest, requestNow } from '../../base/log.ts';
import type { UserId } from '../../domain/change.ts';
import { createDenial } from '../../domain/gate.ts';
import type { ReplyTo } from '../../workflow/clicks.ts';
import { countCommand } from '../../workflow/limits/command-rate.ts';
import { isHandled, type Receipt } from '../../workflow/review/click-intake.ts';
import { sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { refusalMessage } from '../cards/refusals.ts';
import { errorMessage } from '../outbound/error-message.ts';
import type { ReplyTarget } from '../outbound/post.ts';
import { replaceNotice, showNotice } from '../progress/notice.ts';
import { withProgress } from '../progress/progress.ts';
import type { SlackContext } from '../slack-context.ts';

const denial = createDenial('rate-limited');

interface Request {
  readonly by: UserId;
  /** The noun of what the answer reads, for example `cost`; null if it reads nothing. */
  readonly reads: () => string | null;
  readonly replyTarget: ReplyTarget;
  /** Shows the answer where the user asked. */
  readonly send: (answer: Message) => Promise<void>;
  /** Shows the answer in place of an earlier message; false if it does not belong there. */
  readonly inPlace?: (answer: Message) => Promise<boolean>;
  /** Aborts when the user should see a notice; 2 s after the call without it. */
  readonly late?: AbortSignal;
}

/**
 * Answers a request. An answer that takes more than 2 s is preceded by a notice, which it replaces
 * in direct messages. Returns false when there was nothing to show, for example for an open form.
 */
export async function sendAnswer(
  bot: SlackContext,
  { by, reads, replyTarget, send, inPlace, late }: Request,
  work: () => Promise<Message | null>,
): Promise<boolean> {
  const { clock, log, clients } = bot;
  const posting = { posts: clients.posts, log };
  const show = () => showNotice(posting, { user: by, replyTarget, send }, progressMessage(reads()));
  const { result: answer, notice } = await withProgress({ clock, log, show, late }, () =>
    withinRateLimit(bot, by, work).catch((error: unknown) => faultMessage(bot, error)),
  );
  const isShown = answer !== null && (await inPlace?.(answer)) === true;
  const rest = isShown ? null : answer;
  const replaced = notice && (await replaceNotice(posting, notice, rest ?? DONE));
  if (rest && !replaced) await send(rest);
  return answer !== null;
}

/** Replaces the notice when the result is shown elsewhere, for example in a form. */
const DONE = sentenceMessage(['Done.']);

function progressMessage(noun: string | null): Message {
  return sentenceMessage([noun === null ? 'Preparing the answer…' : `Reading ${noun}s…`]);
}

/** Answers unless the user exceeds the rate limit, which the first limited request reports. */
async function withinRateLimit(
  bot: SlackContext,
  by: UserId,
  answer: () => Promise<Message | null>,
): Promise<Message | null> {
  const status = await countCommand(bot.context, by);
  if (status === 'ok') return answer();
  return status === 'limited' ? refusalMessage(denial, bot.drawing) : null;
}

/** After the acknowledgement: starts the work of a stored click, or reports the rate limit. */
export async function handleReceipt(
  { context }: SlackContext,
  receipt: Receipt,
  click: { readonly key: string; readonly replyTo: ReplyTo },
): Promise<void> {
  if (receipt === 'muted') return;
  if (receipt === 'limited') {
    const refused = { ok: false, denial } as const;
    const { key, replyTo } = click;
    return context.messenger.answerIncidentClick(replyTo, refused, { key, at: context.now() });
  }
  if (receipt === 'ok') {
    context.messenger.expectAnswer(click, () => isHandled(context, click.key));
  }
  context.wake();
}

/** The server's error, or a reference that finds an internal error in the log. */
export function faultMessage(bot: SlackContext, error: unknown): Message {
  const known = errorMessage(error);
  if (known) return known;
  const ref = requestNow() ?? newRequest();
  bot.log.error({ err: error, request: ref }, 'internal error reported to a user');
  return sentenceMessage([`Signalbox had an internal error. Nothing was changed (ref ${ref}).`]);
}
