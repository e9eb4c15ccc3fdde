import type { DigestOptionsConfig } from '../../config/digest-options.ts';
import type { Answer, Caller } from '../../domain/answer.ts';
import { textAnswer } from '../../domain/answer.ts';
import { removeSubscription } from '../../storage/tables/subscriptions.ts';
import { deleteLastPosted } from '../last-posted.ts';
import { announceDigest } from './announce-digest.ts';
import { type DigestServiceContext, noteDigest } from './digest-service-context.ts';
import { digestText, inFile } from './digest-text.ts';
import { findDigest } from './find-digest.ts';
import type { DigestRequest, DigestSubscription } from './subscriptions.ts';
import { loadSubscriptions } from './subscriptions.ts';

/** `options` is missing if they are invalid. */
interface RemovableDigest extends Pick<DigestSubscription, 'key' | 'channel'> {
  readonly id: string;
  readonly options?: DigestOptionsConfig;
}

/** Removes a digest that was added in Slack, after the user confirmed it. */
export async function removeDigest(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<Answer> {
  const found = await findRemovable(context, request, caller);
  if ('title' in found) return found;
  const name = await digestText(context, found);
  if (!request.isConfirmed) return confirmation(found.id, name);
  const isRemoved = await context.database.transaction(async (tx) => {
    const removed = await removeSubscription(tx, found.id);
    await deleteLastPosted(tx, found.key);
    const { id, channel } = found;
    if (removed) await noteDigest(context, tx, caller, { did: 'digest removed', id, channel });
    return removed;
  });
  const { options, ...removed } = found;
  const by = caller.by;
  if (isRemoved && options)
    await announceDigest(context, { ...removed, options }, { by, did: 'removed' });
  return {
    title: `${isRemoved ? 'Digest removed' : 'Digest was removed before'}: ${name}`,
    parts: [],
  };
}

async function findRemovable(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<RemovableDigest | Answer> {
  // A digest with invalid options can still be removed.
  const { broken } = await loadSubscriptions(context.database.db, context);
  const invalid = broken.find(({ id }) => id === request.which?.toUpperCase());
  if (invalid) return invalid;
  const found = await findDigest(context, request, caller);
  if ('title' in found) return found;
  const { id } = found;
  return id === null ? inFile(context, found) : { ...found, id };
}

function confirmation(id: string, name: string): Answer {
  const line = `cost digest remove ${id} confirm=yes`;
  return textAnswer(`Remove the digest ${name}?`, 'Nothing more is posted after that.', [
    { label: 'Remove digest', line },
  ]);
}
