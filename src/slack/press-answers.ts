import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Clock } from '../base/time.ts';
import { type Change, type ChannelId, isEnded, type Refusal } from '../domain/change.ts';
import type { Denial } from '../domain/gate.ts';
import type { Messenger, PressOutcome, ReceivedPress, ReplyTo } from '../workflow/index.ts';
import { answerMessage, sentenceMessage } from './answer.ts';
import type { Respond } from './api.ts';
import { lines, type Message, message } from './blocks.ts';
import { narrowingLines } from './card-plan.ts';
import { recordedLine } from './card-thread.ts';
import { type createPreviewLinks, loadNewest, openCard, type Permalinks } from './links.ts';
import { type DrawContext, neededText } from './naming.ts';
import { type Places, withPlaces } from './place.ts';
import { postMessage, replacePrivate } from './post.ts';
import { answeredPreview } from './preview.ts';
import {
  type Finished,
  PROGRESS_AFTER_MS,
  replaceNotice,
  replyPrivately,
  showNotice,
  withProgress,
} from './private-answers.ts';
import { refusalMessage } from './refusals.ts';

const CHECKING = sentenceMessage(['Checking your permission…']);
const KEPT = sentenceMessage([
  'Signalbox is no longer installed in this workspace. Your press is kept for 15 minutes.',
]);
const WAITING_MAX = 1_000;

interface NoticeOptions {
  readonly posts: WebClient;
  readonly respond: Respond;
  readonly clock: Clock;
  readonly now: () => Date;
  readonly log: Logger;
  readonly drawing: Pick<DrawContext, 'isLost'>;
}

type Notice = Pick<Finished<void>, 'isLate' | 'notice'>;

/**
 * The notices of stored presses. The process that received a press shows its notice; another process
 * may handle the press, and then sends its result as a new message.
 * Source: docs/slack.md#private-messages.
 */
export function createPressNotices(options: NoticeOptions) {
  const { posts, respond, clock, now, log, drawing } = options;
  const waiting = new Map<string, () => Promise<Notice>>();

  const add = (key: string, end: () => Promise<Notice>) => {
    waiting.set(key, end);
    const [oldest] = waiting.keys();
    if (waiting.size > WAITING_MAX && oldest !== undefined) waiting.delete(oldest);
  };

  return {
    expect: (key: string, replyTo: ReplyTo, isHandled: () => Promise<boolean>): void => {
      const handled = Promise.withResolvers<void>();
      const { url, user, thread } = replyTo;
      const replyTarget = { channel: replyTo.channel as ChannelId | null, thread };
      const reply = { respond, clients: { posts }, log };
      const send = (message: Message) => replyPrivately(reply, { url, user, replyTarget }, message);
      const show = async () => {
        // While the database does not answer, the press cannot have been handled.
        if (!(await isHandled().catch(() => false)))
          return showNotice(
            { posts, log },
            { user, replyTarget, send },
            drawing.isLost() ? KEPT : CHECKING,
          );
        waiting.delete(key);
        return null;
      };
      const finished = withProgress({ clock, log, show }, () => handled.promise);
      add(key, () => {
        handled.resolve();
        return finished;
      });
    },
    /** Ends the wait for a press: whether its user waits for a result, and the notice to replace. */
    end: async ({ key, at }: Pick<ReceivedPress, 'key' | 'at'>): Promise<Notice> => {
      const end = waiting.get(key);
      waiting.delete(key);
      const isLate = now().getTime() - at.getTime() >= PROGRESS_AFTER_MS;
      return end ? end() : { isLate, notice: null };
    },
  };
}

interface AnswerOptions extends Pick<NoticeOptions, 'posts' | 'respond' | 'log'> {
  readonly drawing: DrawContext;
  readonly places: Places;
  readonly permalinks: Permalinks;
  readonly previews: ReturnType<typeof createPreviewLinks>;
  readonly notices: ReturnType<typeof createPressNotices>;
  readonly cardChannel: (change: Change) => string | null;
}

type Answer = Message & { readonly replace: boolean };

/** After these refusals the same button may work later, so its preview stays. */
const RETRYABLE: readonly Refusal[] = [
  ...(['lookup-failed', 'already-received', 'frozen', 'not-verified'] as const),
];

/** A second press on the requester's own preview is answered like the first. */
function requestedBefore({ user, replaces }: ReplyTo, { refusal, change }: Denial) {
  return replaces && refusal === 'not-draft' && change?.requester === user ? change : null;
}

/** The private answers to stored presses. */
export function pressAnswers(
  options: AnswerOptions,
): Pick<Messenger, 'answerPress' | 'answerIncidentPress'> {
  const { posts, respond, drawing, places, permalinks, previews, notices, cardChannel, log } =
    options;

  async function answerAt(replyTo: ReplyTo, unsigned: Answer): Promise<void> {
    const { url, user, ts, thread } = replyTo;
    const blocks = withPlaces(places, unsigned.blocks, { user, kind: 'private' });
    const answer = { ...unsigned, blocks };
    const channel = replyTo.channel as ChannelId | null;
    if (answer.replace) return replacePrivate({ posts, respond }, { url, channel, ts }, answer);
    if (url) return respond(url, { ...answer, thread });
    await postMessage(posts, user, answer);
  }

  // A response URL expires after 30 minutes or five uses, and a form can stay open for longer.
  async function answerOrMessage(replyTo: ReplyTo, answer: Answer): Promise<void> {
    await answerAt(replyTo, answer).catch(async (cause: unknown) => {
      await postMessage(posts, replyTo.user, answer);
      throw new Error('The answer was sent as a direct message instead', { cause });
    });
  }

  function answerTo(replyTo: ReplyTo, pressed: PressOutcome): Answer | null {
    const { replaces } = replyTo;
    if (pressed.ok) return replaces ? replacePreview(pressed.change) : progressOf(replyTo, pressed);
    const requested = requestedBefore(replyTo, pressed.denial);
    if (requested) return replacePreview(requested);
    const replace = replaces && !RETRYABLE.includes(pressed.denial.refusal);
    return { ...refusalMessage(pressed.denial, drawing), replace };
  }

  /** The card shows the approval to all in the same way, so that it does not confirm the press. */
  function progressOf({ home }: ReplyTo, { verb, change, sawMore }: PressOutcome & { ok: true }) {
    if (sawMore) {
      const less = message(lines(['Approved, with less than you saw.'], ...narrowingLines(change)));
      return { ...less, replace: false };
    }
    if (home || verb !== 'approve' || change.state !== 'pending') return null;
    const words = sentenceMessage([`Approved. ${neededText(change, drawing)}`]);
    return { ...words, replace: false };
  }

  function replacePreview(change: Change): Answer {
    return { ...answeredPreview(change, cardChannel(change), drawing), replace: true };
  }

  /** Shows the link to the card in an answered preview as soon as the card is posted. */
  function addLink(replyTo: ReplyTo, change: Change, sent: Promise<void>): void {
    previews.add(change, async (posted) => {
      await Promise.allSettled([sent, permalinks.load([posted.card])]);
      if (openCard(posted, drawing.linkOf).length === 0) return;
      await answerAt(replyTo, replacePreview(posted));
    });
  }

  /** The result for a user who waits for it: the card alone would not answer the notice. */
  function resultOf(pressed: PressOutcome): Answer {
    const message = pressed.ok
      ? sentenceMessage(recordedLine(pressed, drawing))
      : refusalMessage(pressed.denial, drawing);
    return { ...message, replace: false };
  }

  const answerAtNotice = async (replyTo: ReplyTo, { notice }: Notice, answer: Answer) => {
    if (notice && (await replaceNotice({ posts, log }, notice, answer))) return;
    await answerOrMessage(replyTo, answer);
  };

  return {
    answerPress: async (press, pressed) => {
      const { replyTo } = press;
      const ended = await notices.end(press);
      const { change } = pressed.ok ? pressed : pressed.denial;
      if ((replyTo.replaces || ended.isLate) && change) await permalinks.load([change.card]);
      await loadNewest(permalinks, pressed.ok ? null : pressed.denial);
      const answer = answerTo(replyTo, pressed);
      const replaced = answer?.replace ? answerOrMessage(replyTo, answer) : Promise.resolve();
      if (change && !change.card && !isEnded(change) && answer?.replace) {
        addLink(replyTo, change, replaced);
      }
      const rest = ended.isLate ? resultOf(pressed) : answer?.replace ? null : answer;
      await Promise.all([replaced, rest && answerAtNotice(replyTo, ended, rest)]);
    },
    answerIncidentPress: async (press, pressed) => {
      const { replyTo } = press;
      const ended = await notices.end(press);
      const answer = pressed.ok
        ? answerMessage(pressed.answer)
        : refusalMessage(pressed.denial, drawing);
      await answerAtNotice(replyTo, ended, { ...answer, replace: false });
    },
  };
}
