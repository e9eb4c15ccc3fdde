import type { ChangeId, JsonObject } from '../../changes/change.ts';
import type { Answer } from '../../intent/answers/answer.ts';
import { textAnswer } from '../../intent/answers/texts.ts';
import type { Caller } from '../../intent/ports/command-context.ts';
import { appendEvent } from '../../storage/audit/append.ts';
import type { AuditKey } from '../../storage/audit/key-ring.ts';
import type { Tx } from '../../storage/engine/database.ts';
import type { DecisionContext } from '../../workflow/ports.ts';
import type { DigestContext } from '../digest-context.ts';
import type { DigestSubscription } from './subscriptions.ts';

export interface DigestServiceContext
  extends DigestContext,
    Pick<DecisionContext, 'people' | 'policy'> {
  readonly auditKey: AuditKey;
  readonly newId: () => ChangeId;
}

/** The answer for a digest that Slack cannot change. */
export function inFile({ channel }: DigestSubscription): Answer {
  const text = `The digest of ${channel} is defined in signalbox.yaml. Change it there.`;
  return textAnswer('Defined in the configuration file', text);
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
