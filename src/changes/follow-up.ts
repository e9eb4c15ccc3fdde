/** The values of a target before and after a request that has no answer. */
export interface Evidence {
  readonly shown: string;
  readonly shownAt: Date;
  readonly before: string;
  readonly beforeAt: Date;
}

/**
 * `open`: Signalbox still reads the target. `settled` and `failed`: the final value. `given-up`: not
 * settled in time. `superseded`: another change of the target was sent. `unreadable`: the server
 * does not permit the read. `closed`: nothing is left to follow.
 */
export const FOLLOW_UP_STATES = [
  'open',
  'settled',
  'failed',
  'given-up',
  'superseded',
  'unreadable',
  'closed',
] as const;

/** Why a reading does not settle an unknown outcome by itself. */
export const EVIDENCE_GAPS = [
  'creation',
  'not-as-requested',
  'under-way',
  'before-unknown',
  'was-so-before',
  'changed-since',
  'trail-problem',
] as const;
export type EvidenceGap = (typeof EVIDENCE_GAPS)[number];

/** What the optional reads showed of the target after the send. For users: it has no authority. */
export interface FollowUp {
  readonly state: (typeof FOLLOW_UP_STATES)[number];
  /** The last value that was read, and the time of the first reading with it. */
  readonly seen: { readonly text: string; readonly at: Date } | null;
  /** Why it cannot be read now: continues “unknown: ”. */
  readonly gap: string | null;
  readonly why: EvidenceGap | null;
  /** What an unanswered request may have created. */
  readonly candidates: readonly Candidate[];
  /** Counts what was shown: it increases when the shown values change. */
  readonly revision: number;
}

interface Candidate {
  readonly name: string;
  readonly id: string;
  readonly state: string | null;
  /** Null if the server does not report it. */
  readonly createdAt: Date | null;
}
