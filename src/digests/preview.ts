import { previousMonth, type Span } from '../base/calendar.ts';
import { addDays, dayOf, localTime } from '../base/time.ts';
import { findDueSlot } from '../base/weekly-times.ts';
import type { Answer, AnswerPart } from '../domain/answer.ts';
import { textAnswer } from '../domain/answer.ts';
import { postChannel } from '../workflow/notify/post-once.ts';
import { composeDigest } from './compose.ts';
import type { DigestContext } from './digest-context.ts';
import { digestFacts, gatherDigestData } from './gather.ts';
import { readLastPosted } from './last-posted.ts';
import { type DigestPostOutcome, postComposed, postThreads, type ThreadPost } from './post.ts';
import { digestRecord } from './post-record.ts';
import { checkSchedule, scheduleOf } from './schedule.ts';

import type { DigestSubscription } from './subscriptions/subscriptions.ts';

/** The digest as of now; `hasNext`: whether it shows when the next one is due. */
async function composeNow(context: DigestContext, one: DigestSubscription, hasNext: boolean) {
  const now = context.now();
  const { db } = context.database;
  const data = await gatherDigestData(db, { ...context, services: context.services(), now });
  const lastPosted = await readLastPosted(db, one.key);
  const attention = await context.attention(one, data);
  const next = hasNext ? checkSchedule(one, now, null).next : null;
  const covers = coversNow(one, now);
  return composeDigest(digestFacts(one, { covers, next, lastPosted, attention }, data));
}

/** The days of a digest that is due now; on Mondays, a weekday digest covers the weekend. */
function coversNow(one: DigestSubscription, now: Date): Span {
  const schedule = scheduleOf(one);
  const yesterday = addDays(dayOf(now), -1);
  if (one.options.period === 'month') return previousMonth(dayOf(now));
  if (one.options.period === 'week') return { first: addDays(yesterday, -6), last: yesterday };
  const due = findDueSlot({ ...schedule, at: localTime(now, schedule.timezone) }, now, null);
  return due.state === 'due' ? due.slot.covers : { first: yesterday, last: yesterday };
}

/** Whether the previewed digest is scheduled. */
type PreviewStatus = 'scheduled' | 'paused' | 'not-added';

const NOT_SCHEDULED: Readonly<Record<PreviewStatus, readonly AnswerPart[]>> = {
  scheduled: [],
  paused: [{ kind: 'text', text: 'This digest is paused. Resume it to get posts.' }],
  'not-added': [
    { kind: 'text', text: 'No such digest exists yet. Add it to get posts.' },
    { kind: 'offers', offers: [{ label: 'Add a digest', line: 'cost digest add' }] },
  ],
};

/** The same digest as in the channel, only visible to the user who requests it. */
export async function previewDigest(
  context: DigestContext,
  one: DigestSubscription,
  status: PreviewStatus,
): Promise<Answer> {
  const { message, thread } = await composeNow(context, one, status === 'scheduled');
  const note = {
    kind: 'note',
    text: 'Preview: only visible to you. The figures and the table are posted into the thread.',
  } as const;
  const parts = [...message.parts, ...(thread?.parts ?? []), ...NOT_SCHEDULED[status], note];
  return { title: message.title, parts };
}

/** Posts a digest now, at most once per minute. */
export async function postDigestNow(
  context: DigestContext,
  one: DigestSubscription,
): Promise<Answer> {
  const found = (await context.messenger.findChannels([one.channel])).get(one.channel);
  const to = postChannel(found);
  if (!to.ok) return to.again ? outcomeAnswer('lookup-failed') : notPosted(`${to.why}.`);
  const { channel } = to;
  const composed = await composeNow(context, one, !one.paused);
  const record = digestRecord(context, one, {
    key: `${one.key}|now`,
    day: context.now().toISOString().slice(0, 16),
    channelName: `#${channel.name}`,
    figures: composed.lastPosted,
  });
  const threads: ThreadPost[] = [];
  const afterwards = (post: ThreadPost) => void threads.push(post);
  const outcome = await postComposed(context, { record, channel, composed, afterwards });
  await postThreads(context, threads);
  return outcomeAnswer(outcome);
}

const TEXTS: Readonly<Record<DigestPostOutcome, string>> = {
  posted: 'The scheduled one is still sent.',
  quiet: 'Nothing notable, so nothing was posted.',
  taken: 'It was posted less than a minute ago.',
  refused: 'Slack refused the message.',
  'rate-limited': 'Slack limits the messages of this channel. Try again in a minute.',
  unknown: 'Outcome unknown. Check the channel before you try again.',
  failed: 'Internal error of Signalbox.',
  'lookup-failed': 'Slack did not answer the channel lookup. Try again in a minute.',
};

function outcomeAnswer(outcome: DigestPostOutcome): Answer {
  return outcome === 'posted' ? textAnswer('Posted', TEXTS.posted) : notPosted(TEXTS[outcome]);
}

function notPosted(text: string): Answer {
  return textAnswer('Not posted', `${text.charAt(0).toUpperCase()}${text.slice(1)}`);
}
