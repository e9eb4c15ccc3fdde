import type { UserId } from '../../changes/change.ts';
import { requestNow } from '../../observability/log.ts';
import { outsideTrace, step, traceHere } from '../../observability/trace.ts';
import { markHandled, type ReceivedClick, storeClick } from '../../storage/tables/queues/inbox.ts';
import type { Tx } from '../../storage/tables/schema.ts';
import { type RateLimitStatus, rateLimitStatusOf } from '../limits/rate-limit.ts';
import type { DecisionContext } from '../ports.ts';

export interface InboxEntry extends ReceivedClick {
  readonly by: UserId;
}

/** `again`: this very one is here already. One that was too many is not handled any more. */
export type Receipt = RateLimitStatus | 'again';

/** Puts a press where no crash can lose it. */
export function enqueueClick(context: DecisionContext, letter: InboxEntry): Promise<Receipt> {
  return step({ name: `store ${letter.kind}` }, () => mailOf(context).put(letter));
}

interface Mail {
  readonly put: (letter: InboxEntry) => Promise<Receipt>;
}

const mails = new WeakMap<DecisionContext, Mail>();

function mailOf(context: DecisionContext): Mail {
  const mail = mails.get(context) ?? createMail(context);
  mails.set(context, mail);
  return mail;
}

interface Waiting {
  readonly letter: InboxEntry;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (error: unknown) => void;
}

/** Whatever arrives while one commit is under way shares the next: a storm of clicks costs few. */
function createMail(context: DecisionContext): Mail {
  let waiting: Waiting[] = [];
  let running = false;

  async function commit(batch: readonly Waiting[]): Promise<void> {
    try {
      const letters = batch.map(({ letter }) => letter);
      const receipts = await context.database.transaction((tx) => storeAll(tx, context, letters));
      for (const { letter, resolve } of batch) resolve(receipts.get(letter) ?? 'again');
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
  async function run(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await commit(batch);
    }
    running = false;
  }
  return {
    put: (letter) =>
      new Promise((resolve, reject) => {
        waiting.push({ letter: withOrigin(letter), resolve, reject });
        // One commit is for several, and so a part of none of their traces.
        if (!running) void outsideTrace(run);
      }),
  };
}

/** Whichever replica handles it, and however late, its log lines and its trace go on from there. */
function withOrigin(letter: InboxEntry): InboxEntry {
  const [request, trace] = [requestNow(), traceHere()];
  const origin = { ...(request && { request }), ...(trace && { trace }) };
  return { ...letter, body: { ...letter.body, ...origin } };
}

/** What came before is not counted again, so that nobody is shut out by a repetition. */
async function storeAll(
  tx: Tx,
  context: DecisionContext,
  letters: readonly InboxEntry[],
): Promise<ReadonlyMap<InboxEntry, RateLimitStatus>> {
  const fresh: InboxEntry[] = [];
  for (const letter of letters) if (await storeClick(tx, letter)) fresh.push(letter);
  const by = fresh.map((letter) => letter.by);
  const paces = await rateLimitStatusOf(tx, context, 'click', by);
  const receipts = new Map(fresh.map((letter, index) => [letter, paces[index] ?? 'fine']));
  for (const [{ key }, pace] of receipts) {
    if (pace !== 'fine') await markHandled(tx, key, context.now());
  }
  return receipts;
}
