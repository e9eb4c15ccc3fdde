/** All transitions between states, each with its audit event. */
export const MOVES = [
  'nothing → draft, drafted',
  'draft → pending, confirmed',
  'draft → approved, confirmed',
  'draft → approved, break-glass',
  'draft → cancelled, cancelled',
  'draft → expired, expired',
  'draft → stale, stale',
  'pending → pending, approved',
  'pending → approved, approved',
  'pending → pending, narrowed',
  'pending → approved, narrowed',
  'pending → approved, break-glass',
  'pending → rejected, rejected',
  'pending → cancelled, cancelled',
  'pending → expired, expired',
  'pending → denied, denied',
  'pending → stale, stale',
  'approved → executing, claimed',
  'approved → cancelled, cancelled',
  'approved → expired, expired',
  'approved → stale, stale',
  'approved → denied, denied',
  'executing → succeeded, succeeded',
  'executing → failed, failed',
  'executing → unknown, unknown',
  'executing → approved, not-sent',
  'unknown → succeeded, resolved',
  'unknown → failed, resolved',
] as const;

/** Whether an event keeps the state, without a decision about the request. */
export const isReview = (move: string) =>
  /^(\w+) → \1, (reviewed|card-posted|card-lost|used|revoked)$/.test(move);
