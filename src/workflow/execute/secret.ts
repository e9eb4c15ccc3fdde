import type { ChangeId, UserId } from '../../changes/change.ts';
import { Secret } from '../../errors.ts';
import { appendEvent } from '../../storage/audit/append.ts';
import { unseal } from '../../storage/tables/seal.ts';
import { dropSecret, openSecret } from '../../storage/tables/secrets.ts';
import type { DecisionContext } from '../ports.ts';

/**
 * Returns the password of a created service to its requester, for 24 hours; else null. It stays
 * stored until `recordReveal`, because the server returns it only once, and a crash or a failed modal
 * must not lose it.
 */
export async function unsealSecret(
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

/** Records a reveal. Deletes the password if it was shown; else its requester can open it again. */
export async function recordReveal(
  { database, auditKey, now }: DecisionContext,
  id: ChangeId,
  { by, shown }: { readonly by: UserId; readonly shown: boolean },
): Promise<void> {
  await database.transaction(async (tx) => {
    // Of two modals that were opened at once, the first has deleted it.
    if (shown && !(await dropSecret(tx, id))) return;
    const kind = shown ? 'revealed' : 'not-revealed';
    await appendEvent(tx, auditKey, { kind, changeId: id, at: now(), body: { by } });
  });
}
