import { z } from 'zod';
import { DAY_MS } from '../../base/time.ts';
import type { Change, ChangeId, ChannelId, Position, UserId } from '../../domain/change.ts';
import { loadChange } from '../../log/old/changes.ts';
import type { Db, Tx } from '../../storage/old/database.ts';
import {
  dropMeta,
  hasMetaUnder,
  metaUnder,
  readMeta,
  replaceMeta,
  writeMeta,
} from '../../storage/old/meta.ts';
import { enqueue } from '../../storage/old/outbox.ts';
import type { PostAttempt } from './messenger-port.ts';
import type { DecisionContext } from './ports.ts';

// A copy of the card in the direct messages of an approver. Its buttons are those of the card, so that
// a press has the same checks. The table `meta` has one entry for each copy.

const StoredCopy = z.object({
  plannedAt: z.string(),
  /** Null: not posted yet. */
  at: z
    .object({ channel: z.string().transform((id) => id as ChannelId), ts: z.string() })
    .nullable(),
  drawn: z.string().nullable(),
});
type StoredCopy = z.infer<typeof StoredCopy>;

const ALL = 'direct-card:';

function keyOf(change: ChangeId, user: UserId): string {
  return `${ALL}${change}:${user}`;
}

/** Plans a copy for each new recipient of a pending change. Returns when more roles may decide. */
export async function planDirectCards(context: DecisionContext, change: Change) {
  const { directCards, database, now } = context;
  if (change.state !== 'pending') return null;
  const users = await directCards.of(change);
  const at = now();
  await database.transaction(async (tx) => {
    const planned = encode({ plannedAt: at.toISOString(), at: null, drawn: null });
    for (const user of users) {
      if (!(await replaceMeta(tx, keyOf(change.id, user), null, planned))) continue;
      await enqueue(tx, { changeId: change.id, kind: 'direct-card', user, at });
    }
  });
  const { requires, confirmedAt } = change;
  const escalatesAt = (confirmedAt?.getTime() ?? 0) + (requires.escalation?.afterMs ?? 0);
  if (requires.escalation === null || escalatesAt <= at.getTime()) return null;
  return { changeId: change.id, kind: 'direct-cards', at: new Date(escalatesAt) } as const;
}

/** Plans a redraw of each posted copy that shows another state than the current one. */
export async function refreshDirectCards(context: DecisionContext, change: Change): Promise<void> {
  const { db } = context.database;
  const copies = (await hasMetaUnder(db, ALL)) ? await copiesOf(db, change.id) : [];
  const stale = copies.filter(({ copy }) => copy.at && copy.drawn !== revisionOf(change));
  if (stale.length === 0) return;
  await context.database.transaction(async (tx) => {
    for (const { user } of stale) await enqueueCopy(tx, context, change.id, user);
  });
}

function enqueueCopy(tx: Tx, { now }: DecisionContext, changeId: ChangeId, user: UserId) {
  return enqueue(tx, { changeId, kind: 'direct-card', user, at: now() });
}

/** Where the copies of a card are; null for one that is not posted yet. */
export async function copyPositions(
  db: Db,
  change: ChangeId,
): Promise<readonly (Position | null)[]> {
  const copies = (await hasMetaUnder(db, ALL)) ? await copiesOf(db, change) : [];
  return copies.map(({ copy }) => copy.at);
}

async function copiesOf(db: Db, change: ChangeId) {
  const prefix = `${ALL}${change}:`;
  const entries = await metaUnder(db, prefix);
  return entries.map(({ key, value }) => ({
    // `keyOf` wrote the id of a user there.
    user: key.slice(prefix.length) as UserId,
    copy: decode(value),
  }));
}

/** Posts or redraws one copy. Nothing is posted for a change that was decided meanwhile. */
export async function deliverDirectCard(
  context: DecisionContext,
  change: Change,
  user: UserId,
  attempt: PostAttempt,
): Promise<void> {
  const { database, messenger } = context;
  const key = keyOf(change.id, user);
  const value = await readMeta(database.db, key);
  if (value === null) return;
  const copy = decode(value);
  if (copy.drawn === revisionOf(change)) return;
  const at = copy.at
    ? await redraw(context, change, copy.at)
    : await post(context, change, user, attempt);
  if (at === null) return database.transaction((tx) => dropMeta(tx, key));
  // A copy that an earlier attempt posted may show an older state.
  if (!copy.at && attempt.again) await messenger.redrawCard(change, at);
  await database.transaction(async (tx) => {
    await writeMeta(tx, key, encode({ ...copy, at, drawn: revisionOf(change) }));
    const current = await loadChange(tx, change.id);
    const hasMoved = current !== null && current.version !== change.version;
    if (hasMoved) await enqueueCopy(tx, context, change.id, user);
  });
}

async function post(
  { messenger }: DecisionContext,
  change: Change,
  user: UserId,
  attempt: PostAttempt,
): Promise<Position | null> {
  return change.state === 'pending' ? messenger.postDirectCard(change, user, attempt) : null;
}

async function redraw(
  { messenger }: DecisionContext,
  change: Change,
  at: Position,
): Promise<Position | null> {
  return (await messenger.redrawCard(change, at)) === 'drawn' ? at : null;
}

/** Changes whenever the card is drawn differently. */
function revisionOf({ version, child, followUp, stopReason }: Change): string {
  return [version, child?.state, followUp?.revision, stopReason].join(':');
}

/** A copy is redrawn as long as the revert or review of its change may come. */
const KEPT_MS = 180 * DAY_MS;

/** Deletes the entries of old copies. */
export async function pruneDirectCards(tx: Tx, now: Date): Promise<void> {
  for (const { key, value } of await metaUnder(tx, ALL)) {
    const isOld = now.getTime() - Date.parse(decode(value).plannedAt) > KEPT_MS;
    if (isOld) await dropMeta(tx, key);
  }
}

function encode(copy: StoredCopy): string {
  return JSON.stringify(copy);
}

function decode(value: string): StoredCopy {
  return StoredCopy.parse(JSON.parse(value));
}
