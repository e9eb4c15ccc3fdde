import { appendEvent, lastKeyId, lockHead } from '../../log/old/append.ts';
import { KEY_CHANGED } from '../../log/old/chain.ts';
import { leftKeys, storeKeyStart } from '../../log/old/key-eras.ts';
import { currentKey, keyId, NO_KEY } from '../../log/old/key-ring.ts';
import type { DecisionContext } from './ports.ts';
import { resealSecrets } from './secret.ts';

/**
 * Continues the audit trail with the current key, if it is a new one: the previous key signs an event
 * that names it. A key that the trail has left is never used again, so that a replica that restarts in
 * the middle of a rotation does not undo it. Seals stored passwords with the current key.
 */
export async function adoptKey({
  database,
  auditKey,
  now,
  log,
}: Pick<DecisionContext, 'database' | 'auditKey' | 'now' | 'log'>): Promise<void> {
  const key = currentKey(auditKey);
  if (!key) return;
  const next = keyId(key);
  const result = await database.transaction(async (tx) => {
    await lockHead(tx);
    const before = await lastKeyId(tx);
    if (before === NO_KEY || before === next) return 'same';
    const left = await leftKeys(tx, auditKey, before);
    if (next in left) return 'left';
    const at = now();
    const body = { by: 'signalbox', key: next, previous: before };
    const { seq } = await appendEvent(tx, auditKey, { kind: KEY_CHANGED, at, body });
    await storeKeyStart(tx, auditKey, { at, left: { ...left, [before]: seq } });
    return 'changed';
  });
  if (result === 'changed') log.warn({ key: next }, 'the audit trail continues with a new key');
  if (result === 'left') {
    log.warn({ key: next }, 'SIGNALBOX_KEY was replaced; this process signs with the newer key');
    return;
  }
  await database.transaction((tx) => resealSecrets(tx, auditKey));
}
