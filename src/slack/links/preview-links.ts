import type { Logger } from 'pino';
import type { Change, ChangeId, Position } from '../../domain/change.ts';

const WAITING_MAX = 500;

type ShowAgain = (change: Change) => Promise<void>;

interface Waiting {
  readonly change: Change;
  readonly showAgain: ShowAgain;
}

/**
 * The answered previews whose cards are not posted yet: each is shown again with a link to its card.
 * Kept in this process only: after a restart, and on other replicas, they stay without a link.
 */
export function createPreviewLinks(log: Logger) {
  const waiting = new Map<ChangeId, Waiting>();
  return {
    add: (change: Change, showAgain: ShowAgain): void => {
      waiting.set(change.id, { change, showAgain });
      const [oldest] = waiting.keys();
      if (waiting.size > WAITING_MAX && oldest) waiting.delete(oldest);
    },
    /** The preview shows its link without delaying the outbox. */
    cardPosted: (id: ChangeId, card: Position): void => {
      const found = waiting.get(id);
      if (!found) return;
      waiting.delete(id);
      found.showAgain({ ...found.change, card }).catch((error: unknown) => {
        log.warn({ err: error, change: id }, 'a preview stays without the link to its card');
      });
    },
  };
}
