import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { Cache } from '../base/cache.ts';
import type { Clock } from '../base/time.ts';
import { InlinePart } from '../domain/answer.ts';
import { type Change, isEnded, type Refusal } from '../domain/change.ts';
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
import { answeredPreview } from './preview.ts';
import {
  type Finished,
  PROGRESS_AFTER_MS,
  replaceShown,
  replyPrivately,
  showNotice,
  withProgress,
} from './private-answers.ts';
import { refusalLine, refusalMessage } from './refusals.ts';
import { mrkdwnOf, withoutLinks } from './rich-text.ts';

const CHECKING = sentenceMessage(['Checking your permission… Your press is kept for 15 minutes.']);
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
  const answering = { clients: { posts }, respond, log };
  const waiting = new Cache<string, () => Promise<Notice>>(WAITING_MAX);

  return {
    expect: (key: string, replyTo: ReplyTo, isHandled: () => Promise<boolean>): void => {
      const handled = Promise.withResolvers<void>();
      const show = async () => {
        // While the database does not answer, the press cannot have been handled.
        if (!(await isHandled().catch(() => false)))
          return showNotice(answering, replyTo, drawing.isLost() ? KEPT : CHECKING);
        waiting.delete(key);
        return null;
      };
      const finished = withProgress({ clock, log, show }, () => handled.promise);
      waiting.set(key, () => {
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

export interface PressOptions extends NoticeOptions {
  readonly drawing: DrawContext;
  readonly places: Places;
  readonly permalinks: Permalinks;
}

interface AnswerOptions extends PressOptions {
  readonly previews: ReturnType<typeof createPreviewLinks>;
  readonly notices: ReturnType<typeof createPressNotices>;
  readonly cardChannel: (change: Change) => string | null;
}

/** After these refusals the same button may work later, so its preview stays. */
const RETRYABLE: readonly Refusal[] = [
  ...(['lookup-failed', 'already-received', 'not-in-time', 'frozen', 'not-verified'] as const),
];

/** The private answers to stored presses. */
export function pressAnswers(
  options: AnswerOptions,
): Pick<Messenger, 'answerPress' | 'answerIncidentPress' | 'refusalLine'> {
  const { posts, respond, drawing, places, permalinks, previews, notices, cardChannel, log } =
    options;
  const answering = { clients: { posts }, respond, log };
  const denied = (denial: Denial) => refusalMessage(denial, drawing);
  const previewOf = (change: Change) => answeredPreview(change, cardChannel(change), drawing);

  const signed = ({ user }: ReplyTo, answer: Message): Message => {
    const blocks = withPlaces(places, answer.blocks, { user, kind: 'private' });
    return { ...answer, blocks };
  };

  // A response URL expires after 30 minutes or five uses, and a form can stay open for longer.
  async function reply(
    replyTo: ReplyTo,
    unsigned: Message,
    shown: Parameters<typeof replaceShown>[1],
  ): Promise<void> {
    const answer = signed(replyTo, unsigned);
    const isReplaced = await replaceShown(answering, shown, answer);
    // Without a response URL in direct messages, where the person finds it later.
    if (!isReplaced) await replyPrivately(answering, { ...replyTo, channel: null }, answer);
  }

  /** What the answered preview shows from now on; null where it stays. */
  function newPreview(replyTo: ReplyTo, pressed: PressOutcome): Message | null {
    if (!replyTo.replaces) return null;
    if (pressed.ok) return previewOf(pressed.change);
    const { denial } = pressed;
    const { refusal, change } = denial;
    // A second press on the requester's own preview is answered like the first.
    const isAgain = refusal === 'not-draft' && change?.requester === replyTo.user;
    if (isAgain) return previewOf(change);
    return RETRYABLE.includes(refusal) ? null : denied(denial);
  }

  /** The card shows the approval to all in the same way, so that it does not confirm the press. */
  function confirmation({ home }: ReplyTo, pressed: PressOutcome): Message | null {
    if (!pressed.ok) return denied(pressed.denial);
    const { verb, change, sawMore } = pressed;
    if (sawMore) {
      return message(lines(['Approved, with less than you saw.'], ...narrowingLines(change)));
    }
    if (home || verb !== 'approve' || change.state !== 'pending') return null;
    return sentenceMessage([`Approved. ${neededText(change, drawing)}`]);
  }

  /** Shows the link to the card in an answered preview as soon as the card is posted. */
  function addLink(replyTo: ReplyTo, change: Change, sent: Promise<void>): void {
    previews.add(change, async (posted) => {
      await Promise.allSettled([sent, permalinks.load([posted.card])]);
      if (openCard(posted, drawing.linkOf).length === 0) return;
      await replaceShown(answering, replyTo, signed(replyTo, previewOf(posted)));
    });
  }

  return {
    answerPress: async (press, pressed) => {
      const { replyTo } = press;
      const { isLate, notice } = await notices.end(press);
      const { change } = pressed.ok ? pressed : pressed.denial;
      if ((replyTo.replaces || isLate) && change) await permalinks.load([change.card]);
      await loadNewest(permalinks, pressed.ok ? null : pressed.denial);
      const shown = newPreview(replyTo, pressed);
      const replaced = shown ? reply(replyTo, shown, replyTo) : Promise.resolve();
      if (shown && change && !change.card && !isEnded(change)) addLink(replyTo, change, replaced);
      // A user who waits for the result: the card alone would not answer the notice.
      const recorded = isLate && pressed.ok && sentenceMessage(recordedLine(pressed, drawing));
      const rest = recorded || (isLate || !shown ? confirmation(replyTo, pressed) : null);
      await Promise.all([replaced, rest && reply(replyTo, rest, notice)]);
    },
    // Of a link, the log keeps the words.
    refusalLine: (denial) =>
      refusalLine(denial, drawing).map(
        (part) => InlinePart.safeParse(part).data ?? withoutLinks(mrkdwnOf([part])),
      ),
    answerIncidentPress: async (press, pressed) => {
      const { notice } = await notices.end(press);
      const answer = pressed.ok ? answerMessage(pressed.answer) : denied(pressed.denial);
      await reply(press.replyTo, answer, notice);
    },
  };
}
