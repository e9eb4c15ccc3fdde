import type { ChangeId, UserId } from '../../changes/change.ts';
import { Secret } from '../../errors.ts';
import { appendEvent } from '../../storage/audit/append.ts';
import { unseal } from '../../storage/tables/seal.ts';
import { dropSecret, openSecret } from '../../storage/tables/secrets.ts';
import type { DecisionContext } from '../ports.ts';

/**
 * The password of a created service: for its requester alone, within a day; else null. It stays
 * sealed until `noteShown`, for a server gives it out once: neither a crash nor a modal that fails
 * may lose it.
 */
export async function readSecret(
  context: DecisionContext,
  id: ChangeId,
  requester: UserId,
): Promise<Secret | null> {
  const key = context.auditKey;
  if (!key) return null;
  return context.database.transaction(async (tx) => {
    const now = context.now();
    const sealed = await openSecret(tx, id, { requester, now });
    if (!sealed) return null;
    const event = { kind: 'unsealed', changeId: id, at: now, body: { by: requester } };
    await appendEvent(tx, key, event);
    return new Secret(unseal(key, sealed, id));
  });
}

/** Drops what its requester has seen; what Slack did not surely show can be read again by them. */
export async function noteShown(
  { database, auditKey, now }: DecisionContext,
  id: ChangeId,
  { by, shown }: { readonly by: UserId; readonly shown: boolean },
): Promise<void> {
  await database.transaction(async (tx) => {
    // Of two windows that were opened at once, the first has dropped it.
    if (shown && !(await dropSecret(tx, id))) return;
    const kind = shown ? 'revealed' : 'not-revealed';
    await appendEvent(tx, auditKey, { kind, changeId: id, at: now(), body: { by } });
  });
}
