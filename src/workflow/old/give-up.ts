import { enqueueOperatorsNotice } from '../../log/old/notices.ts';
import { countLost, messageLabel } from '../../log/old/retry.ts';
import { type DueMessage, markDone } from '../../storage/old/outbox.ts';
import type { DecisionContext } from './ports.ts';

/** Ends the retries of a message: it is logged, counted and, except for notices, reported. */
export async function giveUp(context: DecisionContext, row: DueMessage): Promise<void> {
  const { changeId, kind } = row;
  const now = context.now();
  countLost(context, row);
  await context.database.transaction(async (tx) => {
    await markDone(tx, [row.id], now);
    if (kind === 'notice') return;
    const about = changeId ? ` of change ${changeId}` : '';
    const sentence =
      `Slack has refused a message${about} (${messageLabel(row)}) for 24 hours. ` +
      'Signalbox does not retry it any more. The log has the reason.';
    await enqueueOperatorsNotice(tx, sentence, now);
  });
}
