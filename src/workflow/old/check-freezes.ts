import { isDeepStrictEqual } from 'node:util';
import { effectiveFreezes } from '../../log/old/active-freezes.ts';
import { appendEvent, eventsOf } from '../../log/old/append.ts';
import { recordedFreezes, recordFreeze } from '../../log/old/freeze-events.ts';
import { activeFreezes, replaceFreeze, type StoredFreeze } from '../../log/old/freezes.ts';
import { enqueueOperatorsNotice } from '../../log/old/notices.ts';
import type { Tx } from '../../storage/old/schema.ts';
import { hasKnownScope } from './current-policy.ts';
import type { DecisionContext } from './ports.ts';

/**
 * Compares the rows of freezes with the audit trail. A row that was deleted or changed is stored
 * again, recorded and reported. A freeze of an earlier release gets its event.
 */
export async function checkFreezes(context: DecisionContext): Promise<void> {
  const { database, auditKey, now } = context;
  await database.transaction(async (tx) => {
    const recorded = await recordedFreezes(tx, auditKey);
    const rows = await activeFreezes(tx, now());
    for (const row of rows) {
      if (recorded.has(row.id) || !hasKnownScope(row)) continue;
      await recordFreeze(tx, auditKey, row, now());
    }
    for (const freeze of await effectiveFreezes(tx, auditKey, now())) {
      if (!rows.some((row) => isDeepStrictEqual(row, freeze))) await restore(tx, context, freeze);
      if (!hasKnownScope(freeze)) await reportUnreadable(tx, context, freeze);
    }
  });
}

/** Reports a freeze that covers everything because its scope is unknown. The trail records it once. */
async function reportUnreadable(
  tx: Tx,
  { auditKey, now, log }: DecisionContext,
  { id }: StoredFreeze,
): Promise<void> {
  const kind = 'freeze-unreadable';
  const events = await eventsOf(tx, id);
  if (events.some((event) => event.kind === kind)) return;
  const did = 'cannot read the scope of a freeze, which covers everything:';
  await appendEvent(tx, auditKey, {
    kind,
    changeId: id,
    at: now(),
    body: { by: 'signalbox', did },
  });
  log.error({ freeze: id }, 'scope of a freeze cannot be read; it covers everything');
  const sentence =
    `The scope of freeze ${id} cannot be read, so it covers everything. A newer release stored it, ` +
    'or its row was changed in the database. “change unfreeze” ends it.';
  await enqueueOperatorsNotice(tx, sentence, now());
}

async function restore(
  tx: Tx,
  { auditKey, now, log }: DecisionContext,
  freeze: StoredFreeze,
): Promise<void> {
  const { id } = freeze;
  await replaceFreeze(tx, freeze);
  const did = 'restored a freeze whose row was deleted or changed:';
  await appendEvent(tx, auditKey, {
    kind: 'freeze-restored',
    changeId: id,
    at: now(),
    body: { by: 'signalbox', did },
  });
  log.error({ freeze: id }, 'row of a freeze was deleted or changed; it is restored');
  const sentence =
    `Freeze ${id} was deleted or changed in the database, not in Slack. It stayed in force, and ` +
    'Signalbox restored it. Check who can write to the database.';
  await enqueueOperatorsNotice(tx, sentence, now());
}
