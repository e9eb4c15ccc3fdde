import { HOUR_MS } from '../../base/time.ts';
import {
  type Anchor,
  anchorLine,
  installationId,
  readAnchor,
  storeInstallationId,
} from '../../log/old/anchor.ts';
import { enqueueReport } from '../../log/old/announcement.ts';
import { auditHead } from '../../log/old/append.ts';
import type { Db } from '../../storage/old/database.ts';
import { readMeta, replaceMeta } from '../../storage/old/meta.ts';
import type { MaintenanceJob } from './maintenance.ts';
import type { Messenger, UnreadChannel } from './messenger-port.ts';
import type { DecisionContext, Trail } from './ports.ts';
import { nightly, type VerifiedTrail } from './trail.ts';

type AnchorContext = Pick<DecisionContext, 'database' | 'auditKey' | 'log' | 'now' | 'wake'> & {
  readonly trail: Trail;
};

const DAY = 'anchor-day';
const TITLE = 'Audit trail on ';

/** Writes the end of the trail to the log and to the checkpoint file, also without new events. */
export async function anchorHourly({
  database,
  auditKey,
  log,
  trail,
}: AnchorContext): Promise<void> {
  const end = await auditHead(database.db);
  const installation = await installationId(database.db);
  log.info({ seq: end.seq, hash: end.hash }, anchorLine({ ...end, installation }, auditKey));
  await trail.writeCheckpoint();
}

/** Posts the end of the trail into the audit channel, once per UTC day, by one replica. */
export async function anchorDaily(context: AnchorContext, channel: string | null): Promise<void> {
  if (!channel) return;
  const now = context.now();
  const day = now.toISOString().slice(0, 10);
  const before = await readMeta(context.database.db, DAY);
  if (before !== null && before >= day) return;
  const isStored = await context.database.transaction(async (tx) => {
    if (!(await replaceMeta(tx, DAY, before, day))) return false;
    const installation = await storeInstallationId(tx);
    const text = anchorLine({ ...(await auditHead(tx)), installation }, context.auditKey);
    const answer = { title: `${TITLE}${day}`, parts: [{ kind: 'text', text }] } as const;
    await enqueueReport(tx, { key: `audit:${day}`, channel, thread: null, answer }, now);
    return true;
  });
  if (isStored) context.wake();
}

/** The anchors in the audit channel, highest number first, or why they could not be read. */
export type PostedAnchors =
  | { readonly ok: true; readonly anchors: readonly Anchor[] }
  | UnreadChannel;

/** Whether this database posted an anchor before, so that its audit channel was checked. */
export async function hasPostedAnchors(db: Db): Promise<boolean> {
  return (await readMeta(db, DAY)) !== null;
}

// The whole message, so that a reason or name in another message can never be an anchor.
const MESSAGE = new RegExp(`^${TITLE}\\d{4}-\\d{2}-\\d{2}\\n(.+)$`);

/**
 * Returns the valid anchors in the audit channel, highest number first, or why the channel could not
 * be read.
 */
export async function postedAnchors(
  messenger: Pick<Messenger, 'findOwnMessages'>,
  auditKey: DecisionContext['auditKey'],
): Promise<PostedAnchors> {
  const found = await messenger.findOwnMessages(MESSAGE);
  if (!found.ok) return found;
  const anchors = found.texts.flatMap(
    (text) => readAnchor(MESSAGE.exec(text)?.[1] ?? '', auditKey) ?? [],
  );
  return { ok: true, anchors: anchors.toSorted((a, b) => b.seq - a.seq) };
}

const CHECK_DAY_EVERY_MS = 600_000;

/** Writes the anchors unless `mayAnchor` returns false, and verifies the whole trail every night. */
export function trailJobs(
  context: DecisionContext,
  trail: VerifiedTrail,
  { channel, mayAnchor }: { readonly channel: string | null; readonly mayAnchor: () => boolean },
): readonly MaintenanceJob[] {
  const daily = async () => {
    if (mayAnchor()) await anchorDaily(context, channel);
  };
  return [
    { name: 'anchor in log', work: () => anchorHourly(context), everyMs: HOUR_MS },
    { name: 'anchor in channel', work: daily, everyMs: CHECK_DAY_EVERY_MS },
    { name: 'verify trail', work: nightly(context.now, trail.verifyAll), everyMs: HOUR_MS },
  ];
}
