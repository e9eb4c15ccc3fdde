import { Secret } from '../../base/errors.ts';
import { HOUR_MS } from '../../base/time.ts';
import type { Change, ChangeId, UserId } from '../../domain/change.ts';
import { appendEvent } from '../../log/old/append.ts';
import { loadChange } from '../../log/old/changes.ts';
import { type AuditKey, currentKey, keysOf } from '../../log/old/key-ring.ts';
import { auditRefusal } from '../../log/old/matches-audit-trail.ts';
import { type SealContext, seal, unseal } from '../../log/old/seal.ts';
import type { Tx } from '../../storage/old/database.ts';
import type { DecisionContext } from './ports.ts';
import {
  dropSecret,
  listSecrets,
  openSecret,
  replaceSealed,
  sealSecret,
} from './stored-secrets.ts';

const SECRET_KEPT_MS = 24 * HOUR_MS;

/** Seals the password for 24 hours. Without a key it is not stored; the console can set another one. */
export async function storeSecret(
  tx: Tx,
  { auditKey, now }: DecisionContext,
  change: Pick<Change, 'id' | 'requester'>,
  secret: Secret,
): Promise<void> {
  const key = currentKey(auditKey);
  if (!key) return;
  const expiresAt = new Date(now().getTime() + SECRET_KEPT_MS);
  const sealed = seal(key, secret.reveal(), contextOf(change));
  const { id: changeId, requester } = change;
  await sealSecret(tx, { changeId, sealed, requester, expiresAt });
}

/**
 * Returns the password of a created service to its requester, for 24 hours; else null. The requester
 * is the user whom the seal and the signed audit trail name. The password stays stored until
 * `recordReveal`, because the server returns it only once, and a crash or a failed modal must not
 * lose it.
 */
export async function unsealSecret(
  context: DecisionContext,
  id: ChangeId,
  by: UserId,
): Promise<Secret | null> {
  const key = context.auditKey;
  if (!key) return null;
  return context.database.transaction(async (tx) => {
    const now = context.now();
    const sealed = await openSecret(tx, id, { requester: by, now });
    if (!sealed) return null;
    const secret = (await isRequester(tx, key, id, by))
      ? opened(key, sealed, contextOf({ id, requester: by }))
      : null;
    if (!secret) {
      const about = { change: id, user: by };
      context.log.error(
        about,
        'password stays sealed: the seal or the audit trail names another user',
      );
      return null;
    }
    const event = { kind: 'unsealed', changeId: id, at: now, body: { by } };
    await appendEvent(tx, key, event);
    return secret;
  });
}

// Release 1.0 bound a password to its change only, so that the audit trail confirms its requester.
async function isRequester(tx: Tx, keys: AuditKey, id: ChangeId, by: UserId): Promise<boolean> {
  const change = await loadChange(tx, id);
  if (change?.requester !== by) return false;
  return (await auditRefusal(tx, keys, change)) !== 'audit-mismatch';
}

/** Returns null for a seal of another change, requester or key. */
function opened(keys: AuditKey, sealed: string, context: SealContext): Secret | null {
  for (const key of keysOf(keys)) {
    try {
      return new Secret(unseal(key, sealed, context));
    } catch {
      // The next key may open it; without one it is a refusal, which the caller logs.
    }
  }
  return null;
}

/** Seals the stored passwords with the current key. A password that no key opens stays as it is. */
export async function resealSecrets(tx: Tx, keys: AuditKey): Promise<void> {
  const key = currentKey(keys);
  if (!key || keysOf(keys).length === 1) return;
  for (const { changeId, requester, sealed } of await listSecrets(tx)) {
    const context = contextOf({ id: changeId, requester });
    const secret = opened(keys, sealed, context);
    if (secret) await replaceSealed(tx, changeId, seal(key, secret.reveal(), context));
  }
}

function contextOf({ id, requester }: Pick<Change, 'id' | 'requester'>): SealContext {
  return { purpose: 'password of a created service', changeId: id, requester };
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
