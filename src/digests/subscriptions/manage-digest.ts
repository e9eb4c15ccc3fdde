import type { DigestOptionsConfig } from '../../config/digest-options.ts';
import type { Answer, Caller, InlinePart } from '../../domain/answer.ts';
import { textAnswer } from '../../domain/answer.ts';
import type { UserId } from '../../domain/change.ts';
import type { Policy } from '../../domain/policy.ts';
import { reachable } from '../../domain/policy.ts';
import { mayQuery } from '../../workflow/authorize.ts';
import { type DigestServiceContext, noteDigest } from './digest-service-context.ts';
import type { DigestRequest, DigestSubscription } from './subscriptions.ts';

/** The name by which a policy rule lets its role manage the digests of other users. */
const MANAGE = 'digest manage';

/** A digest of Slack; `options` is missing if they are invalid. */
export interface ManagedDigest extends Pick<DigestSubscription, 'key' | 'channel'> {
  readonly id: string;
  readonly by: UserId | null;
  readonly options?: DigestOptionsConfig;
}

export type ManageAction = Extract<DigestRequest['what'], 'remove' | 'pause' | 'resume'>;

const REFUSED = {
  remove: { title: 'Not removed', did: 'digest removal refused' },
  pause: { title: 'Not paused', did: 'digest pause refused' },
  resume: { title: 'Not resumed', did: 'digest resumption refused' },
} as const satisfies Record<ManageAction, { title: string; did: string }>;

/**
 * The digests that a user may pause, resume and remove: their own, and all for a manager of digests.
 * Read again for each attempt, without caches: a failed lookup is no permission.
 */
export async function manageableBy<Digest extends { readonly by: UserId | null }>(
  context: DigestServiceContext,
  digests: readonly Digest[],
  { by }: Caller,
): Promise<readonly Digest[]> {
  const own = digests.filter(({ by: owner }) => owner === by);
  if (own.length === digests.length) return digests;
  const isManager = await mayQuery(context, { command: MANAGE, target: null, by, fresh: true });
  return isManager ? digests : own;
}

/** The refusal for a user who may not manage this digest, recorded in the audit trail; else null. */
export async function refusalToManage(
  context: DigestServiceContext,
  digest: ManagedDigest,
  { caller, action }: { readonly caller: Caller; readonly action: ManageAction },
): Promise<Answer | null> {
  const { id, channel, by: owner } = digest;
  const [isAllowed] = await manageableBy(context, [digest], caller);
  if (isAllowed) return null;
  const { title, did } = REFUSED[action];
  await context.database.transaction((tx) => noteDigest(context, tx, caller, { did, id, channel }));
  const user: readonly InlinePart[] = owner ? [', ', { user: owner }, ','] : [];
  const managers = managersOf(context.policy);
  const others = managers === '' ? '' : ` or ${managers}`;
  const line = [
    `Only its owner${user.length > 0 ? '' : ' '}`,
    ...user,
    `${others} can ${action} the digest ${await digestText(context, digest)}.`,
  ];
  return { title, parts: [{ kind: 'lines', lines: [line] }] };
}

function managersOf(policy: Policy): string {
  const groups = reachable(policy, MANAGE).flatMap(({ to }) => policy.roles.get(to)?.groups ?? []);
  return [...new Set(groups)].join(' or ');
}

/** The answer for a digest that Slack cannot change. */
export async function inFile(
  context: DigestServiceContext,
  digest: DigestSubscription,
): Promise<Answer> {
  const text = `The digest ${await digestText(context, digest)} is from signalbox.yaml. Change it there.`;
  return textAnswer('Defined in the configuration file', text);
}

/** `#db-costs, 09:30` */
export async function digestText(
  { messenger }: Pick<DigestServiceContext, 'messenger'>,
  { channel, options }: Pick<ManagedDigest, 'channel' | 'options'>,
): Promise<string> {
  const found = (await messenger.findChannels([channel])).get(channel);
  const name = found?.ok ? `#${found.room.name}` : channel;
  return options ? `${name}, ${options.at}` : name;
}
