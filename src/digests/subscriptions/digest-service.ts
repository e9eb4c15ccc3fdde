import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../base/text.ts';
import type { DigestOptionsConfig } from '../../config/digest-options.ts';
import type { Answer, AnswerPart, Caller } from '../../domain/answer.ts';
import { textAnswer } from '../../domain/answer.ts';
import { addSubscription } from '../../storage/tables/subscriptions.ts';
import { postDigestNow, previewDigest } from '../preview.ts';
import { checkSchedule, earlyTimeWarning } from '../schedule.ts';
import { announceDigest } from './announce-digest.ts';
import { type DigestServiceContext, noteDigest } from './digest-service-context.ts';
import { findDigest, findDigestChannel } from './find-digest.ts';
import { listAnswer, whenText } from './listing.ts';
import { setDigestPaused } from './pause-digest.ts';
import { removeDigest } from './remove-digest.ts';
import {
  type DigestRequest,
  type DigestService,
  type DigestSubscription,
  digestName,
  fromSlack,
  loadSubscriptions,
  problemsText,
} from './subscriptions.ts';

/** Answers `/cost digest`. The policy is checked before. */
export function createDigestService(context: DigestServiceContext): DigestService {
  const on: Readonly<Record<DigestRequest['what'], typeof add>> = {
    list,
    add,
    remove: removeDigest,
    pause: setDigestPaused,
    resume: setDigestPaused,
    now: async (_, request, caller) => {
      const found = await findDigest(context, request, caller);
      return 'title' in found ? found : postDigestNow(context, found);
    },
    preview,
  };
  return (request, caller) => on[request.what](context, request, caller);
}

async function list(context: DigestServiceContext): Promise<Answer> {
  const { all, broken } = await loadSubscriptions(context.database.db, context);
  const channels = [...new Set(all.map(({ channel }) => channel))];
  const rooms = await context.messenger.findChannels(channels);
  return listAnswer(all, broken, { rooms, now: context.now() });
}

async function add(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<Answer> {
  const where = await findDigestChannel(context, request, caller);
  if ('title' in where) return where;
  const { room } = where;
  const hasZone = request.options.timezone !== undefined;
  const timezone = hasZone ? null : await context.people.zoneOf(caller.by);
  if (!hasZone && timezone === null) return NO_ZONE;
  // The typed options are stored, so that a changed default applies to this digest too.
  const typed = { timezone, ...request.options } as JsonObject;
  const read = readOptions(context, typed, room.id);
  if ('title' in read) return read;

  // An equal digest, which the same channel would get twice.
  const { all } = await loadSubscriptions(context.database.db, context);
  const equal = all.find((one) => isDeepStrictEqual(one.options, read));
  if (equal) return alreadyAdded(equal, room.name);

  const id = context.newId();
  const createdAt = context.now();
  const row = {
    id,
    channel: room.id,
    options: typed,
    paused: false,
    createdBy: caller.by,
    createdAt,
  };
  await context.database.transaction(async (tx) => {
    await addSubscription(tx, row);
    await noteDigest(context, tx, caller, {
      did: 'digest added',
      id,
      channel: room.id,
      options: typed,
    });
  });
  const one = fromSlack(row, read);
  await announceDigest(context, one, { by: caller.by, did: 'added' });
  const { next } = checkSchedule(one, createdAt, null);
  const early = earlyTimeWarning(one, createdAt);
  const parts: readonly AnswerPart[] = [
    { kind: 'text', text: `Posted in #${room.name} ${whenText(one)}.` },
    { kind: 'facts', facts: [['First post', next]] },
    ...(early ? [{ kind: 'text', text: early } as const] : []),
    {
      kind: 'offers',
      offers: [
        { label: 'Preview', line: `cost digest preview ${id}` },
        { label: 'Post now', line: `cost digest now ${id}` },
        { label: 'Remove', line: `cost digest remove ${id}` },
      ],
    },
  ];
  return { title: 'Digest added', parts };
}

const NO_ZONE = textAnswer(
  'Which time zone?',
  'Slack did not return your time zone. Add zone=, for example zone=Europe/Berlin.',
);

function readOptions(
  context: DigestServiceContext,
  options: DigestRequest['options'],
  channel: string,
): DigestOptionsConfig | Answer {
  const reading = context.readOptions({ ...options, channel });
  if (reading.ok) return reading.value;
  return textAnswer("I didn't understand that", `${problemsText(reading.problems)}.`);
}

function alreadyAdded(one: DigestSubscription, room: string): Answer {
  const name = digestName(one);
  const isInFile = one.id === null;
  const text = `Posted in #${room} ${whenText(one)}${one.paused ? ' (paused)' : ''}.`;
  return textAnswer('This digest exists already', text, [
    ...(one.paused ? [{ label: 'Resume', line: `cost digest resume ${name}` }] : []),
    { label: 'Preview', line: `cost digest preview ${name}` },
    ...(isInFile ? [] : [{ label: 'Remove', line: `cost digest remove ${name}` }]),
  ]);
}

async function preview(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<Answer> {
  if (Object.keys(request.options).length === 0) {
    const found = await findDigest(context, request, caller);
    if (!('title' in found))
      return previewDigest(context, found, found.paused ? 'paused' : 'scheduled');
    if (request.which !== null) return found;
  }
  // Only the user who requests the preview sees it, so the channel does not matter.
  const channel = 'C0PREVIEW';
  const options = readOptions(context, request.options, channel);
  if ('title' in options) return options;
  const added = { key: channel, id: null, channel, options, paused: false };
  return previewDigest(context, { ...added, by: caller.by, since: null }, 'not-added');
}
