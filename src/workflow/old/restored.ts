import type { ChangeId } from '../../domain/change.ts';
import { appendEvent, eventHashes, type Head } from '../../log/old/append.ts';
import { type ArchiveCheckpoint, lastCheckpoint } from '../../log/old/checkpoints.ts';
import { enqueueOperatorsNotice } from '../../log/old/notices.ts';
import {
  ANNOUNCED,
  announcedRestore,
  handledRestores,
  recordHandledRestore,
} from '../../log/old/restore-mark.ts';
import type { Tx } from '../../storage/old/database.ts';
import { markDigestsUnknown } from '../../storage/old/digests.ts';
import { discardReports } from '../../storage/old/outbox.ts';
import type { PostedAnchors } from './anchors.ts';
import { ownAnchors } from './other-installation.ts';
import type { DecisionContext } from './ports.ts';
import { stopOpenChanges } from './stop-open-changes.ts';

/**
 * Stops all open changes of a restored database, because an older copy does not contain what was sent
 * after it was made. To be called at the start, before anything is claimed.
 */
export async function stopRestoredChanges(
  context: DecisionContext,
  posted: PostedAnchors,
): Promise<void> {
  const handled = await handledRestores(context.database.db);
  // Each sign is handled once. Later starts and other replicas find it again.
  const known = new Set(handled.signs);
  const signs = (await signsOfRestore(context, posted)).filter((sign) => !known.has(sign));
  if (signs.length === 0) return;
  const { db, transaction: inTx } = context.database;
  const stopped = await stopOpenChanges(context, { why: 'restored', db, inTx });
  await context.database.transaction(async (tx) => {
    if (!(await recordHandledRestore(tx, handled, signs))) return;
    const digests = await markDigestsUnknown(tx);
    await discardReports(tx, context.now());
    const body = { by: 'signalbox', signs, changes: stopped, digests };
    await appendEvent(tx, context.auditKey, { kind: 'restored', at: context.now(), body });
    await notify(tx, context, stopped);
  });
}

/** Returns one line per sign of a restore, which identifies it. */
async function signsOfRestore(
  context: DecisionContext,
  posted: PostedAnchors,
): Promise<readonly string[]> {
  const announced = await announcedRestore(context.database.db);
  const signs = announced ? [`${ANNOUNCED}${announced}`] : [];
  // Of all anchors: the highest may belong to a timeline that an earlier restore abandoned.
  const anchors = await anchorsOutside(context, posted);
  const hashes = await eventHashes(
    context.database.db,
    anchors.map(({ seq }) => seq),
  );
  const archive = await lastCheckpoint(context.database.db, context.auditKey);
  const missing = anchors.filter(
    (anchor) =>
      anchor.seq > 0 &&
      hashes.get(anchor.seq) !== anchor.hash &&
      !isArchived(anchor, archive, hashes),
  );
  return [...new Set([...signs, ...missing.map(({ seq, hash }) => `audit ${seq} ${hash}`)])];
}

/** A signed checkpoint covers the event of this anchor, which was deleted after it was archived. */
function isArchived(
  { seq, hash }: Head,
  archive: ArchiveCheckpoint | null,
  hashes: ReadonlyMap<number, string>,
): boolean {
  if (!archive || seq > archive.last || hashes.has(seq)) return false;
  return seq < archive.last || hash === archive.lastHash;
}

async function anchorsOutside(
  { database, log }: DecisionContext,
  posted: PostedAnchors,
): Promise<readonly Head[]> {
  const nextToDatabase = database.checkpoint?.read() ?? null;
  if (!posted.ok) {
    const message = 'last anchor in the audit channel could not be read; see docs/operating.md';
    log.warn({ why: posted.why }, message);
  }
  const own = posted.ok ? await ownAnchors(database.db, posted.anchors) : [];
  return nextToDatabase ? [nextToDatabase, ...own] : own;
}

async function notify(
  tx: Tx,
  context: DecisionContext,
  stopped: readonly ChangeId[],
): Promise<void> {
  context.log.warn({ changes: stopped }, 'database was restored; its open changes are stopped');
  const open =
    stopped.length === 0
      ? 'It had no open changes.'
      : `Its open changes are stopped (${stopped.length}); each card says so. Check the current ` +
        'state of the targets before you request them again.';
  const sentence = `The database was restored from an older copy, or replaced. ${open}`;
  await enqueueOperatorsNotice(tx, sentence, context.now());
}
