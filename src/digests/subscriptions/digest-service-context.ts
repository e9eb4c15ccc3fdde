import type { JsonObject } from '../../base/text.ts';
import type { Caller } from '../../domain/answer.ts';
import type { ChangeId } from '../../domain/change.ts';
import { appendEvent } from '../../storage/audit/append.ts';
import type { AuditKey } from '../../storage/audit/key-ring.ts';
import type { Tx } from '../../storage/engine/database.ts';
import type { DecisionContext } from '../../workflow/ports.ts';
import type { DigestContext } from '../digest-context.ts';

export interface DigestServiceContext extends DigestContext, Pick<DecisionContext, 'people'> {
  readonly auditKey: AuditKey;
  readonly newId: () => ChangeId;
}

/** Records what a user did with a digest in the audit trail. */
export function noteDigest(
  context: DigestServiceContext,
  tx: Tx,
  caller: Caller,
  { did, ...facts }: JsonObject & { did: string },
) {
  return appendEvent(tx, context.auditKey, {
    kind: did,
    at: context.now(),
    body: { by: caller.by, ...facts },
  });
}
