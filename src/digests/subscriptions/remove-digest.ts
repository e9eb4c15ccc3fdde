import type { UserId } from '../../changes/change.ts';
import type { DigestOptionsConfig } from '../../config/digest-options.ts';
import type { Answer, InlinePart } from '../../intent/answers/answer.ts';
import { textAnswer } from '../../intent/answers/texts.ts';
import type { Caller, DigestRequest } from '../../intent/ports/command-context.ts';
import { reachable } from '../../policy/matching.ts';
import type { Policy } from '../../policy/policy-types.ts';
import { removeSubscription } from '../../storage/tables/subscriptions.ts';
import { mayQuery } from '../../workflow/authorize.ts';
import { deleteLastPosted } from '../last-posted.ts';
import { type DigestServiceContext, inFile, noteDigest } from './digest-service-context.ts';
import { findDigest } from './find-digest.ts';
import { type DigestSubscription, loadSubscriptions } from './subscriptions.ts';

/** The name by which a policy rule lets its role remove the digests of other users. */
const MANAGE = 'digest manage';

/** A digest of Slack; `options` is missing if they are invalid. */
interface RemovableDigest extends Pick<DigestSubscription, 'key' | 'channel'> {
  readonly id: string;
  readonly by: UserId | null;
  readonly options?: DigestOptionsConfig;
}

/** Removes a digest for its owner or a manager of digests, after they confirmed it. */
export async function removeDigest(
  context: DigestServiceContext,
  request: DigestRequest,
  caller: Caller,
): Promise<Answer> {
  const found = await findRemovable(context, request, caller);
  if ('title' in found) return found;
  const name = await nameOf(context, found);
  if (!(await mayRemove(context, found, caller))) return refuse(context, found, { caller, name });
  if (!request.isConfirmed) return confirmation(found.id, name);
  const isRemoved = await context.database.transaction(async (tx) => {
    const removed = await removeSubscription(tx, found.id);
    await deleteLastPosted(tx, found.key);
    const { id, channel } = found;
    if (removed) await noteDigest(context, tx, caller, { did: 'digest removed', id, channel });
    return removed;
  });
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
  return id === null ? inFile(found) : { ...found, id };
}

/** `#db-costs, 09:30` */
async function nameOf(
  { messenger }: DigestServiceContext,
  { channel, options }: RemovableDigest,
): Promise<string> {
  const found = (await messenger.findChannels([channel])).get(channel);
  const name = found?.ok ? `#${found.room.name}` : channel;
  return options ? `${name}, ${options.at}` : name;
}

/** Read again for each attempt, without caches: a failed lookup is no permission. */
async function mayRemove(
  context: DigestServiceContext,
  { by: owner }: RemovableDigest,
  { by }: Caller,
): Promise<boolean> {
  return owner === by || mayQuery(context, { command: MANAGE, target: null, by, fresh: true });
}

async function refuse(
  context: DigestServiceContext,
  { id, channel, by: owner }: RemovableDigest,
  { caller, name }: { readonly caller: Caller; readonly name: string },
): Promise<Answer> {
  await context.database.transaction((tx) =>
    noteDigest(context, tx, caller, { did: 'digest removal refused', id, channel }),
  );
  const user: readonly InlinePart[] = owner ? [', ', { user: owner }, ','] : [];
  const managers = managersOf(context.policy);
  const others = managers === '' ? '' : ` or ${managers}`;
  const line = [
    `Only its owner${user.length > 0 ? '' : ' '}`,
    ...user,
    `${others} can remove the digest ${name}.`,
  ];
  return { title: 'Not removed', parts: [{ kind: 'lines', lines: [line] }] };
}

function managersOf(policy: Policy): string {
  const groups = reachable(policy, MANAGE).flatMap(({ to }) => policy.roles.get(to)?.groups ?? []);
  return [...new Set(groups)].join(' or ');
}

function confirmation(id: string, name: string): Answer {
  const line = `cost digest remove ${id} confirm=yes`;
  return textAnswer(`Remove the digest ${name}?`, 'Nothing more is posted after that.', [
    { label: 'Remove digest', line },
  ]);
}
