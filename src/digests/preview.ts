import type { Span } from '../costs/calendar/calendar.ts';
import { addMonths, startOf } from '../costs/calendar/calendar.ts';
import { addDays, dayOf } from '../costs/calendar/day.ts';
import { localTime } from '../costs/calendar/local-time.ts';
import { dueDigest } from '../costs/calendar/schedule.ts';
import type { Answer, AnswerPart } from '../intent/answers/answer.ts';
import { permitDigest } from '../storage/tables/digests.ts';
import { composeDigest } from './compose.ts';
import type { DigestContext } from './digest-context.ts';
import { digestFacts, gatherDigestData } from './gather.ts';
import { readLastPosted } from './last-posted.ts';
import { begin } from './permit.ts';
import { type Details, type DigestPostOutcome, postDetails, send, whyNot } from './post.ts';
import { checkSchedule, scheduleOf } from './schedule.ts';
import { textAnswer } from './subscriptions/listing.ts';
import type { DigestSubscription } from './subscriptions/subscriptions.ts';

/** The digest as it would be posted at this moment; `next` where its next time is of use. */
async function composeNow(context: DigestContext, one: DigestSubscription, hasNext: boolean) {
  const now = context.now();
  const { db } = context.database;
  const gathered = await gatherDigestData(db, {
    costs: context.costs,
    services: context.services(),
    now,
  });
  const lastPosted = await readLastPosted(db, one.key);
  const attention = await context.attention(one, gathered);
  const next = hasNext ? checkSchedule(one, now, null).next : null;
  return composeDigest(
    digestFacts(one, { covers: coversNow(one, now), next, lastPosted, attention }, gathered),
  );
}

/** As if its time were now: on a Monday the whole weekend, if it is posted on weekdays. */
function coversNow(one: DigestSubscription, now: Date): Span {
  const schedule = scheduleOf(one);
  const yesterday = addDays(dayOf(now), -1);
  if (one.options.period === 'month') {
    const first = startOf('month', dayOf(now));
    return { first: addMonths(first, -1), last: addDays(first, -1) };
  }
  if (one.options.period === 'week') return { first: addDays(yesterday, -6), last: yesterday };
  const due = dueDigest({ ...schedule, at: localTime(now, schedule.timezone) }, now, null);
  return due.state === 'due' ? due.slot.covers : { first: yesterday, last: yesterday };
}

/** Whether what is shown comes by itself, and if it does not, how it would. */
export type PreviewStatus = 'set' | 'paused' | 'not-set';

const NOT_COMING: Readonly<Record<PreviewStatus, readonly AnswerPart[]>> = {
  set: [],
  paused: [{ kind: 'text', text: 'It is paused: nothing is posted until it is resumed.' }],
  'not-set': [
    { kind: 'text', text: 'No such digest is set yet: nothing is posted until one is added.' },
    { kind: 'offers', offers: [{ label: 'Add a digest', line: 'cost digest add' }] },
  ],
};

/** Private, and the real thing. */
export async function previewDigest(
  context: DigestContext,
  one: DigestSubscription,
  coming: PreviewStatus,
): Promise<Answer> {
  const { message, thread } = await composeNow(context, one, coming === 'set');
  const note = {
    kind: 'note',
    text: 'A preview: only you see it. The table goes into the thread.',
  } as const;
  const parts = [...message.parts, ...(thread?.parts ?? []), ...NOT_COMING[coming], note];
  return { title: message.title, parts };
}

/** Posts at once, and once for whoever presses twice within a minute. */
export async function postDigestNow(
  context: DigestContext,
  one: DigestSubscription,
): Promise<Answer> {
  const rooms = await context.messenger.findChannels([one.channel]);
  const found = rooms.get(one.channel);
  if (!found || (!found.ok && found.why === 'lookup-failed')) return said('later');
  const why = whyNot(found);
  if (why !== null || !found.ok)
    return textAnswer('Not posted', `Nothing was posted: ${why ?? ''}.`);

  const composed = await composeNow(context, one, !one.paused);
  const minute = context.now().toISOString().slice(0, 16);
  const begun = begin(context, { ...one, key: `${one.key}|now` }, minute);
  const mine = await context.database.transaction((tx) => permitDigest(tx, begun));
  if (!mine) return said('taken');
  const details: Details[] = [];
  const afterwards = (work: Details) => void details.push(work);
  const result = await send(context, { one, begun, room: found.room, composed, afterwards });
  await postDetails(context, details);
  return said(result);
}

const SAID: Readonly<Record<DigestPostOutcome, string>> = {
  posted: 'It stands in the channel now. The scheduled one comes all the same.',
  quiet: 'It stands in the channel now.',
  taken: 'It was posted a moment ago; once is enough.',
  refused: 'Slack refused it, and nothing was posted.',
  'too-early': 'Slack takes no more messages there just now. Try again in a minute.',
  unknown: 'Nobody knows whether it was posted: look in the channel before you try again.',
  failed: 'Something went wrong on our side, and nothing was posted.',
  later: 'Slack did not tell of that channel just now. Try again in a minute.',
};

function said(result: DigestPostOutcome): Answer {
  return textAnswer(result === 'posted' ? 'Posted' : 'Not posted', SAID[result]);
}
