import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pruneCosts } from '../../costs/store.ts';
import { type Archived, archiveTrail, findRange } from '../../log/old/archive.ts';
import type { Holder } from '../../log/old/boundary.ts';
import type { AuditKey } from '../../log/old/key-ring.ts';
import type { Database } from '../../storage/old/database.ts';
import { listInstances } from '../../storage/old/instances.ts';

export interface ArchiveOptions {
  readonly key: AuditKey;
  readonly segments: string;
  readonly dryRun: boolean;
  readonly version: string;
  readonly retention: { readonly changesMs: number | null; readonly costsMs: number | null };
}

/** Archives and deletes what the retention permits. Returns what it did, as lines. */
export async function archive(
  database: Database,
  { key, segments, dryRun, version, retention }: ArchiveOptions,
): Promise<readonly string[]> {
  const { changesMs, costsMs } = retention;
  if (changesMs === null && costsMs === null) throw new Error(NO_RETENTION);
  const at = await database.now();
  if (changesMs !== null) refuseNoFolder(segments);
  await refuseOtherVersions(database, version, at);
  const lines: string[] = [];
  if (changesMs !== null) {
    const request = { before: new Date(at.getTime() - changesMs), at, folder: segments };
    if (dryRun) lines.push(...rangeLines(await findRange(database.db, key, request)));
    else lines.push(...archivedLines(await archiveTrail(database, key, request)));
    lines.push(...partialLines(segments));
  }
  if (costsMs !== null && !dryRun) {
    const before = new Date(at.getTime() - costsMs);
    const rows = await database.transaction((tx) => pruneCosts(tx, before));
    lines.push(`Deleted ${rows} rows of costs from before ${before.toISOString().slice(0, 10)}.`);
  }
  return lines;
}

const NO_RETENTION =
  'signalbox.yaml has no retention, so nothing was archived or deleted. Set for example ' +
  'retention: { changes: 400d, costs: 800d }';

function refuseNoFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  throw new Error(`${path} is not a folder. Create it, on a disk that is backed up`);
}

const SEEN_WITHIN_MS = 600_000;

// An earlier release would report the archived events as missing, and stop executions.
async function refuseOtherVersions({ db }: Database, version: string, at: Date): Promise<void> {
  const running = (await listInstances(db)).filter(
    ({ seenAt }) => seenAt.getTime() > at.getTime() - SEEN_WITHIN_MS,
  );
  const other = running.find((one) => one.version !== version);
  if (!other) return;
  throw new Error(
    `A replica runs Signalbox ${other.version}, and this command is ${version}. Nothing was archived. ` +
      'Finish the upgrade of all replicas, and run it again after 10 minutes',
  );
}

function archivedLines({ checkpoint, holder, deleted }: Archived): readonly string[] {
  const { events, changes } = deleted;
  const rows = `Deleted ${events} events and ${changes} changes.`;
  if (!checkpoint) {
    const continued = `Continued the interrupted run. ${rows}`;
    const lines = events + changes > 0 ? [continued, NOTHING_MORE] : [NOTHING];
    return [...lines, ...holderLines(holder)];
  }
  const { file, first, last, seq, sha256 } = checkpoint;
  return [
    `${file} has the events ${first} to ${last}. SHA-256: ${sha256}`,
    `Event ${seq} of the audit trail is the signed checkpoint. ${rows}`,
    ...holderLines(holder),
  ];
}

function rangeLines(range: Awaited<ReturnType<typeof findRange>>): readonly string[] {
  const { from, end, holder } = range;
  const what = `Without --dry-run, events ${from.seq + 1} to ${end.seq} would be archived.`;
  return [end.seq > from.seq ? what : NOTHING, ...holderLines(holder)];
}

const PARTIAL = /^audit-[0-9a-f]+-\d+-\d+\.jsonl\.[0-9a-f]{8}\.partial$/;
const NOTHING = 'No event is old enough to be archived.';
const NOTHING_MORE = 'No other event is old enough to be archived.';

function holderLines(holder: Holder | null): readonly string[] {
  if (!holder) return [];
  const { id, seq } = holder;
  return [
    `Later events stay, because change ${id}, which begins at event ${seq}, is still needed.`,
  ];
}

/** A killed run leaves its file. A run at the same time still writes to its own. */
function partialLines(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => PARTIAL.test(name));
  return names.map(
    (name) => `${join(folder, name)} is incomplete. Delete it if no other run is active.`,
  );
}
