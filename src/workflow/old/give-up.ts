import { Cache } from '../../base/cache.ts';
import type { Change } from '../../domain/change.ts';
import { enqueueOperatorsNotice, enqueueUserNotice } from '../../log/old/notices.ts';
import { countLost, messageLabel } from '../../log/old/retry.ts';
import { type DueMessage, enqueue, markDone } from '../../storage/old/outbox.ts';
import type { DecisionContext } from './ports.ts';

/** Ends the retries of a message: it is logged, counted and, except for notices, reported. */
export async function giveUp(context: DecisionContext, row: DueMessage): Promise<void> {
  const now = context.now();
  countLost(context, row);
  await context.database.transaction(async (tx) => {
    await markDone(tx, [row.id], now);
    if (row.kind === 'notice') return;
    const sentence =
      `Signalbox could not post a message${aboutOf(row)} for 24 hours. ` +
      'It does not retry it any more. The log has the reason.';
    await enqueueOperatorsNotice(tx, sentence, now);
  });
}

function aboutOf(row: DueMessage): string {
  const about = row.changeId ? ` of change ${row.changeId}` : '';
  return `${about} (${messageLabel(row)})`;
}

const MOST_REPORTED = 1_000;
const reported = new WeakMap<DecisionContext, Cache<string, true>>();

/**
 * Ends a message that Slack refused for good, and reports it to the operators, once for each kind and reason of a
 * change. Of a card, its requester is notified as well, and the approvers get it as a direct message.
 */
export async function endRefused(
  context: DecisionContext,
  row: DueMessage,
  { change, why }: { readonly change: Change | null; readonly why: string },
): Promise<void> {
  const now = context.now();
  countLost(context, row);
  const known = reported.get(context) ?? new Cache(MOST_REPORTED);
  reported.set(context, known);
  const key = `${row.changeId} ${messageLabel(row)} ${why}`;
  const isSilent = row.kind === 'notice' || (change !== null && known.get(key) === true);
  const isCard = row.message?.kind === 'card';
  const sentence = `Slack refused a message${aboutOf(row)}: ${why}. Signalbox does not retry it.`;
  await context.database.transaction(async (tx) => {
    await markDone(tx, [row.id], now);
    if (isSilent) return;
    const card = change && isCard ? cardNotices(change, why) : null;
    await enqueueOperatorsNotice(tx, card?.operators ?? sentence, now);
    if (!card) return;
    await enqueueUserNotice(tx, card.requester, now);
    if (card.isOpen) await enqueue(tx, { changeId: card.id, kind: 'direct-cards', at: now });
  });
  known.set(key, true);
}

/** What operators and the requester read about a refused card, and whether approvers wait for it. */
function cardNotices({ id, card, requester, state, command, plan }: Change, why: string) {
  const isOpen = state === 'pending' && !card;
  const failed = `could not be ${card ? 'updated' : 'posted'}: ${why}.`;
  const notified = isOpen ? 'The operators and the approvers were' : 'The operators were';
  const text = `The card of “${command} ${plan.target.name}” ${failed} ${notified} notified.`;
  const next = 'Signalbox tries it again every hour while the change is open.';
  return {
    ...{ id, isOpen },
    operators: `The card of change ${id} ${failed} ${next}`,
    requester: { to: requester, title: `Change ${id}`, text },
  };
}
