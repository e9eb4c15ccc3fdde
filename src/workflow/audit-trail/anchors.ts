import { auditHead, type Head } from '../../storage/audit/append.ts';
import { readMeta, replaceMeta } from '../../storage/tables/meta.ts';
import type { MaintenanceJob } from '../background/maintenance.ts';
import type { Messenger } from '../messenger-port.ts';
import { enqueueReport } from '../notify/announcement.ts';
import type { DecisionContext, Trail } from '../ports.ts';
import { nightly, type VerifiedTrail } from './trail.ts';

type AnchorContext = Pick<DecisionContext, 'database' | 'log' | 'now'> & { readonly trail: Trail };

const DAY = 'anchor-day';

/** `audit 1234 4f2a…`: the format that Signalbox reads back and `audit verify --anchor` accepts. */
export function anchorText({ seq, hash }: Head): string {
  return `audit ${seq} ${hash}`;
}

/** Writes the end of the trail to the log and to the checkpoint file, also without new events. */
export async function anchorHourly({ database, log, trail }: AnchorContext): Promise<void> {
  const end = await auditHead(database.db);
  log.info({ seq: end.seq, hash: end.hash }, anchorText(end));
  await trail.writeCheckpoint();
}

/** Posts the end of the trail into the audit channel, once per UTC day, by one replica. */
export async function anchorDaily(context: AnchorContext, channel: string | null): Promise<void> {
  if (!channel) return;
  const now = context.now();
  const day = now.toISOString().slice(0, 10);
  const before = await readMeta(context.database.db, DAY);
  if (before !== null && before >= day) return;
  await context.database.transaction(async (tx) => {
    if (!(await replaceMeta(tx, DAY, before, day))) return;
    const parts = [{ kind: 'text', text: anchorText(await auditHead(tx)) }] as const;
    const answer = { title: `Audit trail on ${day}`, parts };
    await enqueueReport(tx, { key: `audit:${day}`, channel, thread: null, answer }, now);
  });
}

export type LastAnchor =
  | { readonly ok: true; readonly head: Head | null }
  | { readonly ok: false; readonly why: string };

const LINE = /\baudit (\d{1,15}) ([0-9a-f]{64})\b/;

/** Returns the newest anchor in the audit channel, or why the channel could not be read. */
export async function lastAnchor(
  messenger: Pick<Messenger, 'findOwnMessage'>,
): Promise<LastAnchor> {
  const found = await messenger.findOwnMessage(LINE);
  if (!found.ok) return found;
  const [, seq, hash] = LINE.exec(found.text ?? '') ?? [];
  return { ok: true, head: seq && hash ? { seq: Number(seq), hash } : null };
}

const HOUR_MS = 3_600_000;
const CHECK_DAY_EVERY_MS = 600_000;

/** Writes the anchors, and verifies the whole trail every night. */
export function trailJobs(
  context: DecisionContext,
  trail: VerifiedTrail,
  channel: string | null,
): readonly MaintenanceJob[] {
  const daily = () => anchorDaily(context, channel);
  return [
    { name: 'anchor in log', work: () => anchorHourly(context), everyMs: HOUR_MS },
    { name: 'anchor in channel', work: daily, everyMs: CHECK_DAY_EVERY_MS },
    { name: 'verify trail', work: nightly(context.now, trail.verifyAll), everyMs: HOUR_MS },
  ];
}
