import { Secret } from '../base/errors.ts';
import { HOUR_MS } from '../base/time.ts';
import type { Change, ChangeId, UserId } from '../domain/change.ts';
import { type LogKeys, type Subjects, sealText, unsealText } from '../log/index.ts';
import { type Store, type StoreTx, transaction } from '../storage/index.ts';
import { authorizeRequester } from './authorize.ts';
import type { DecisionContext } from './context.ts';
import { advance, eventsOf } from './moves.ts';
import {
  dropExpiredSealed,
  dropSealed,
  findSealed,
  listSealed,
  replaceSealed,
  saveSealed,
} from './store.ts';

const SECRET_KEPT_MS = 24 * HOUR_MS;

type Owner = Pick<Change, 'id' | 'requester'>;

/** Seals the password of a created service for 24 hours, for the requester of its change. */
export async function storeSecret(
  tx: StoreTx,
  { events, now }: Pick<DecisionContext, 'events' | 'now'>,
  { id, requester }: Owner,
  secret: Secret,
): Promise<void> {
  const expiresAt = new Date(now().getTime() + SECRET_KEPT_MS);
  const sealed = sealText(events.keys, secret.reveal(), contextOf({ id, requester }));
  await saveSealed(tx, { id, requester, sealed }, expiresAt);
}

/** What a sealed password is bound to: it opens for this change and this requester only. */
function contextOf({ id, requester }: Owner): readonly string[] {
  return ['password of a created service', id, requester];
}

/**
 * Shows the password of a created service to its requester, for 24 hours, and records whether it was shown. The requester
 * is the user whom the seal and the log name. The password stays stored until it was shown, because the server returns it
 * only once, and a crash or a failed modal must not lose it.
 */
export async function revealPassword(
  context: DecisionContext,
  { id, by }: { readonly id: ChangeId; readonly by: UserId },
  show: (password: Secret, change: Change) => Promise<boolean>,
): Promise<'none' | 'shown' | 'not-shown'> {
  const { events, store, now, log } = context;
  const authorized = await authorizeRequester(context, id, by);
  if (!authorized.ok || (await wasShown(events, id))) return 'none';
  const { change } = authorized;
  const sealed = await findSealed(store, id, now());
  if (sealed === null) return 'none';
  const secret = opened(events.keys, sealed, change);
  if (!secret) {
    log.error({ change: id, user: by }, 'password stays sealed: it is of another user or key');
    return 'none';
  }
  /** Null: the password was opened, and Slack was not asked yet. */
  const record = (shown: boolean | null) =>
    // Of two modals that were opened at once, the first counts.
    advance(context, id, async (_, locked) =>
      (await wasShown(locked, id)) ? null : { type: 'revealed', by, shown },
    );
  // Nobody sees a password without an event that was committed before.
  await record(null);
  const shown = await show(secret, change);
  await record(shown);
  if (shown) await transaction(store, (tx) => dropSealed(tx, id));
  return shown ? 'shown' : 'not-shown';
}

async function wasShown(subjects: Subjects, id: ChangeId): Promise<boolean> {
  const events = await eventsOf(subjects, `change/${id}`);
  return events.some((event) => event.type === 'revealed' && event.shown === true);
}

/** Null for a seal of another change, requester or key. */
function opened(keys: LogKeys, sealed: string, owner: Owner): Secret | null {
  try {
    return new Secret(unsealText(keys, sealed, contextOf(owner)));
  } catch {
    return null;
  }
}

/** Seals the stored passwords with the current key. A password that no key opens stays as it is. */
export async function resealSecrets(store: Store, keys: LogKeys): Promise<void> {
  if (keys.previous.length === 0) return;
  await transaction(store, async (tx) => {
    for (const { id, requester, sealed } of await listSealed(tx)) {
      const owner = { id, requester: requester as UserId };
      const secret = opened(keys, sealed, owner);
      if (secret) await replaceSealed(tx, id, sealText(keys, secret.reveal(), contextOf(owner)));
    }
  });
}

/** Deletes the passwords whose time is over. */
export async function dropExpiredSecrets({ store, now }: DecisionContext): Promise<void> {
  await transaction(store, (tx) => dropExpiredSealed(tx, now()));
}
