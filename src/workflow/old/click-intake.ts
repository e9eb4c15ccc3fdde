import { requestNow, step, traceHere } from '../../base/log.ts';
import type { UserId } from '../../domain/change.ts';
import {
  isClickHandled,
  markHandled,
  type ReceivedClick,
  storeClicks,
} from '../../log/old/inbox.ts';
import { clickKeys } from '../../log/old/verify-click.ts';
import type { Tx } from '../../storage/old/schema.ts';
import type { DecisionContext } from './ports.ts';
import { countAttempts, type RateLimitStatus } from './rate-limit.ts';
import { shareCommits } from './shared-commits.ts';

/** One click as it is stored in the inbox. */
interface InboxEntry extends ReceivedClick {
  readonly by: UserId;
}

/** `again`: the click was already received. A click above the rate limit is never handled. */
export type Receipt = RateLimitStatus | 'again';

/** Stores a click in the inbox. Resolves after the commit, so that a crash cannot lose the click. */
export function enqueueClick(context: DecisionContext, entry: InboxEntry): Promise<Receipt> {
  return step({ name: `store ${entry.kind}` }, () => intakeOf(context)(entry));
}

/** Whether a stored click was handled, by this or another process. */
export function isHandled({ database }: DecisionContext, key: string): Promise<boolean> {
  return isClickHandled(database.db, key);
}

type Intake = (entry: InboxEntry) => Promise<Receipt>;

const intakes = new WeakMap<DecisionContext, Intake>();

function intakeOf(context: DecisionContext): Intake {
  const intake = intakes.get(context) ?? createIntake(context);
  intakes.set(context, intake);
  return intake;
}

function createIntake(context: DecisionContext): Intake {
  const store = shareCommits(async (entries: readonly InboxEntry[]) => {
    const receipts = await context.database.transaction((tx) => storeAll(tx, context, entries));
    return (entry: InboxEntry): Receipt => receipts.get(entry) ?? 'again';
  });
  return (entry) => store(withOrigin(entry));
}

/** Stores the request id and the trace, which the replica that handles the click continues. */
function withOrigin(entry: InboxEntry): InboxEntry {
  const [request, trace] = [requestNow(), traceHere()];
  const origin = { ...(request && { request }), ...(trace && { trace }) };
  return { ...entry, body: { ...entry.body, ...origin } };
}

/** A repeated click does not count towards the rate limit. */
async function storeAll(
  tx: Tx,
  context: DecisionContext,
  entries: readonly InboxEntry[],
): Promise<ReadonlyMap<InboxEntry, RateLimitStatus>> {
  const keys = await clickKeys(tx, context.auditKey, context.now());
  const fresh = await storeClicks(tx, keys, entries);
  const by = fresh.map((entry) => entry.by);
  const statuses = await countAttempts(tx, context, 'click', by);
  const receipts = new Map(fresh.map((entry, index) => [entry, statuses[index] ?? 'ok']));
  for (const [{ key }, status] of receipts) {
    if (status !== 'ok') await markHandled(tx, key, context.now());
  }
  return receipts;
}
