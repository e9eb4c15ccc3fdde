import { z } from 'zod';
import type { Change, ChangeId, UserId } from '../../changes/change.ts';
import { select } from '../tables/changes/change-query.ts';
import type { AuditEventTable, Db } from '../tables/schema.ts';
import { readEventBody } from './chain.ts';
import { eventRowsWithin, type TimeRange } from './read-range.ts';

interface RecordedAttempt {
  readonly at: Date;
  readonly by: UserId;
  /** All roles of the requester then; null for an event of release 1.0. */
  readonly roles: readonly string[] | null;
  readonly command: string;
  /** The name of the target. */
  readonly target: string;
}

/** A request that was stored as a draft, whatever became of it. */
export interface RecordedDraft extends RecordedAttempt {
  readonly kind: 'drafted';
  readonly id: ChangeId;
  /** Null: the row is missing or unreadable. */
  readonly change: Change | null;
}

/** A request that was refused, so that no change was stored. */
export interface RecordedRefusal extends RecordedAttempt {
  readonly kind: 'refused';
  readonly seq: number;
  readonly refusal: string;
  /** The rule that refused; null if none did. */
  readonly rule: number | null;
  /** The command that the user entered; `command` may be the one that reverts it. */
  readonly entered: string;
}

export type RecordedRequest = RecordedDraft | RecordedRefusal;

const User = z.custom<UserId>((value) => typeof value === 'string');
const roles = z.array(z.string()).nullable().catch(null).default(null);

// Loose: newer releases add facts.
const DraftedBody = z.looseObject({ by: User, command: z.string(), target: z.string(), roles });
const RefusedBody = z.looseObject({
  by: User,
  tried: z.string(),
  refusal: z.string(),
  command: z.string(),
  target: z.string(),
  rule: z.int().nullable(),
  roles,
});

/**
 * Yields the requests of a time range in order, from the audit trail: drafts with their stored
 * change, and refusals that name a command and a target. Reverts are no requests.
 */
export async function* recordedRequests(
  db: Db,
  range: TimeRange,
  batch = 200,
): AsyncGenerator<RecordedRequest> {
  let waiting: RecordedRequest[] = [];
  for await (const row of eventRowsWithin(db, range)) {
    const request = requestOf(row);
    if (request) waiting.push(request);
    if (waiting.length < batch) continue;
    yield* await withChanges(db, waiting);
    waiting = [];
  }
  yield* await withChanges(db, waiting);
}

function requestOf(row: AuditEventTable): RecordedRequest | null {
  if (row.kind !== 'drafted' && row.kind !== 'refused') return null;
  const { at, change: id, body } = readEventBody(row);
  if (row.kind === 'drafted') {
    const { success, data } = DraftedBody.safeParse(body);
    if (!success || id === null) return null;
    const { by, command, target, roles: held } = data;
    return { kind: 'drafted', id, at, by, roles: held, command, target, change: null };
  }
  // A refused click names no command and target, or names a change that exists already.
  const { success, data } = RefusedBody.safeParse(body);
  if (!success || id !== null) return null;
  const { by, tried: entered, refusal, command, target, rule, roles: held } = data;
  const { seq } = row;
  return { kind: 'refused', seq, at, by, roles: held, command, target, refusal, rule, entered };
}

async function withChanges(
  db: Db,
  requests: readonly RecordedRequest[],
): Promise<readonly RecordedRequest[]> {
  const ids = requests.flatMap((request) => (request.kind === 'drafted' ? [request.id] : []));
  if (ids.length === 0) return requests;
  const changes = await select(db, {
    where: (eb) => eb('id', 'in', ids),
    // Its request stays without a change, which the reader reports.
    onUnreadable: () => undefined,
  });
  const byId = new Map(changes.map((change) => [change.id, change]));
  return requests.map((request) =>
    request.kind === 'drafted' ? { ...request, change: byId.get(request.id) ?? null } : request,
  );
}
