import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import type { Refusal } from '../../domain/change.ts';
import { type Change, type ChannelId, isEnded } from '../../domain/change.ts';
import type { Denial } from '../../domain/gate.ts';
import type { ClickOutcome, ReplyTo } from '../../workflow/clicks.ts';
import type { Messenger } from '../../workflow/messenger-port.ts';
import { answerMessage, sentenceMessage } from '../blocks/answer-blocks.ts';
import type { Message } from '../blocks/blocks.ts';
import { openCard } from '../cards/card-link.ts';
import type { DrawContext } from '../cards/draw-context.ts';
import { neededText } from '../cards/naming.ts';
import { answeredPreview } from '../cards/preview.ts';
import { refusalMessage } from '../cards/refusals.ts';
import { recordedLine } from '../cards/thread-line.ts';
import type { Permalinks } from '../links/permalinks.ts';
import type { createPreviewLinks } from '../links/preview-links.ts';
import type { ClickNotices } from '../progress/click-notices.ts';
import { replaceNotice } from '../progress/notice.ts';
import { postMessage } from './post.ts';
import { replacePrivate } from './replace-private.ts';
import type { Respond } from './response-url.ts';

interface Options {
  readonly posts: WebClient;
  readonly respond: Respond;
  readonly drawing: DrawContext;
  readonly permalinks: Permalinks;
  readonly previews: ReturnType<typeof createPreviewLinks>;
  readonly notices: ClickNotices;
  readonly cardChannel: (change: Change) => string | null;
  readonly log: Logger;
}

type Answer = Message & { readonly replace: boolean };

/** After these refusals the same button may work later, so its preview stays. */
const RETRYABLE: readonly Refusal[] = ['lookup-failed', 'already-received'];

/** A second click on the requester's own preview is answered like the first. */
function requestedBefore({ user, replaces }: ReplyTo, { refusal, change }: Denial) {
  return replaces && refusal === 'not-draft' && change?.requester === user ? change : null;
}

/** The private answers to stored clicks. */
export function clickAnswers(
  options: Options,
): Pick<Messenger, 'answerClick' | 'answerIncidentClick'> {
  const { posts, respond, drawing, permalinks, previews, notices, cardChannel, log } = options;

  async function answerAt(replyTo: ReplyTo, answer: Answer): Promise<void> {
    const { url, user, ts, thread } = replyTo;
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

  function answerTo(replyTo: ReplyTo, clicked: ClickOutcome): Answer | null {
    const { replaces } = replyTo;
    // Nothing that the user sees changes with a snooze, so that it needs an answer.
    if (clicked.ok && clicked.verb === 'snooze') return resultOf(clicked);
    if (clicked.ok) return replaces ? replacePreview(clicked.change) : progressOf(replyTo, clicked);
    const requested = requestedBefore(replyTo, clicked.denial);
    if (requested) return replacePreview(requested);
    const replace = replaces && !RETRYABLE.includes(clicked.denial.refusal);
    return { ...refusalMessage(clicked.denial, drawing), replace };
  }

  /** The card shows the approval to all in the same way, so that it does not confirm the click. */
  function progressOf({ home }: ReplyTo, { verb, change }: ClickOutcome & { ok: true }) {
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
  function resultOf(clicked: ClickOutcome): Answer {
    const message = clicked.ok
      ? sentenceMessage(recordedLine(clicked, drawing))
      : refusalMessage(clicked.denial, drawing);
    return { ...message, replace: false };
  }

  const answerAtNotice = async (
    replyTo: ReplyTo,
    { notice }: Awaited<ReturnType<ClickNotices['end']>>,
    answer: Answer,
  ) => {
    if (notice && (await replaceNotice({ posts, log }, notice, answer))) return;
    await answerOrMessage(replyTo, answer);
  };

  return {
    answerClick: async (replyTo, clicked, click) => {
      const ended = await notices.end(click);
      const { change } = clicked.ok ? clicked : clicked.denial;
      if ((replyTo.replaces || ended.isLate) && change) await permalinks.load([change.card]);
      const answer = answerTo(replyTo, clicked);
      const replaced = answer?.replace ? answerOrMessage(replyTo, answer) : Promise.resolve();
      if (change && !change.card && !isEnded(change) && answer?.replace) {
        addLink(replyTo, change, replaced);
      }
      const rest = ended.isLate ? resultOf(clicked) : answer?.replace ? null : answer;
      await Promise.all([replaced, rest && answerAtNotice(replyTo, ended, rest)]);
    },
    answerIncidentClick: async (replyTo, clicked, click) => {
      const ended = await notices.end(click);
      const answer = clicked.ok
        ? answerMessage(clicked.answer)
        : refusalMessage(clicked.denial, drawing);
      await answerAtNotice(replyTo, ended, { ...answer, replace: false });
    },
  };
}
