import type { ChangeId, UserId } from '../changes/change.ts';
import { Secret } from '../errors.ts';
import { appendEvent } from '../storage/audit.ts';
import { unseal } from '../storage/seal.ts';
import { dropSecret, openSecret } from '../storage/secrets.ts';
import type { World } from './world.ts';

/** The password of a created service: for its requester, once, within a day; else null. */
export async function takeSecret(
  world: World,
  id: ChangeId,
  requester: UserId,
): Promise<Secret | null> {
  const key = world.auditKey;
  if (!key) return null;
  return world.database.transaction(async (tx) => {
    const now = world.now();
    const sealed = await openSecret(tx, id, { requester, now });
    // Whoever deletes the row has it: two clicks in one moment cannot both.
    if (!sealed || !(await dropSecret(tx, id))) return null;
    const event = { kind: 'revealed', changeId: id, at: now, body: { by: requester } };
    await appendEvent(tx, key, event);
    return new Secret(unseal(key, sealed, id));
  });
}
