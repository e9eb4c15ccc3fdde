import type { Progress } from '../../commands/index.ts';
import type { Change, FollowUp } from '../../domain/change.ts';

type Candidates = FollowUp['candidates'];

/** The part of a listed service or endpoint that is compared and shown. */
export interface Listed {
  readonly id: string;
  readonly name: string | null;
  readonly state: string | null;
  /** As the server sent it. */
  readonly createdAt: string | null;
  readonly type: string | null;
}

// The clocks of the server and of the database may differ.
const CLOCK_SKEW_MS = 60_000;
const MOST_SHOWN = 5;
const LONGEST_NAME = 100;

/**
 * What an unanswered creation may have created: entries with the requested name, created since the
 * send or at an unknown time. Whether one of them is it, a person decides.
 */
export function candidatesIn(
  listed: readonly Listed[],
  { plan }: Pick<Change, 'plan'>,
  sentAt: Date,
): Candidates {
  const { name, description, type } = plan.body;
  const wanted = sameName(name ?? description);
  return listed
    .filter((each) => sameName(each.name) === wanted && (type === undefined || each.type === type))
    .map(({ id, name: called, state, createdAt }) => ({
      name: (called ?? '').slice(0, LONGEST_NAME),
      id: id.slice(0, LONGEST_NAME),
      state: state?.slice(0, LONGEST_NAME) ?? null,
      createdAt: instantOf(createdAt),
    }))
    .filter(
      ({ createdAt }) => !createdAt || createdAt.getTime() >= sentAt.getTime() - CLOCK_SKEW_MS,
    )
    .slice(0, MOST_SHOWN);
}

function sameName(name: unknown): string {
  return String(name).trim().toLowerCase();
}

function instantOf(text: string | null): Date | null {
  const at = new Date(text ?? Number.NaN);
  return Number.isNaN(at.getTime()) ? null : at;
}

/** What a list shows of a creation. An empty list does not prove that nothing was created. */
export function candidatesProgress(
  candidates: Candidates,
  thing: 'service' | 'endpoint',
): Progress {
  const since = 'since the request was sent';
  const text =
    candidates.length === 0
      ? `no ${thing} with this name was created ${since}; it may still appear`
      : `created with this name ${since}`;
  return { is: 'unknown', text };
}
