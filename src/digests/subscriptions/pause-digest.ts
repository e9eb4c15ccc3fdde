import type { Answer, Caller } from '../../domain/answer.ts';
import { textAnswer } from '../../domain/answer.ts';
import type { Tx } from '../../storage/engine/database.ts';
import { pauseSubscription } from '../../storage/tables/subscriptions.ts';
import { digestRecord } from '../post-record.ts';
import { checkSchedule } from '../schedule.ts';
import { type DigestServiceContext, noteDigest } from './digest-service-context.ts';
import { inFile } from './digest-text.ts';
import { findDigest } from './find-digest.ts';
import { whenText } from './listing.ts';
import type { DigestRequest, DigestSubscription } from './subscriptions.ts';

/** Pauses or resumes a digest that was added in Slack. */
export async function setDigestPaused(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<Answer> {
  const found = await findDigest(context, request, caller);
  if ('title' in found) return found;
  const { id, channel } = found;
  if (id === null) return inFile(context, found);
  const paused = request.what === 'pause';
  const state = paused ? 'paused' : 'resumed';
  await context.database.transaction(async (tx) => {
    await pauseSubscription(tx, id, paused);
    if (!paused) await skipToday(context, tx, found);
    await noteDigest(context, tx, caller, { did: `digest ${state}`, id, channel });
  });
  const text = `Posted ${whenText(found)}${paused ? ' once resumed' : ''}.`;
  const offers = paused ? [{ label: 'Resume', line: `cost digest resume ${id}` }] : [];
  return textAnswer(`Digest ${state}`, text, offers);
}

// Records today's digest as missed if its time passed while the digest was paused.
async function skipToday(
  context: DigestServiceContext,
  tx: Tx,
  one: DigestSubscription,
): Promise<void> {
  const check = checkSchedule({ ...one, paused: false }, context.now(), null);
  if (check.state === 'waiting') return;
  const record = digestRecord(context, one, { day: check.slot.localDay });
  if (await record.permit(tx)) await record.end(tx, { state: 'missed' });
}
