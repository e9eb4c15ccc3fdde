import { type Anchor, installationId } from '../../log/old/anchor.ts';
import { isReplacement } from '../../log/old/restore-mark.ts';
import type { Db } from '../../storage/old/database.ts';
import type { PostedAnchors } from './anchors.ts';

/** The anchors that this database could have written; an anchor without an installation counts. */
export async function ownAnchors(db: Db, anchors: readonly Anchor[]): Promise<readonly Anchor[]> {
  const own = await installationId(db);
  return anchors.filter(({ installation }) => installation === null || installation === own);
}

export const OTHER_INSTALLATION = {
  problem:
    'this channel has audit anchors of another Signalbox installation, which uses another ' +
    'database with the same app and the same SIGNALBOX_KEY',
  hint:
    'give this installation its own SIGNALBOX_KEY or its own audit channel. If this database ' +
    'replaces a lost one, run signalbox audit restored first',
};

/**
 * Whether the audit channel belongs to another installation: it has anchors of another database, and
 * none that names this one. An established installation ignores the anchors of a later one. To be
 * called after the channel was read, because another replica may write the first event meanwhile.
 * Source: docs/operating.md#one-installation-per-audit-channel.
 */
export async function isOtherInstallations(db: Db, posted: PostedAnchors): Promise<boolean> {
  if (!posted.ok) return false;
  const own = await installationId(db);
  const named = posted.anchors.filter(({ installation }) => installation !== null);
  if (named.length === 0 || named.some(({ installation }) => installation === own)) return false;
  return !(await isReplacement(db));
}
