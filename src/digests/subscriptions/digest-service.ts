import { isDeepStrictEqual } from 'node:util';
import type { ChangeId, ChannelId, JsonObject } from '../../changes/change.ts';
import type { DigestOptionsConfig } from '../../config/digest-options.ts';
import type { Answer, AnswerPart } from '../../intent/answers/answer.ts';
import type { Caller, DigestRequest, DigestService } from '../../intent/ports/command-context.ts';
import { appendEvent } from '../../storage/audit/append.ts';
import type { Tx } from '../../storage/engine/database.ts';
import { recordMissedDigest } from '../../storage/tables/digests.ts';
import {
  addSubscription,
  pauseSubscription,
  removeSubscription,
} from '../../storage/tables/subscriptions.ts';
import type { DigestContext } from '../digest-context.ts';
import { deleteLastPosted } from '../last-posted.ts';
import { postDigestNow, previewDigest } from '../preview.ts';
import { checkSchedule, earlyTimeWarning } from '../schedule.ts';
import { findDigest, findDigestChannel } from './find-digest.ts';
import { listAnswer, textAnswer, whenText } from './listing.ts';
import {
  type DigestSubscription,
  digestName,
  loadSubscriptions,
  problemsText,
} from './subscriptions.ts';

export interface DigestServiceContext extends DigestContext {
  readonly auditKey: Buffer | null;
  readonly newId: () => ChangeId;
}

/** What people do about digests, in words; who may is decided before by the policy. */
export function createDigestService(context: DigestServiceContext): DigestService {
  const on: Readonly<Record<DigestRequest['what'], typeof add>> = {
    list: () => list(context),
    add,
    remove,
    pause: (_, wish, asker) => setPaused(context, wish, asker, true),
    resume: (_, wish, asker) => setPaused(context, wish, asker, false),
    now: async (_, wish, asker) => {
      const found = await findDigest(context, wish, asker);
      return 'title' in found ? found : postDigestNow(context, found);
    },
    preview,
  };
  return (wish, asker) => on[wish.what](context, wish, asker);
}

async function list(context: DigestServiceContext): Promise<Answer> {
  const { all, broken } = await loadSubscriptions(context.database.db, context);
  const channels = [...new Set(all.map(({ channel }) => channel))];
  const rooms = await context.messenger.findChannels(channels);
  return listAnswer(all, broken, { rooms, now: context.now() });
}

async function add(
  context: DigestServiceContext,
  wish: DigestRequest,
  asker: Caller,
): Promise<Answer> {
  const where = await findDigestChannel(context, wish, asker);
  if ('title' in where) return where;
  const { room } = where;
  const reading = context.readOptions({ ...wish.options, channel: room.id });
  if (!reading.ok)
    return textAnswer("I didn't understand that", `${problemsText(reading.problems)}.`);

  const alike = await sameAs(context, reading.value);
  if (alike) return thereAlready(alike, room.name);

  const id = context.newId();
  const since = context.now();
  // What was given, not what it means today: another default would count from then on.
  const options = { ...wish.options } as JsonObject;
  const row = {
    id,
    channel: room.id,
    options,
    paused: false,
    createdBy: asker.by,
    createdAt: since,
  };
  await context.database.transaction(async (tx) => {
    await addSubscription(tx, row);
    await note(context, tx, asker, { did: 'digest added', id, channel: room.id, options });
  });
  const one: DigestSubscription = {
    key: `${room.id}|${id}`,
    id,
    channel: room.id,
    options: reading.value,
    paused: false,
    by: asker.by,
    since,
  };
  const { next } = checkSchedule(one, since, null);
  const early = earlyTimeWarning(one, since);
  const parts: readonly AnswerPart[] = [
    { kind: 'text', text: `#${room.name} gets it ${whenText(one)}.` },
    { kind: 'facts', facts: [['First one', next]] },
    ...(early ? [{ kind: 'text', text: early } as const] : []),
    {
      kind: 'offers',
      offers: [
        { label: 'Preview', line: `cost digest preview ${id}` },
        { label: 'Post it now', line: `cost digest now ${id}` },
        { label: 'Remove it', line: `cost digest remove ${id}` },
      ],
    },
  ];
  return { title: 'Digest added', parts };
}

/** The same digest of the same channel would be posted there twice a day. */
async function sameAs(
  context: DigestServiceContext,
  options: DigestOptionsConfig,
): Promise<DigestSubscription | null> {
  const { all } = await loadSubscriptions(context.database.db, context);
  return all.find((one) => isDeepStrictEqual(one.options, options)) ?? null;
}

function thereAlready(one: DigestSubscription, room: string): Answer {
  const name = digestName(one);
  const text = `#${room} gets it ${whenText(one)}${one.paused ? ', but it is paused' : ''}.`;
  const offers = [
    ...(one.paused ? [{ label: 'Resume it', line: `cost digest resume ${name}` }] : []),
    { label: 'Preview', line: `cost digest preview ${name}` },
    { label: 'Remove it', line: `cost digest remove ${name}` },
  ];
  return {
    title: 'That digest is there already',
    parts: [
      { kind: 'text', text },
      { kind: 'offers', offers },
    ],
  };
}

async function remove(
  context: DigestServiceContext,
  wish: DigestRequest,
  asker: Caller,
): Promise<Answer> {
  // What cannot be composed any more can still be taken away.
  const { broken } = await loadSubscriptions(context.database.db, context);
  const lost = broken.find(({ id }) => id === wish.which?.toUpperCase());
  if (lost) return takeAway(context, lost, asker);
  const found = await findDigest(context, wish, asker);
  if ('title' in found) return found;
  const { id } = found;
  return id === null ? inTheFile(found) : takeAway(context, { ...found, id }, asker);
}

async function takeAway(
  context: DigestServiceContext,
  { id, key, channel }: { readonly id: string } & Pick<DigestSubscription, 'key' | 'channel'>,
  asker: Caller,
): Promise<Answer> {
  const gone = await context.database.transaction(async (tx) => {
    const removed = await removeSubscription(tx, id);
    await deleteLastPosted(tx, key);
    if (removed) await note(context, tx, asker, { did: 'digest removed', id, channel });
    return removed;
  });
  const text = 'Nothing of it is posted any more.';
  return textAnswer(gone ? 'Digest removed' : 'It was removed already', text);
}

async function setPaused(
  context: DigestServiceContext,
  wish: DigestRequest,
  asker: Caller,
  paused: boolean,
): Promise<Answer> {
  const found = await findDigest(context, wish, asker);
  if ('title' in found) return found;
  const { id, channel } = found;
  if (id === null) return inTheFile(found);
  await context.database.transaction(async (tx) => {
    await pauseSubscription(tx, id, paused);
    if (!paused) await forgive(context, tx, found);
    await note(context, tx, asker, {
      did: paused ? 'digest paused' : 'digest resumed',
      id,
      channel,
    });
  });
  const again = paused ? [{ label: 'Resume', line: `cost digest resume ${id}` }] : [];
  return {
    title: paused ? 'Digest paused' : 'Digest resumed',
    parts: [
      {
        kind: 'text',
        text: `It is posted ${whenText(found)}${paused ? ', once it is resumed' : ''}.`,
      },
      { kind: 'offers', offers: again },
    ],
  };
}

// Today's, if its time has passed: it was not owed while the digest was paused.
async function forgive(
  context: DigestServiceContext,
  tx: Tx,
  one: DigestSubscription,
): Promise<void> {
  const turn = checkSchedule({ ...one, paused: false }, context.now(), null);
  if (turn.state === 'waiting') return;
  const row = { channel: one.key as ChannelId, day: turn.slot.localDay, at: context.now() };
  await recordMissedDigest(tx, { ...row, owner: context.instance });
}

async function preview(
  context: DigestServiceContext,
  wish: DigestRequest,
  asker: Caller,
): Promise<Answer> {
  if (Object.keys(wish.options).length === 0) {
    const found = await findDigest(context, wish, asker);
    if (!('title' in found)) return previewDigest(context, found, found.paused ? 'paused' : 'set');
    if (wish.which !== null) return found;
  }
  // Its channel is of no account: nobody but whoever asks sees it.
  const channel = 'C0PREVIEW';
  const reading = context.readOptions({ ...wish.options, channel });
  if (!reading.ok)
    return textAnswer("I didn't understand that", `${problemsText(reading.problems)}.`);
  const wanted = { key: channel, id: null, channel, options: reading.value, paused: false };
  return previewDigest(context, { ...wanted, by: asker.by, since: null }, 'not-set');
}

function inTheFile({ channel }: DigestSubscription): Answer {
  const text = `The digest of ${channel} stands in signalbox.yaml, and is changed there.`;
  return textAnswer('Not here', text);
}

function note(
  context: DigestServiceContext,
  tx: Tx,
  asker: Caller,
  { did, ...facts }: JsonObject & { did: string },
) {
  return appendEvent(tx, context.auditKey, {
    kind: did,
    at: context.now(),
    body: { by: asker.by, ...facts },
  });
}
