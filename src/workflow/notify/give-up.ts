import { type DueMessage, markDone } from '../../storage/tables/queues/outbox.ts';
import type { DecisionContext } from '../ports.ts';
import { enqueueOperatorsNotice } from './notices.ts';

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
      `Slack has refused a message${about} (${labelOf(row)}) for 24 hours. ` +
      'Signalbox does not retry it any more. The log has the reason.';
    await enqueueOperatorsNotice(tx, sentence, now);
  });
}

/** Logs and counts a message that is not posted any more. */
export function countLost({ log, measures }: DecisionContext, row: DueMessage): void {
  log.error({ change: row.changeId, kind: row.kind }, 'message was given up');
  measures.messageLost(labelOf(row));
}

/** The kind without the state or number that it is about, so that few values exist. */
function labelOf({ message }: DueMessage): string {
  return message?.kind ?? 'other';
}
