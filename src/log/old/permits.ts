import type { ExpressionBuilder } from 'kysely';
import type { Change, ChangeId, UserId } from '../../domain/change.ts';
import { compileEach, compileOnce } from '../../storage/old/compile-once.ts';
import { isInList, type ListParameter, listParameter } from '../../storage/old/lists.ts';
import { toDate, toText } from '../../storage/old/portable.ts';
import type { ChangeTable, Db, SendPermitTable, Tables, Tx } from '../../storage/old/schema.ts';
import { keepRows, runTogether, type Statement } from '../../storage/old/together.ts';
import { OptimisticLockError } from './verdicts.ts';

interface Permit {
  readonly changeId: ChangeId;
  /** The call must not be repeated: only one permit, unless the request was not sent. */
  readonly single: boolean;
  readonly owner: string;
  readonly at: Date;
}

/** Stores the permit to send one request, for the process that commits it; returns its number. */
export async function writePermit(tx: Tx, permit: Permit): Promise<number> {
  const writing = writingPermit(tx, permit);
  await runTogether(tx, [writing]);
  return writing.number();
}

interface PermitStatement extends Statement<{ n: number }> {
  /** The number of the permit. */
  readonly number: () => number;
}

/** The statement of `writePermit`. */
export function writingPermit(tx: Tx, { changeId, single, owner, at }: Permit): PermitStatement {
  const read = keepRows(
    insertPermit.with(tx, changeId, single ? changeId : null, owner, toText(at)),
  );
  const number = () => {
    const [written] = read.rows();
    if (!written) throw new OptimisticLockError(`Change ${changeId} already has a permit to send`);
    return written.n;
  };
  const check = (written: readonly { n: number }[]) => {
    read.check(written);
    number();
  };
  return { ...read, check, number };
}

const insertPermit = compileOnce(
  (tx: Tx, id: ChangeId, single: ChangeId | null, owner: string, at: string) =>
    tx
      .insertInto('send_permit')
      .values((eb) => ({
        ...{ change_id: id, single, owner, at },
        ...{ n: nextNumber(eb, id), outcome: null, http_status: null },
      }))
      .onConflict((conflict) => conflict.doNothing())
      .returning('n'),
);

function nextNumber(eb: ExpressionBuilder<Tables, 'send_permit'>, changeId: ChangeId) {
  return eb
    .selectFrom('send_permit')
    .select((last) => last(last.fn.coalesce(last.fn.max('n'), last.lit(0)), '+', 1).as('n'))
    .where('change_id', '=', changeId);
}

interface ClosedPermit {
  readonly changeId: ChangeId;
  readonly n: number;
  readonly outcome: NonNullable<SendPermitTable['outcome']>;
  readonly httpStatus: number | null;
}

/** The statement that closes a permit. Its check throws `OptimisticLockError` if the permit is not open. */
export function closingPermit(
  tx: Tx,
  { changeId, n, outcome, httpStatus }: ClosedPermit,
): Statement<{ n: number }> {
  const check = (closed: readonly unknown[]) => {
    if (closed.length > 0) return;
    throw new OptimisticLockError(`Permit ${n} of change ${changeId} is not open`);
  };
  const { query } = closeOpen(tx, outcome, [changeId, n, httpStatus]);
  return { query, check };
}

const closeOpen = compileEach(
  (tx, outcome, [id, n, http_status]: [ChangeId, number, number | null]) =>
    tx
      .updateTable('send_permit')
      // `closingPermit` passes one of these.
      .set({
        outcome: outcome as ClosedPermit['outcome'],
        http_status,
        ...(outcome === 'not-sent' ? { single: null } : {}),
      })
      .where('change_id', '=', id)
      .where('n', '=', n)
      .where('outcome', 'is', null)
      .returning('n'),
);

/** Closes the permits of a crashed sender as unknown: its request may have arrived. */
export async function closeOpenPermits(tx: Tx, changeId: ChangeId): Promise<void> {
  await tx
    .updateTable('send_permit')
    .set({ outcome: 'unknown' })
    .where('change_id', '=', changeId)
    .where('outcome', 'is', null)
    .execute();
}

/**
 * Returns false if another change holds the lock. Locking twice has no effect. `also`: reads that are sent
 * together with it, and run once it is known who holds the lock.
 */
export async function lockTarget(
  tx: Tx,
  targetKey: string,
  changeId: ChangeId,
  at: Date,
  also: readonly Statement[] = [],
): Promise<boolean> {
  const lock = keepRows(insertLock.with(tx, targetKey, changeId, toText(at)));
  await runTogether(tx, [lock, ...also]);
  return lock.rows().length > 0 || (await lockHolder(tx, targetKey)) === changeId;
}

const insertLock = compileOnce((tx: Tx, target: string, changeId: ChangeId, at: string) =>
  tx
    .insertInto('target_lock')
    .values({ target, change_id: changeId, at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('target'),
);

export const unlockTarget = compileOnce((tx: Tx, changeId: ChangeId) =>
  tx.deleteFrom('target_lock').where('change_id', '=', changeId),
);

export async function lockHolder(db: Db, targetKey: string): Promise<ChangeId | null> {
  const query = db.selectFrom('target_lock').select('change_id').where('target', '=', targetKey);
  return (await query.executeTakeFirst())?.change_id ?? null;
}

/**
 * Returns the last change of the target that succeeded after this one was planned, or, for a revert,
 * after its parent ended; null if there is none. Lock the target first, so that no other change ends
 * after this check.
 */
export async function lastChangeSincePlan(
  tx: Tx,
  targetKey: string,
  change: Change,
): Promise<LaterChange | null> {
  const reading = await readingChangeSincePlan(tx, targetKey, change);
  await runTogether(tx, [reading]);
  return reading.change();
}

interface LaterChangeRead extends Statement {
  readonly change: () => LaterChange | null;
}

/** The statement of `lastChangeSincePlan`. */
export async function readingChangeSincePlan(
  tx: Tx,
  targetKey: string,
  { id, parent, createdAt }: Change,
): Promise<LaterChangeRead> {
  const since = parent ? await endOf(tx, parent) : toText(createdAt);
  const except = listParameter(tx, parent ? [id, parent] : [id]);
  const { rows, ...statement } = keepRows(lastOther.with(tx, targetKey, since, except));
  return { ...statement, change: () => laterChangeFrom(rows()) };
}

interface LaterChange {
  readonly id: ChangeId;
  readonly by: UserId;
  readonly at: Date;
}

/** Whether another change of the target succeeded after this one ended. */
export async function hasTargetChangedSinceEnd(
  db: Db,
  targetKey: string,
  { id }: Change,
): Promise<boolean> {
  const since = await endOf(db, id);
  return (await lastOther(db, targetKey, since, listParameter(db, [id]))).length > 0;
}

/** The commands of other changes of the target that got a permit to send since a time. */
export async function sentSince(
  db: Db,
  targetKey: string,
  { since, except }: { readonly since: Date; readonly except: ChangeId },
): Promise<readonly string[]> {
  const sent = await db
    .selectFrom('send_permit')
    .innerJoin('change', 'change.id', 'send_permit.change_id')
    .select('change.command')
    .where('change.target_key', '=', targetKey)
    .where('change.id', '!=', except)
    .where('send_permit.at', '>=', toText(since))
    // A request without a recorded outcome may have been sent.
    .where((eb) => eb.or([eb('outcome', 'is', null), eb('outcome', '!=', 'not-sent')]))
    .execute();
  return sent.map(({ command }) => command);
}

/** When the last permit to send was committed: the request was sent after it. */
export async function lastPermitAt(db: Db, changeId: ChangeId): Promise<Date | null> {
  const last = await db
    .selectFrom('send_permit')
    .select((eb) => eb.fn.max('at').as('at'))
    .where('change_id', '=', changeId)
    .executeTakeFirst();
  return last?.at ? toDate(last.at) : null;
}

async function endOf(db: Db, id: ChangeId): Promise<string> {
  const query = db.selectFrom('change').select('ended_at').where('id', '=', id);
  const { ended_at } = await query.executeTakeFirstOrThrow();
  if (ended_at === null) throw new Error(`Change ${id} has not ended`);
  return ended_at;
}

const lastOther = compileOnce((db: Db, targetKey: string, since: string, except: ListParameter) =>
  db
    .selectFrom('change')
    .select(['id', 'requester', 'ended_at'])
    .where('target_key', '=', targetKey)
    .where((eb) => eb.not(isInList(db, eb.ref('id'), except)))
    .where('state', '=', 'succeeded')
    .where('ended_at', '>=', since)
    .orderBy('ended_at', 'desc')
    .limit(1),
);

function laterChangeFrom([other]: readonly Pick<
  ChangeTable,
  'id' | 'requester' | 'ended_at'
>[]): LaterChange | null {
  const at = other && toDate(other.ended_at);
  return other && at ? { id: other.id, by: other.requester, at } : null;
}
