import { traced } from '../../base/log.ts';
import type { Change, ChangeId } from '../../domain/change.ts';
import { gate } from '../../domain/gate.ts';
import {
  dueExpiries,
  executingChangeIds,
  expiredLeases,
  outdatedChanges,
} from '../../log/old/change-due.ts';
import { lockChange } from '../../log/old/changes.ts';
import { closeOpenPermits } from '../../log/old/permits.ts';
import { freeQueues } from '../../storage/old/take-over.ts';
import type { DecisionContext } from './ports.ts';
import { recordMove } from './record.ts';

const AT_ONCE = 50;

/**
 * Marks executions whose lease expired as unknown. Their process crashed, and the request may have
 * arrived, so that it is never sent again.
 */
export async function recover(context: DecisionContext): Promise<number> {
  const lost = await expiredLeases(context.database.db, context.now(), AT_ONCE);
  return sweepAll(context, lost, 'unknown', (change, now) =>
    gate(change, 'lose', { now, isOver: false }),
  );
}

/**
 * Takes over all work of the previous process. To be called at the start, before anything is
 * claimed, and only where the database proves that this process is the only one.
 */
export async function takeOver(context: DecisionContext): Promise<void> {
  await context.database.transaction((tx) => freeQueues(tx, context.now()));
  const seen: ChangeId[] = [];
  for (;;) {
    const query = { limit: AT_ONCE, except: seen };
    const abandoned = await executingChangeIds(context.database.db, query);
    if (abandoned.length === 0) return;
    await sweepAll(context, abandoned, 'unknown', (change, now) =>
      gate(change, 'lose', { now, isOver: true }),
    );
    seen.push(...abandoned);
  }
}

export async function expireDue(context: DecisionContext): Promise<number> {
  const due = await dueExpiries(context.database.db, context.now(), AT_ONCE);
  return sweepAll(context, due, 'expired', (change, now) => gate(change, 'expire', { now }));
}

/** Ends what an earlier release left open, since its audit events cover less than is verified now. */
export async function stopOutdated(context: DecisionContext): Promise<number> {
  const outdated = await outdatedChanges(context.database.db, AT_ONCE);
  return sweepAll(context, outdated, 'stale', (change) =>
    gate(change, 'stop', { why: 'upgraded' }),
  );
}

type Ask = (change: Change, now: Date) => ReturnType<typeof gate<'expire' | 'lose' | 'stop'>>;

/** A change that cannot be moved is retried in the next pass and does not delay the others. */
async function sweepAll(
  context: DecisionContext,
  ids: readonly ChangeId[],
  kind: string,
  ask: Ask,
): Promise<number> {
  let swept = 0;
  for (const id of ids) {
    try {
      const facts = { 'signalbox.change': id, 'signalbox.to': kind };
      await traced({ name: 'sweep', facts }, () => sweep(context, id, kind, ask));
      swept += 1;
    } catch (error) {
      context.log.error(
        { err: error, change: id, kind },
        'change could not be moved; it is tried again',
      );
    }
  }
  return swept;
}

async function sweep(
  context: DecisionContext,
  id: Change['id'],
  kind: string,
  ask: Ask,
): Promise<void> {
  await context.database.transaction(async (tx) => {
    const change = await lockChange(tx, id);
    if (!change) return;
    const answer = ask(change, context.now());
    // Another process moved the change first, and recorded that.
    if ('refusal' in answer) return;
    if (kind === 'unknown') await closeOpenPermits(tx, id);
    await recordMove(tx, context, change, answer, { kind, by: 'signalbox' });
  });
}
