import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { installationId } from '../../src/log/old/anchor.ts';
import { eventHashes, listEvents } from '../../src/log/old/append.ts';
import { stopRestoredChanges } from '../../src/workflow/old/restored.ts';
import { archiveInto, KEY, oldTrail, segmentsFolder } from '../storage/old-trail.ts';
import { createTestContext } from './context.ts';

/** A start after events 1 to 8 of 10 were archived; the channel has anchors of these events. */
async function startWith(
  anchors: readonly { readonly seq: number; readonly hash?: string }[],
  { hasSegments = true } = {},
): Promise<readonly string[]> {
  const { context } = await createTestContext();
  const { database } = context;
  await oldTrail(database);
  const hashes = await eventHashes(database.db, [1, 5, 8, 9]);
  const installation = await installationId(database.db);
  const folder = segmentsFolder();
  await archiveInto(database, folder);
  if (!hasSegments) rmSync(folder, { recursive: true });
  const posted = anchors.map(({ seq, hash = hashes.get(seq) ?? '' }) => ({
    seq,
    hash,
    installation,
  }));
  await stopRestoredChanges({ ...context, auditKey: KEY }, { ok: true, anchors: posted });
  const events = await listEvents(database.db, { afterSeq: 10, limit: 10 });
  return events.map(({ kind }) => kind);
}

const FORGED = 'ef'.repeat(32);

test.for([true, false])(
  'anchors of archived events are no sign of a restore (segments at hand: %s)',
  async (hasSegments) => {
    const anchors = [{ seq: 1 }, { seq: 5 }, { seq: 8 }, { seq: 9 }];
    expect(await startWith(anchors, { hasSegments })).toEqual(['trail-archived']);
  },
);

test.for([
  ['of the last archived event with another hash', { seq: 8, hash: FORGED }],
  ['of an event after the checkpoint with another hash', { seq: 9, hash: FORGED }],
  ['of an event after the end of the trail', { seq: 99, hash: FORGED }],
] as const)('after an archive, an anchor %s is a sign of a restore', async ([, anchor]) => {
  expect(await startWith([{ seq: 5 }, anchor])).toEqual(['trail-archived', 'restored']);
});
