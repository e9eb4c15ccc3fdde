/** All transitions between states, each with its audit event. */
export const MOVES = [
  'nothing → draft, drafted',
  'draft → pending, confirmed',
  'draft → approved, confirmed',
  'draft → approved, glass-broken',
  'draft → cancelled, cancelled',
  'draft → expired, expired',
  'pending → pending, approved',
  'pending → approved, approved',
  'pending → approved, glass-broken',
  'pending → rejected, rejected',
  'pending → cancelled, cancelled',
  'pending → expired, expired',
  'approved → executing, claimed',
  'approved → cancelled, cancelled',
  'approved → expired, expired',
  'approved → stale, stale',
  'approved → denied, denied',
  'executing → succeeded, succeeded',
  'executing → failed, failed',
  'executing → unknown, unknown',
  'executing → approved, handed-back',
  'unknown → succeeded, resolved',
  'unknown → failed, resolved',
] as const;

/** Whether a transition is a review, which keeps the state. */
export const isReview = (move: string) => /^(\w+) → \1, reviewed$/.test(move);
